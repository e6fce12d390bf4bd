package eval

import (
	"strings"
	"testing"
)

func TestCountForm(t *testing.T) {
	text := "Lead:\n\n| a | b |\n| --- | :-: |\n| `x \\| y` | 1 |\n| z | 2 |\n\n1. one\n   - two\n\n   ```sh\n   - no | item\n   ```\n2. three\n\n---\n"
	for _, test := range []struct {
		name, text string
		want       form
	}{
		{"all kinds", text, form{tables: 1, rows: 2, items: 3, blocks: 1}},
		{"a mark in the delimiter row", strings.Replace(text, "| :-: |", "| :-: [1] |", 1), form{items: 3, blocks: 1}},
		{"an open fence", "~~~\nopen", form{}},
		{"items in a quote", "> - quoted\n> - items", form{items: 2}},
	} {
		if got := countForm(test.text); got != test.want {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		}
	}
}

func TestDanglingMarks(t *testing.T) {
	numbered := map[string]string{"1": "p#"}
	if got := danglingMarks("a [1], b [2, 3], `c[9]` [4](u) [^5] [^6]\n\n[^6]: x", numbered); got != 3 {
		t.Errorf("%d marks lead nowhere, want 2, 3 and ^5", got)
	}
	if got := danglingMarks("a [Source 2] 【3】 (Source 4) [[p.md#a]] <sup>1</sup>\n\n```\n[Source 9]\n```\n", nil); got != 5 {
		t.Errorf("%d marks in foreign styles, want 5", got)
	}
}

func TestScoreReplies(t *testing.T) {
	unit := func(text string, kind UnitKind, label string) ReplyUnit {
		return ReplyUnit{Text: text, Kind: kind, Label: label, Cited: "own", Hardness: "number"}
	}
	replies := []Reply{{
		ID: "r", Lang: "en", Text: "- one [[p#]]\n- two [[p#]]\n\nThree [[p#]]. Three [[p#]].", Sources: []string{"p#"},
		Units: []ReplyUnit{
			unit("one", UnitItem, "right"), unit("two", UnitItem, "wrong"), unit("Three.", UnitSentence, "right"), unit("Three.", UnitSentence, "wrong"),
		},
	}}
	if got := replies[0].plain(); got != "- one\n- two\n\nThree. Three." {
		t.Errorf("without marks: %q", got)
	}
	if got, numbers := replies[0].Numbered(); got != "- one [1]\n- two [1]\n\nThree [1]. Three [1]." || numbers["1"] != "p#" {
		t.Errorf("numbered: %q, %v", got, numbers)
	}
	scores := ScoreReplies(replies, []ReplyOutcome{{ID: "r", Text: "- one [1]\n\nThree [1]. Three [1] (unclear).", Sources: map[string]string{"1": "p#"}, Units: []UnitOutcome{
		{"one", UnitKept}, {"two", UnitRemoved}, {"Three.", UnitMarked}, {"Three.", UnitKept},
	}}})
	if got := scores.Summary(); got != "right units kept unmarked 0.500 of 2, wrong units shown as checked 0.500 of 2" {
		t.Error(got)
	}
	if scores.removed != (form{items: 1}) || scores.lost != (form{}) || scores.dangling != 0 {
		t.Errorf("removed %+v, lost %+v, %d marks lead nowhere", scores.removed, scores.lost, scores.dangling)
	}
	scores = ScoreReplies(replies, []ReplyOutcome{{ID: "r", Text: "one two"}})
	if scores.guessed != 4 || scores.lost != (form{items: 2}) || scores.all.wrong[UnitKept] != 1 {
		t.Errorf("without verdicts: %d guessed, lost %+v, %d wrong ones kept", scores.guessed, scores.lost, scores.all.wrong[UnitKept])
	}
	if scores = ScoreReplies(replies, nil); !strings.HasPrefix(scores.Table(), "no outcome for 1 replies: r\n") {
		t.Errorf("without an outcome:\n%s", scores.Table())
	}
}
