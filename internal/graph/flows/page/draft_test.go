package page_test

import (
	"context"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/graph/flows/page"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/retrieve"
	"github.com/cairn-bot/cairn/internal/pages"
)

// TestDraft has a page outlined from what the documents say near a question.
func TestDraft(t *testing.T) {
	k := newTalk(t)
	var err error
	k.flow, err = page.New(page.Options{Library: k.library, Search: func(_ context.Context, query retrieve.Query) (retrieve.Result, error) {
		if query.Text != "How do I renew the certificate?" {
			t.Errorf("it looked for %q", query.Text)
		}
		return retrieve.Result{Evidence: []retrieve.Evidence{{
			Document: knowledge.Document{ID: "docs:tls.md", Title: "TLS", Path: "tls.md"},
			Passage:  knowledge.Passage{Text: "Certificates last a year."},
		}}}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	k.want(k.ask("draft How do I renew the certificate?"), flows.Answered, "**How do I renew the certificate** is a page now", "Certificates last a year", "outline")
	k.want(k.ask("draft how do I renew the certificate"), flows.Answered, "version 1") // it is there
	k.want(k.ask("draft"), flows.Abstained, "What is the page to answer?")
	listed, err := k.library.List(t.Context(), pages.Place{Channel: k.room.Channel, Audience: k.room.Audience})
	if err != nil || len(listed) != 1 {
		t.Fatalf("%v, %+v", err, listed)
	}
	k.want(k.ask("show"), flows.Answered, "Name who knows more")

	if got := page.ReadCommand("draft a shorter introduction"); got.Verb != page.Free {
		t.Errorf("a wish in free words is read as %q", got.Verb)
	}
	bare := newTalk(t)
	k.want(bare.ask("draft what is it?"), flows.Abstained, "no documents here")
	if !strings.Contains(bare.ask("help").Text, "page: draft") {
		t.Error("help does not tell of drafts")
	}
}
