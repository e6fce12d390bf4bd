package words_test

import (
	"slices"
	"testing"

	"github.com/cairn-bot/cairn/internal/graph/flows/answer/words"
)

func TestWriteOut(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"forgot teh admin pw.", "forgot the administrator password."},
		{"stop it w/o removing it", "stop it without removing it"},
		{"what's a PR?", "what is a pull request?"},
		{"set `env` to prod", "set `env` to production"},
		{`it says "no pw" on login`, `it says "no pw" on login`},
		{"", ""},
	} {
		if got := words.WriteOut(test.text); got != test.want {
			t.Errorf("WriteOut(%q) = %q, want %q", test.text, got, test.want)
		}
	}
}

func TestIntent(t *testing.T) {
	for text, want := range map[string]string{
		"what is a lease?":                             "definition",
		"BRD ??":                                       "definition",
		"how do I rotate the key":                      "how-to",
		"sync fails with exit code 1":                  "troubleshooting",
		"redis vs postgres for the queue":              "comparison",
		"what types of runs are there":                 "list",
		"variables i can use in a build":               "list",
		"the port or the socket, which one is quicker": "comparison",
		"give me an overview of the queue":             "summary",
		"port of the web page":                         "lookup",
		"was ist eigentlich ein chart?":                "definition",
		"c'est quoi un library chart ?":                "definition",
		"q es un hook":                                 "definition",
		"hookとは":                                       "definition",
		"chart仓库是什么":                                   "definition",
		"was ist zu tun, wenn der server nicht mehr startet und niemand da ist?": "lookup",
		"what is the difference between a run and a flow":                        "comparison",
	} {
		if got := words.Intent(text); got != want {
			t.Errorf("Intent(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestLeansOn(t *testing.T) {
	for _, test := range []struct {
		text, referent string
		leans          bool
	}{
		{"and will it remove old files?", "it", true},
		{"what about staging?", "", true},
		{"and on staging?", "", true},
		{"is it possible to run two workers?", "", false},
		{"is there a limit?", "", false},
		{"is the old flag still there in version 3", "", false},
		{"restart the cluster that the billing service runs on", "", false},
		{"how do I rotate the key", "", false},
		{"can I make it ignore this?", "it", true},
	} {
		referent, leans := words.LeansOn(test.text)
		if referent != test.referent || leans != test.leans {
			t.Errorf("LeansOn(%q) = %q, %v, want %q, %v", test.text, referent, leans, test.referent, test.leans)
		}
	}
}

func TestParts(t *testing.T) {
	for _, test := range []struct {
		text string
		want []string
	}{
		{"how do I rotate the key", nil},
		{"whats the difference between redis and postgres?", []string{"redis", "postgres"}},
		{"redis vs postgres?", []string{"redis", "postgres"}},
		{"what is the default timeout and how do I raise it", []string{"what is the default timeout", "and how do I raise it"}},
		{"it hangs. which setting is it?", []string{"it hangs", "which setting is it"}},
	} {
		if got := words.Parts(test.text); !slices.Equal(got, test.want) {
			t.Errorf("Parts(%q) = %q, want %q", test.text, got, test.want)
		}
	}
}

func TestRelated(t *testing.T) {
	if !slices.Contains(words.Related("delet"), "prune") {
		t.Error("delete and prune are not related")
	}
	if words.Related("cairn") != nil {
		t.Error("a name has synonyms")
	}
}

func TestExplainsPronoun(t *testing.T) {
	for text, want := range map[string]bool{
		"what is a hook and how does it work":     true,
		"how does it work":                        false,
		"is it possible to run two workers?":      false,
		"where do leases go when they run out":    true,
		"what is a hook and how do I write one?":  false,
		"how do I see hooks without running them": true,
	} {
		if got := words.ExplainsPronoun(text); got != want {
			t.Errorf("ExplainsPronoun(%q) = %v", text, got)
		}
	}
}

func TestMeansProduct(t *testing.T) {
	for text, want := range map[string]bool{
		"does it need redis?":              true,
		"can people ask it":                true,
		"how do I install it with helm":    true,
		"how do I delete it":               false,
		"can I make it ignore this?":       false,
		"how do they talk to the database": false,
	} {
		if got := words.MeansProduct(text); got != want {
			t.Errorf("MeansProduct(%q) = %v", text, got)
		}
	}
}

func TestStates(t *testing.T) {
	for text, want := range map[string]bool{
		"the staging cluster":         true,
		"i want to keep the volumes":  true,
		"how do I keep the volumes":   false,
		"the volumes?":                false,
		"can I keep the volumes":      false,
		"the one that works, I think": true,
	} {
		if got := words.States(text); got != want {
			t.Errorf("States(%q) = %v", text, got)
		}
	}
}

func TestLive(t *testing.T) {
	for text, want := range map[string]bool{
		"which version do we have in production":            true,
		"qué versión del chart tenemos en producción":       true,
		"how do I run migrations on a production database?": false,
		"we have an error in production, how do I restart":  false,
	} {
		if got := words.Live(text); got != want {
			t.Errorf("Live(%q) = %v", text, got)
		}
	}
}

func TestPhrasals(t *testing.T) {
	for _, test := range []struct{ text, verb, meaning string }{
		{"how do I turn on the lights", "turn", "enabl"},
		{"turn that old thing off", "turn", "disabl"},
		{"turn left at the lights on the hill", "turn", ""},
		{"keep the files around", "keep", "retain"},
		{"which files do we keep", "keep", ""},
	} {
		meaning := words.Phrasals(test.text)[test.verb].Meaning
		if slices.Contains(meaning, test.meaning) != (test.meaning != "") || test.meaning == "" && len(meaning) > 0 {
			t.Errorf("%q: %s means %q, want %q", test.text, test.verb, meaning, test.meaning)
		}
	}
	if particle := words.Phrasals("keep the files around")["keep"].Particle; particle != "around" {
		t.Errorf("the particle of keep is %q", particle)
	}
}

func TestDescribesReferent(t *testing.T) {
	for text, want := range map[string]bool{
		"how to turn on that shell/terminal thing": true,
		"what is this three way merge thing":       true,
		"turn that thing off":                      false,
		"what does that setting do":                false,
		"restart that service":                     false,
	} {
		if got := words.DescribesReferent(text); got != want {
			t.Errorf("DescribesReferent(%q) = %t", text, got)
		}
	}
}

func TestIsIdentifier(t *testing.T) {
	for text, want := range map[string]bool{
		"url_for": true, "`--dry-run`?": true, "app.config": true, "render()": true, "timeout": false, "what is url_for": false, "e-mail": false,
	} {
		if got := words.IsIdentifier(text); got != want {
			t.Errorf("IsIdentifier(%q) = %v", text, got)
		}
	}
}

func TestIsKeyword(t *testing.T) {
	for text, want := range map[string]bool{
		"precondition": true, "docker secrets": true, "": false, "docker?": false, "how to install": false, "is it free": false, "run it with docker compose": false,
	} {
		if got := words.IsKeyword(text); got != want {
			t.Errorf("IsKeyword(%q) = %v", text, got)
		}
	}
}

func TestAsksWhether(t *testing.T) {
	for text, want := range map[string]bool{
		"can I restart the signer?": true, "hi, is the signer deprecated": true, "can you restart it from the page?": true,
		"how do I restart the signer?": false, "could you tell me about restarts?": false, "hey, can you please explain restarts": false,
	} {
		if got := words.AsksWhether(text); got != want {
			t.Errorf("%q asks for yes or no: %v, want %v", text, got, want)
		}
	}
}
