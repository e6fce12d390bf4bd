package answer_test

import (
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
)

func TestAnAnswerSaysWhichLanguageItQuotes(t *testing.T) {
	f := open(t)
	document := knowledge.Document{
		ID: "docs:gehalt.md", Source: "docs", Kind: knowledge.KindDocumentation, Path: "gehalt.md",
		Title: "Gehaltsabrechnungen", Hash: "gehalt", State: knowledge.StateLive, Language: "de",
	}
	passage := knowledge.Passage{
		ID: knowledge.MakePassageID(document.ID, 0), Document: document.ID, Headings: []string{document.Title}, Hash: "gehalt",
		Text: "Die Gehaltsabrechnung steht am letzten Arbeitstag des Monats in Workday unter Payslips.",
	}
	if err := f.index.Write(t.Context(), index.Batch{Put: []index.Entry{{Document: document, Passages: []knowledge.Passage{passage}}}}); err != nil {
		t.Fatal(err)
	}
	for question, note := range map[string]string{
		"Où sont les Payslips dans Workday ?":     "La page citée est en allemand.",
		"Wo stehen denn die Gehaltsabrechnungen?": "",
	} {
		got := f.ask(t, flows.Request{Text: question})
		if got.Kind != flows.Answered || !strings.Contains(got.Text, "letzten Arbeitstag") {
			t.Errorf("%q: %s: %s", question, got.Kind, got.Text)
		}
		if note == "" && strings.Contains(got.Note, "Deutsch") || !strings.Contains(got.Note, note) {
			t.Errorf("%q: note %q, want %q", question, got.Note, note)
		}
	}
}

// TestQuestionsInOtherLanguagesFindEnglishPages: the handbook is in English alone.
func TestQuestionsInOtherLanguagesFindEnglishPages(t *testing.T) {
	f := open(t)
	for question, holds := range map[string]string{
		"Wie kann ich das Passwort des VPN zurücksetzen?": "self-service portal",
		"VPNのパスワードをリセットするには?":                             "self-service portal",
	} {
		got := f.ask(t, flows.Request{Text: question})
		if got.Kind != flows.Answered || !strings.Contains(got.Text, holds) {
			t.Errorf("%q: %s: %s, notes %q", question, got.Kind, got.Text, got.Trace.Notes)
		}
	}
}
