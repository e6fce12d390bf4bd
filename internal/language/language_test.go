package language

import (
	"slices"
	"strings"
	"testing"
)

func TestDetectMessages(t *testing.T) {
	for _, test := range []struct {
		text string
		want Tag
	}{
		{"How do I reset my VPN password?", English},
		{"what is the default timeout", English},
		{"where can i find the on-call schedule", English},
		{"Wie setze ich mein VPN-Passwort zurück?", German},
		{"was macht der rollback befehl", German},
		{"Urlaubsanträge genehmigen", German},
		{"danke dir!", German},
		{"Comment réinitialiser mon mot de passe ?", French},
		{"c'est quoi un runbook", French},
		{"où trouver le planning d'astreinte", French},
		{"merci beaucoup", French},
		{"¿Cómo restablezco la contraseña?", Spanish},
		{"que significa esta configuracion del servidor", Spanish},
		{"hola, buenos días", Spanish},
		{"Como faço para redefinir a minha senha?", Portuguese},
		{"onde estão os relatórios da equipe", Portuguese},
		{"obrigado pela ajuda", Portuguese},
		{"Come posso reimpostare la mia password?", Italian},
		{"dove trovo gli orari degli uffici", Italian},
		{"grazie mille", Italian},
		{"Hoe stel ik mijn wachtwoord opnieuw in?", Dutch},
		{"waar vind ik de roosters van het team", Dutch},
		{"dank je wel", Dutch},
		{"パスワードをリセットするには?", Japanese},
		{"VPNの設定方法", Japanese},
		{"怎么重置 VPN 密码?", Chinese},
		{"请假流程", Chinese},
		{"kubectl pods", Unknown},
		{"cache dir on macos", English},
		{"man page of mit scheme", English},
		{"", Unknown},
		{"🚀 42", Unknown},
		{"zażółć gęślą jaźń", Unknown},
		{"Привет", Unknown},
	} {
		if got := Detect(test.text); got != test.want {
			t.Errorf("Detect(%q) = %q, want %q: %v", test.text, got, test.want, scoreWords(strings.ToLower(test.text)))
		}
	}
}

func TestDetectLeavesOutCode(t *testing.T) {
	text := "Der Befehl lautet:\n```\nthe quick brown fox is not for you and this is the end of it\n```\n`what is this and that`\n"
	if got := Detect(text); got != German {
		t.Errorf("got %q, want German", got)
	}
}

func TestParse(t *testing.T) {
	for tag, want := range map[string]Tag{
		"de": German, "pt-BR": Portuguese, " ZH_cn ": Chinese, //nolint:gocritic // white space is what is tested
		"sv": Unknown, "": Unknown,
	} {
		if got := Parse(tag); got != want {
			t.Errorf("Parse(%q) = %q, want %q", tag, got, want)
		}
	}
	if Unknown.Or(Dutch) != Dutch || French.Or(Dutch) != French {
		t.Error("Or")
	}
}

func TestTablesAreWhole(t *testing.T) {
	for _, tag := range All() {
		function, question := Words(tag)
		if len(function) < 30 {
			t.Errorf("%s has %d words", tag, len(function))
		}
		for _, word := range slices.Concat(function, question) {
			if word != strings.ToLower(word) {
				t.Errorf("%s: %q is not in lower case", tag, word)
			}
		}
	}
}

func FuzzDetect(f *testing.F) {
	f.Add("¿Qué es esto?")
	f.Add("```\n\xff`字")
	f.Add(strings.Repeat("ä", 10<<10))
	f.Fuzz(func(t *testing.T, text string) {
		if got := Detect(text); got != Unknown && Parse(string(got)) != got {
			t.Fatalf("Detect gives %q", got)
		}
	})
}
