package web

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/chattest"
)

// fetched is an answer whose body was read.
type fetched struct {
	status     int
	header     http.Header
	body       string
	setsCookie bool
}

// fetch gets what is below a page's address.
func (v visitor) fetch(t *testing.T, path string) fetched {
	t.Helper()
	response, err := v.client.Get(v.page + path)
	if err != nil {
		t.Fatal(err)
	}
	return fetched{response.StatusCode, response.Header, read(t, response), len(response.Cookies()) > 0}
}

// firstDocument is the address of the first document that a page offers, below the page's;
// "" for none.
func firstDocument(page string) string {
	_, address, found := strings.Cut(page, `/documents/`)
	if !found {
		return ""
	}
	address, _, _ = strings.Cut(address, `"`)
	return "/documents/" + address
}

func TestADocumentIsDownloaded(t *testing.T) {
	w := serve(t, sampleBot())
	v := newVisitor(t, w)
	v.Say(t, "Analyze the risks")
	address := firstDocument(v.get(t))
	got := v.fetch(t, address)
	if want := string(chattest.Analysis().Documents[0].Content); got.status != http.StatusOK || got.body != want {
		t.Errorf("%d %q, want %q", got.status, got.body, want)
	}
	for name, want := range map[string]string{
		"Content-Type": "text/markdown; charset=utf-8", "X-Content-Type-Options": "nosniff",
		"Content-Disposition": "attachment; filename=release_risks_analysis.md", "Cache-Control": "no-store",
	} {
		if got := got.header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	got = v.fetch(t, strings.TrimSuffix(address, "0")+"1")
	if got := got.header.Get("Content-Disposition"); !strings.HasPrefix(got, "attachment; filename*=utf-8''%D0%9E") {
		t.Errorf("a name that is not ASCII is sent as %q", got)
	}
	for path, want := range map[string]int{
		"2": http.StatusGone, "3": http.StatusNotFound, "-1": http.StatusNotFound, "x": http.StatusNotFound,
	} {
		if got := v.fetch(t, strings.TrimSuffix(address, "0")+path); got.status != want {
			t.Errorf("document %s answers %d, want %d", path, got.status, want)
		}
	}
	if got := v.fetch(t, "/documents/m-none-0/0"); got.status != http.StatusNotFound {
		t.Errorf("a document of nothing answers %d", got.status)
	}
}

func TestDocumentsAreTheirOwners(t *testing.T) {
	w := serve(t, sampleBot())
	mine, other := newVisitor(t, w), newVisitor(t, w)
	mine.Say(t, "Analyze the risks")
	other.page = mine.page
	page := other.get(t)
	if address := firstDocument(page); address != "" || !strings.Contains(page, "release_risks_analysis.md") || !strings.Contains(page, "for the person who asked") {
		t.Errorf("who reads along is offered %q", address)
	}
	got := other.fetch(t, firstDocument(mine.get(t)))
	if got.status != http.StatusForbidden || strings.Contains(got.body, "no owner") {
		t.Errorf("who reads along is answered %d", got.status)
	}
}

func TestADocumentOfAnyKindIsOnlyDownloaded(t *testing.T) {
	bot := &chattest.Bot{}
	reply := chat.Reply{Run: "r", Outcome: chat.Answered, Documents: chattest.Documents("x\"\r\nSet-Cookie: a=b\r\n.html", "<script>alert(1)</script>")}
	reply.Documents[0].MediaType = "text/html"
	bot.On("page", chattest.Says(reply))
	w := serve(t, bot)
	v := newVisitor(t, w)
	v.Say(t, "page")
	got := v.fetch(t, firstDocument(v.get(t)))
	kind, disposition := got.header.Get("Content-Type"), got.header.Get("Content-Disposition")
	if kind != "application/octet-stream" || !strings.HasPrefix(disposition, "attachment;") {
		t.Errorf("it is sent as %s, %s", kind, disposition)
	}
	if got.setsCookie {
		t.Error("a name set a cookie")
	}
}

// forgetful is a bot that drops the contents of documents.
type forgetful struct {
	*chattest.Bot
	drop bool
}

func (f *forgetful) Transcript(ctx context.Context, thread chat.ThreadID) ([]chat.Turn, error) {
	turns, err := f.Bot.Transcript(ctx, thread)
	for i, turn := range turns {
		if turn.Reply != nil && f.drop {
			without := turn.Reply.WithoutContent()
			turns[i].Reply = &without
		}
	}
	return turns, err
}

func TestThePageTellsWhatIsNotKept(t *testing.T) {
	bot := &forgetful{Bot: sampleBot()}
	w := serve(t, bot)
	v := newVisitor(t, w)
	v.Say(t, "Analyze the risks")
	page := v.get(t)
	address := firstDocument(page)
	if got := strings.Count(page, "not kept any more"); got != 1 || address == "" {
		t.Errorf("%d documents are told to be gone, %q is offered", got, address)
	}
	bot.drop = true
	page = v.get(t)
	if got := strings.Count(page, "not kept any more"); got != 3 || firstDocument(page) != "" {
		t.Errorf("%d documents are told to be gone, want 3", got)
	}
	if got := v.fetch(t, address); got.status != http.StatusGone || !strings.Contains(got.body, "not kept any more") {
		t.Errorf("it answers %d: %s", got.status, got.body)
	}
}

func TestBrowserDownloadsADocument(t *testing.T) {
	w := serve(t, sampleBot())
	b := openBrowser(t)
	folder := t.TempDir()
	done := make(chan struct{})
	chromedp.ListenTarget(b.ctx, func(event any) {
		if progress, ok := event.(*cdpbrowser.EventDownloadProgress); ok && progress.State == cdpbrowser.DownloadProgressStateCompleted {
			close(done)
		}
	})
	b.do(cdpbrowser.SetDownloadBehavior(cdpbrowser.SetDownloadBehaviorBehaviorAllow).WithBrowserContextID(b.profile).
		WithDownloadPath(folder).WithEventsEnabled(true), chromedp.Navigate(w.URL()))
	b.says("Analyze the risks")
	b.clicks(".document a")
	select {
	case <-done:
	case <-b.ctx.Done():
		t.Fatal("nothing was downloaded")
	}
	got, err := os.ReadFile(filepath.Join(folder, "release_risks_analysis.md"))
	if err != nil || string(got) != string(chattest.Analysis().Documents[0].Content) {
		t.Errorf("downloaded %q, %v", got, err)
	}
	b.says("Roll it back") // the page goes on
	b.clean(w)
}

// TestADrawingIsShown has a run make a picture: the page shows it, and it can have no more
// than styles of its own.
func TestADrawingIsShown(t *testing.T) {
	bot := sampleBot()
	const drawn = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 60 40" width="60" height="40"><style>rect{fill:#0a66d0}</style><rect width="60" height="40"/></svg>`
	bot.On("Report on the shop", chattest.Says(chat.Reply{Run: "run-shop", Outcome: chat.Answered, Text: "The report on the shop is here.", Documents: []chat.Document{
		{Name: "shop_architecture.svg", MediaType: "image/svg+xml", Size: len(drawn), Content: []byte(drawn)},
	}}))
	w := serve(t, bot)
	v := newVisitor(t, w)
	v.Say(t, "Report on the shop")
	page := v.get(t)
	address := firstDocument(page)
	if !strings.Contains(page, `alt="shop_architecture.svg"`) {
		t.Errorf("the picture is not shown:\n%s", page)
	}
	got := v.fetch(t, address)
	if got.header.Get("Content-Type") != "image/svg+xml" || got.header.Get("Content-Security-Policy") != drawing || got.body != drawn {
		t.Errorf("it is sent as %v:\n%s", got.header, got.body)
	}
}
