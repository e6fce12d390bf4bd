package webhook_test

import (
	"reflect"
	"testing"

	"github.com/cairn-bot/cairn/internal/chat/webhook"
)

type message struct {
	Text   string `json:"text"`
	Edited struct {
		At string `json:"at"`
	} `json:"edited"`
	Files []struct {
		Name string `json:"name"`
		Size int64  `json:"size"`
	} `json:"files"`
	Replied *message `json:"replied"`
	Last    string   `json:"last"`
}

func TestDecodeReadsAllBesideWhatIsOdd(t *testing.T) {
	var got message
	err := webhook.Decode([]byte(`{
		"text": "hello", "edited": true, "files": [{"name": "a.md", "size": "12"}, 7, {"name": "b.md", "size": 1.5}],
		"replied": {"text": 3, "last": "inner"}, "last": "there"}`), &got)
	if err != nil {
		t.Fatal(err)
	}
	if got.Text != "hello" || got.Last != "there" || len(got.Files) != 3 || got.Files[0].Name != "a.md" || got.Files[2].Name != "b.md" || got.Replied.Last != "inner" {
		t.Errorf("%+v", got)
	}
}

func TestDecodeKeepsTheRestOfAList(t *testing.T) {
	var got []message
	if err := webhook.Decode([]byte(`[{"text":"one"}, "two", {"text":"three"}]`), &got); err != nil {
		t.Fatal(err)
	}
	if want := []message{{Text: "one"}, {}, {Text: "three"}}; !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestDecodeRefusesWhatIsSomethingElse(t *testing.T) {
	for _, raw := range []string{``, `{`, `[]`, `"text"`, `7`, `{"text": "cut`, `{"text": }`} {
		var got message
		if err := webhook.Decode([]byte(raw), &got); err == nil {
			t.Errorf("%s is read as %+v", raw, got)
		}
	}
	var list []message
	if err := webhook.Decode([]byte(`{}`), &list); err == nil {
		t.Error("an object is read as a list")
	}
}
