package words_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/graph/flows/answer/words"
)

// TestPastedTextPointsAtNothing checks that what a program wrote is not taken for what people said.
func TestPastedTextPointsAtNothing(t *testing.T) {
	for _, text := range []string{
		"2024-01-02 10:11:12 INFO: no marker (this indicates loss of data)",
		"```\nremove this file first\n```\nhow do I mend the marker",
	} {
		if referent, ok := words.LeansOn(text); ok || referent != "" {
			t.Errorf("%q leans on %q", text, referent)
		}
		if slices.ContainsFunc(words.Mentions(text), func(m words.Mention) bool { return m.Points }) {
			t.Errorf("%q points at something: %+v", text, words.Mentions(text))
		}
	}
	if got := words.TrimLogHeads("[2024-01-02T10:11:12.123Z] ERROR: no marker\n10:11:13 WARN no lock"); got != "no marker\nno lock" {
		t.Errorf("the messages of the log are %q", got)
	}
}

// TestThatBeforeVerb checks that "that" with a verb behind it is no mention of a thing.
func TestThatBeforeVerb(t *testing.T) {
	for text, want := range map[string]string{
		"does that free the space right away?": "",
		"does that backup job free the space":  "that backup job",
	} {
		var found []string
		for _, m := range words.Mentions(text) {
			if m.Points {
				found = append(found, m.Text)
			}
		}
		if got := strings.Join(found, ", "); got != want {
			t.Errorf("%q mentions %q, want %q", text, got, want)
		}
	}
	if referent, ok := words.LeansOn("how do I verify that my backups are whole"); ok {
		t.Errorf("a clause is taken for the referent %q", referent)
	}
	if !words.MeansProduct("do I need python for this?") || words.MeansProduct("is this safe") {
		t.Error("“this” at the end may mean the product, and at the beginning does not")
	}
}

func TestAsksWho(t *testing.T) {
	for text, want := range map[string]bool{"whos the owner of the bucket": true, "who maintains our docs": true, "whose turn is it": false, "what is it": false} {
		if got := words.AsksWho(text); got != want {
			t.Errorf("%q asks for a person: %v", text, got)
		}
	}
}

func TestActsOnProduct(t *testing.T) {
	for text, want := range map[string]bool{
		"how do i install it": true, "how can I set it up": false, "how do I upgrade it on Debian?": true,
		"how do i remove it": false, "how do I install the agent": false,
	} {
		if got := words.ActsOnProduct(text); got != want {
			t.Errorf("%q acts on the product: %v", text, got)
		}
	}
}

func TestAsksFunctionBehindSubject(t *testing.T) {
	if !words.AsksFunction("poetry.lock what is it for") || words.AsksFunction("how do I do what the page says") {
		t.Error("a question what something is for may begin with the thing")
	}
}
