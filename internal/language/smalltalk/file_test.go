package smalltalk

import "testing"

func TestPointingAtAFile(t *testing.T) {
	for _, text := range []string{
		"what is wrong in this screenshot?", "can you summarize the attached file", "was steht in dieser Datei?", "schau in den Anhang",
		"que dit ce fichier ?", "voir la pièce jointe", "¿qué dice este archivo?", "mira el adjunto", "o que diz este ficheiro?", "veja o anexo",
		"che cosa dice questo file?", "vedi l'allegato", "wat staat er in dit bestand?", "zie de bijlage", "このファイルの要約をお願いします", "这个文件说了什么？",
	} {
		if !PointsAtFile(text) {
			t.Errorf("%q points at no file", text)
		}
	}
	for _, text := range []string{"how do I upload files?", "where are logs kept?", "wie lege ich Dateien an?", "how many days of leave do I get?", "文件在哪里保存？"} {
		if PointsAtFile(text) {
			t.Errorf("%q points at a file", text)
		}
	}
}
