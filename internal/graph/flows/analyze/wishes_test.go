package analyze_test

import (
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/graph/flows/analyze"
)

func TestWishes(t *testing.T) {
	const all = "outline, risks, decisions, open questions, contradictions, dates, people, numbers, terms"
	const last = "risks, decisions, open questions, contradictions, dates, people, numbers, terms, outline"
	for _, test := range []struct {
		query      string
		feedback   []string
		kinds      string
		words      string
		understood bool
	}{
		{"", nil, all, "", false},
		{"what are the risks?", nil, "risks, decisions, open questions, contradictions, dates, people, numbers, terms, outline", "", false},
		{"who owns the deadlines for refunds", nil, "dates, people, risks, decisions, open questions, contradictions, numbers, terms, outline", "refunds", false},
		{"", []string{"only the risks and dates"}, "risks, dates", "", true},
		{"", []string{"only the risks", "add people"}, "people, risks", "", true},
		{"", []string{"drop the outline, the numbers and terms"}, "risks, decisions, open questions, contradictions, dates, people", "", true},
		{"", []string{"no dates. More on chargebacks please"}, "outline, risks, decisions, open questions, contradictions, people, numbers, terms", "chargebacks", true},
		{"refunds", []string{"focus on chargebacks"}, last, "chargebacks | refunds", true},
		{"refunds", []string{"without refunds"}, last, "", false},
		{"", []string{"only refunds, and the deadlines"}, "dates", "refunds", true},
		{"", []string{"drop outline, risks, decisions, open questions, contradictions, dates, people, numbers, terms"}, all, "", true},
		{"", []string{"make it better, please"}, all, "", false},
		{"", []string{"just"}, all, "", false},
	} {
		kinds, words, understood := analyze.Layout(test.query, test.feedback...)
		var named []string
		for _, kind := range kinds {
			named = append(named, string(kind))
		}
		if got := strings.Join(named, ", "); got != test.kinds || strings.Join(words, " | ") != test.words || understood != test.understood {
			t.Errorf("%q, %q: %s; %q; %v", test.query, test.feedback, got, words, understood)
		}
	}
}

// TestTheSubjectIsKept narrows an analysis step by step.
func TestTheSubjectIsKept(t *testing.T) {
	for _, test := range []struct {
		said  []string
		wants []string
		no    []string
	}{
		{[]string{"./payments on refunds", "only the contradictions"}, []string{"**Contradictions on “refunds”**", "refund within 14 days", "Against the draft before: new: Contradictions on “refunds”; left out: "}, []string{"**Risks", "**On “refunds”**"}},
		{[]string{"./payments", "on the ledger", "only the risks"}, []string{"**Risks on “ledger”**", "the ledger has no fallback"}, []string{"**People"}},
		{[]string{"./payments", "only the risks", "make it shorter"}, []string{"Draft 3", "nothing changed"}, nil},
		{[]string{"./payments", "only about zeppelins"}, []string{"No document mentions “zeppelins”"}, []string{"It has: ."}},
		{[]string{"./payments", "drop the outline"}, []string{"left out: Outline"}, []string{"**Outline**"}},
	} {
		k := newTalk(t, nil)
		outcome := k.ask(test.said[0])
		for _, reply := range test.said[1:] {
			outcome = k.reply(reply)
		}
		for _, want := range test.wants {
			if !strings.Contains(outcome.Text, want) {
				t.Errorf("%q: no %q in\n%s", test.said, want, outcome.Text)
			}
		}
		for _, bad := range test.no {
			if strings.Contains(outcome.Text, bad) {
				t.Errorf("%q: %q in\n%s", test.said, bad, outcome.Text)
			}
		}
	}
}

// FuzzWishes checks that whatever is said an analysis has something in it, and no kind
// twice.
func FuzzWishes(f *testing.F) {
	for _, seed := range []string{"only risks", "drop everything", "no no no dates, people", "only. only. only", "without\x00only", "\xff only dates but refunds"} {
		f.Add("risks?", seed)
	}
	f.Fuzz(func(t *testing.T, query, feedback string) {
		kinds, words, _ := analyze.Layout(query, feedback, feedback)
		if len(kinds)+len(words) == 0 {
			t.Errorf("%q, %q leave nothing", query, feedback)
		}
		seen := make(map[string]bool)
		for _, kind := range kinds {
			if seen[string(kind)] {
				t.Errorf("%q, %q: %s twice", query, feedback, kind)
			}
			seen[string(kind)] = true
		}
	})
}
