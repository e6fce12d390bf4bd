package evidence_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cairn-bot/cairn/internal/document/evidence"
)

func TestLine(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{" a\n  b\tc ", "a b c"},
		{"", ""},
		{strings.Repeat("ü", 401), strings.Repeat("ü", 400) + "…"},
	} {
		if got := evidence.Line(test.text); got != test.want || utf8.RuneCountInString(got) > evidence.MaxStatement+1 {
			t.Errorf("Line(%.20q) = %.40q", test.text, got)
		}
	}
}

func TestDistinctJoinsPlaces(t *testing.T) {
	at := func(document int) []evidence.Place { return []evidence.Place{{Document: document}} }
	statements := []evidence.Statement{
		{Text: "One.", Places: at(0)}, {Text: "Two.", Places: at(0)}, {Text: "one.", Places: at(1)},
		{Text: "One.", Places: at(1)}, {Text: "One.", Places: at(2)}, {Text: "One.", Places: at(3)},
	}
	got := evidence.Distinct(statements, 3)
	if len(got) != 2 || got[0].Text != "One." || len(got[0].Places) != 3 || got[0].Places[2] != (evidence.Place{Document: 2}) || len(statements[0].Places) != 1 {
		t.Errorf("%+v", got)
	}
}
