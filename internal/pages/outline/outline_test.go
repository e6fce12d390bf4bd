package outline_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/retrieve"
	"github.com/cairn-bot/cairn/internal/pages/outline"
	"github.com/cairn-bot/cairn/internal/pages/tree"
)

func TestDraft(t *testing.T) {
	operations := knowledge.Document{ID: "docs:ops.md", Title: "Operations", Path: "ops.md", URL: "https://docs.example.com/ops"}
	unsafe := knowledge.Document{ID: "docs:x.md", Path: "x.md", URL: "javascript:alert(1)"}
	evidence := []retrieve.Evidence{
		{Document: operations, Passage: knowledge.Passage{Headings: []string{"TLS", "Certificates"}, Anchor: "certificates", Text: "```\ncertbot renew\n```\nCertificates are made by hand. They last a year. Nobody renews them."}},
		{Document: unsafe, Passage: knowledge.Passage{Text: "Another page."}},
		{Document: operations, Passage: knowledge.Passage{Text: "The gateway ends TLS."}},
	}
	var asked retrieve.Query
	search := func(_ context.Context, query retrieve.Query) (retrieve.Result, error) {
		asked = query
		return retrieve.Result{Evidence: evidence}, nil
	}
	root, err := outline.Draft(t.Context(), search, "how do I renew\nthe certificate?")
	if err != nil {
		t.Fatal(err)
	}
	if asked.Text != "how do I renew\nthe certificate?" {
		t.Errorf("it looked for %q", asked.Text)
	}
	written := tree.Markdown(root)
	for _, want := range []string{
		"> how do I renew the certificate?", "## Answer", "- [ ] Add the steps or an example", "### Operations",
		"- Certificates are made by hand. They last a year. ([Certificates](https://docs.example.com/ops#certificates))",
		"- The gateway ends TLS. ([ops.md](https://docs.example.com/ops))", "### x.md", "- Another page. (x.md)",
	} {
		if !strings.Contains(written, want) {
			t.Errorf("%q is not in\n%s", want, written)
		}
	}
	if strings.Index(written, "ends TLS") > strings.Index(written, "### x.md") {
		t.Errorf("passages of a document are apart:\n%s", written)
	}

	evidence = nil
	if root, err = outline.Draft(t.Context(), search, "what?"); err != nil || !strings.Contains(root.PlainText(), "No document says anything near") {
		t.Errorf("%v, %q", err, root.PlainText())
	}
	failing := func(context.Context, retrieve.Query) (retrieve.Result, error) {
		return retrieve.Result{}, errors.New("down")
	}
	if _, err = outline.Draft(t.Context(), failing, "what?"); err == nil {
		t.Error("a search that fails gave an outline")
	}
	if title := outline.MakeTitle("how do I\nrenew it?? "); title != "how do I renew it" {
		t.Errorf("the title is %q", title)
	}
}
