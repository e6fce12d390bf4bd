package smalltalk

import "regexp"

// files is how people speak, in each language, of a file that they have sent: "this file",
// "the attachment", "im Screenshot".
var files = regexp.MustCompile(`(?i)(?:^|[^\p{L}\p{N}_])(?:` +
	`(?:this|that|the|attached|these|my) (?:\w+ )?(?:files?|pdf|documents?|screenshots?|images?|pictures?|photos?|logs?|spreadsheet|text|page)|attach(?:ed|ments?)|` +
	`(?:diese[rsnm]?|der|die|das|dem|im|angehängte[nr]?) (?:datei(?:en)?|pdf|dokument|screenshot|bildschirmfoto|bild|foto|log|anhang|text)|anhang|angehängt\w*|` +
	`(?:ce|cette|le|la|ces) (?:fichiers?|pdf|document|capture|image|photo|texte)|pièces? jointes?|ci-joint\w*|` +
	`(?:est[ea]|el|la|est[oa]s) (?:archivos?|fichero|pdf|documento|captura|imagen|foto|texto)|adjunt\w+|` +
	`(?:est[ea]|[oa]|est[ea]s) (?:arquivos?|ficheiros?|pdf|documento|captura|imagem|foto|texto)|(?:em )?anexo|anexad\w+|` +
	`(?:quest[oa]|il|la|lo) (?:file|pdf|documento|schermata|screenshot|immagine|foto|testo)|allegat\w+|` +
	`(?:dit|deze|dat|het|de) (?:bestand(?:en)?|pdf|document|schermafbeelding|screenshot|afbeelding|foto|tekst)|bijlagen?|bijgevoegd\w*` +
	`)(?:$|[^\p{L}\p{N}_])|この(?:ファイル|文書|画像|写真|ログ|スクショ|スクリーンショット)|添付|(?:这个?|此|该)(?:文件|文档|截图|图片|照片|日志)|附件`)

// PointsAtFile tells whether a message speaks of a file that was sent: "what is wrong in this
// screenshot?".
func PointsAtFile(text string) bool { return files.MatchString(text) }
