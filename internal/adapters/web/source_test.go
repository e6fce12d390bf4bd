package web

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/web/uploads"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/chattest"
	"github.com/cairn-bot/cairn/internal/sqlite/sqlitetest"
)

const (
	shownDocument  = "handbook:guides/deploy.md"
	closedDocument = "handbook:legal/contract.md"
)

// documentText is what the bot of the tests has of one document.
func documentText() chat.SourceText {
	return chat.SourceText{
		Source: chat.Source{
			Title: "Deploying the API", Path: "guides/deploy.md", Owner: "Platform team", Document: shownDocument, State: "old",
			Modified: chattest.Now.AddDate(-2, 0, 0),
		},
		Collection: "handbook", Language: "en", Indexed: chattest.Now.Add(-time.Hour), Audience: "group:platform, user:ada@example.com", AllowedBy: "group:platform",
		Earlier: "0-", Later: "40-",
		Passages: []chat.PassageText{
			{Passage: "2-aa", Headings: []string{"Deploying the API", "Before you begin"}, Text: "Ask in **#releases** whether somebody else deploys, and see that [the build](https://ci.example.org/api) is green.\n\n- No migration runs.\n- You are on call.", URL: "https://docs.example.org/deploy#before"},
			{Passage: "3-bb", Headings: []string{"Deploying the API", "Rolling back"}, Text: "A release is rolled back with one command:\n\n```sh\ncairnctl rollback api --to previous --wait --and-a-flag-that-is-long-enough-to-scroll\n```\n\n| Environment | Limit |\n|--|--:|\n| staging | 10 min |\n| production | 30 min |\n", URL: "https://docs.example.org/deploy#rolling-back", Marked: true},
			{Passage: "4-cc", Headings: []string{"Deploying the API", "Rolling back"}, Text: "It waits until every pod is ready. <script>alert(1)</script> stays text, as does [1].", URL: "https://docs.example.org/deploy#rolling-back"},
			{Passage: "5-dd", Headings: []string{"Deploying the API", "Time limits"}, Text: "After that the deployment counts as failed.", URL: "javascript:alert(1)"},
		},
	}
}

// shelf is a bot that shows documents.
type shelf struct {
	office
	by []chat.Reader
}

func (s *shelf) ReadSource(_ context.Context, ref chat.SourceRef, by chat.Reader) (chat.SourceText, error) {
	s.by = append(s.by, by)
	if ref.Document != shownDocument {
		return chat.SourceText{}, chat.ErrUnknownSource
	}
	text := documentText()
	text.Changed = ref.Passage == "3-old"
	return text, nil
}

// serveShelf serves a page whose answers can be opened.
func serveShelf(t *testing.T) (*Web, *shelf) {
	t.Helper()
	bot := &shelf{office: screenBot()}
	cited := chattest.Answer()
	cited.Sources[0].Sources[0].Document = shownDocument
	cited.Sources[0].Sources[0].Sections[0].Passage = "3-bb"
	cited.Sources[0].Sources[1].Document = closedDocument
	bot.On("cited", chattest.Says(cited))
	options := over(bot)
	options.Sources, options.Pins, options.Uploads = bot, &pinboard{everybody: true}, uploads.OpenSQLite(sqlitetest.Open(t, t.TempDir()))
	options.Suggestions, options.Stats = suggestions, "412 documents in 3 collections, last read 4 minutes ago."
	w, err := New(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	run(t, w, bot)
	return w, bot
}

func (v visitor) openPage(t *testing.T, address string) (status int, body string) {
	t.Helper()
	response, err := v.client.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, read(t, response)
}

func TestCitationsOpenThePassage(t *testing.T) {
	w, bot := serveShelf(t)
	v := newVisitor(t, w)
	v.Say(t, "cited")
	page := v.get(t)
	path := chat.SourceRef{Document: shownDocument, Passage: "3-bb"}.Path()
	for _, want := range []string{
		`<a class="cite" href="` + path + `" data-row=`,
		`<a href="https://docs.example.org/deploy.md#rolling-back" target="_blank" rel="noopener noreferrer">Deploying the API</a>`,
		// The original is a file of the server: the passage is opened in its place.
		`<a href="` + chat.SourceRef{Document: closedDocument}.Path() + `" target="_blank" rel="noopener">Runbook: failed releases</a>`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the answer has no %s", want)
		}
	}
	if strings.Contains(page, "file:") {
		t.Error("a link leads to a file")
	}
	status, shown := v.openPage(t, strings.TrimSuffix(w.URL(), "/")+path)
	for _, want := range []string{
		`id="cited"`, "Rolling back", "guides/deploy.md", "Platform team", "unchanged for 2 years", "group:platform, user:ada@example.com",
		`href="https://docs.example.org/deploy#rolling-back"`, "&lt;script&gt;", `href="` + chat.SourceRef{Document: shownDocument, Passage: "40-"}.Path() + `"`,
	} {
		if !strings.Contains(shown, want) {
			t.Errorf("the document has no %s", want)
		}
	}
	if status != http.StatusOK || strings.Contains(shown, "javascript:") || strings.Contains(shown, "has changed since") {
		t.Errorf("status %d of\n%s", status, shown)
	}
	if by := bot.by[len(bot.by)-1]; by.Adapter != "web" || by.User == "" || by.Identity == nil || by.Identity.Local {
		t.Errorf("read by %+v", by)
	}
	if _, shown := v.openPage(t, strings.TrimSuffix(w.URL(), "/")+chat.SourceRef{Document: shownDocument, Passage: "3-old"}.Path()); !strings.Contains(shown, "has changed since") {
		t.Error("the page does not tell that the passage changed")
	}
}

func TestAClosedDocumentLooksLikeNone(t *testing.T) {
	w, _ := serveShelf(t)
	v := newVisitor(t, w)
	base := strings.TrimSuffix(w.URL(), "/")
	closedStatus, closed := v.openPage(t, base+chat.SourceRef{Document: closedDocument, Passage: "3-bb"}.Path())
	for _, path := range []string{chat.SourceRef{Document: "handbook:none.md", Passage: "3-bb"}.Path(), "/source/%21%21/1", "/source/aGFuZGJvb2s", "/source/" + strings.Repeat("A", 4000)} {
		if status, body := v.openPage(t, base+path); status != http.StatusNotFound || status != closedStatus || body != closed {
			t.Errorf("%.60s gives status %d, a closed document %d", path, status, closedStatus)
		}
	}
}

func FuzzParseSourceRef(f *testing.F) {
	f.Add("aGFuZGJvb2s6YS5tZA", "3-9f86d081884c")
	f.Add("", "-")
	f.Fuzz(func(t *testing.T, document, passage string) {
		ref, err := chat.ParseSourceRef(document, passage)
		if err == nil && ref.Document == "" {
			t.Errorf("%q names no document, without an error", document)
		}
	})
}
