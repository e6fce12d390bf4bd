package editor_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/adapters/web"
	"github.com/cairn-bot/cairn/internal/adapters/web/editor"
	"github.com/cairn-bot/cairn/internal/adapters/web/webtest"
	"github.com/cairn-bot/cairn/internal/chat/chattest"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/pages"
	"github.com/cairn-bot/cairn/internal/pages/tree"
	"github.com/cairn-bot/cairn/internal/sqlite/sqlitetest"
)

func TestMain(m *testing.M) { webtest.Main(m) }

// place is the web page with pages in it.
type place struct {
	*testing.T
	library *pages.Library
	url     string
	stop    func() // ends the server
}

func mayWrite(context.Context, web.Visitor) (editor.Grant, error) {
	return editor.Grant{MayWrite: true}, nil
}

func mayRead(context.Context, web.Visitor) (editor.Grant, error) { return editor.Grant{}, nil }

// outlineQuestion is the outline of a page about a question.
func outlineQuestion(_ context.Context, question string) (*tree.Node, error) {
	return tree.ParseMarkdown("## Nearest\n\nto " + question)
}

func open(t *testing.T, access func(context.Context, web.Visitor) (editor.Grant, error)) *place {
	t.Helper()
	p := &place{T: t, library: pages.NewLibrary(pages.OpenSQLite(sqlitetest.Open(t, t.TempDir())))}
	p.serve("", access)
	return p
}

// serve starts a server at an address, "" for a free port.
func (p *place) serve(address string, access func(context.Context, web.Visitor) (editor.Grant, error)) {
	p.Helper()
	logger := slog.New(slog.DiscardHandler)
	made, err := editor.New(editor.Options{Library: p.library, Access: access, Logger: logger, Outline: outlineQuestion})
	if err != nil {
		p.Fatal(err)
	}
	bot := &chattest.Bot{}
	w, err := web.New(p.Context(), web.Options{
		Addr: address, Transcripts: bot, Controls: bot, Graphs: bot, Threads: bot, Logger: logger, Pages: made,
	})
	if err != nil {
		p.Fatal(err)
	}
	p.url = w.URL()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx, bot) }()
	stopped := false
	p.stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-ended; err != nil {
			p.Errorf("the server ended with %v", err)
		}
	}
	p.Cleanup(p.stop)
}

// write makes a page of Markdown.
func (p *place) write(title, markdown string) pages.PageID {
	p.Helper()
	root, err := tree.ParseMarkdown(markdown)
	if err != nil {
		p.Fatal(err)
	}
	page, err := p.library.Create(p.Context(), pages.Place{}, title, root, pages.Author{Name: "ada", Why: "page: new"})
	if err != nil {
		p.Fatal(err)
	}
	return page.ID
}

// change makes a change as from a thread.
func (p *place) change(id pages.PageID, change func(root *tree.Node) *tree.Node) {
	p.Helper()
	page := p.load(id)
	if _, err := p.library.Save(p.Context(), pages.Place{}, pages.Edit{
		Page: id, Base: page.Version, Root: change(page.Root.Clone()), By: pages.Author{Name: "grace", Why: "page: replace"},
	}); err != nil {
		p.Fatal(err)
	}
}

func (p *place) load(id pages.PageID) pages.Page {
	p.Helper()
	page, err := p.library.Load(p.Context(), pages.Place{}, id)
	if err != nil {
		p.Fatal(err)
	}
	return page
}

// markdown gives the text of a page as it is stored.
func (p *place) markdown(id pages.PageID) string { return tree.Markdown(p.load(id).Root) }

func TestOptionsAreComplete(t *testing.T) {
	if _, err := editor.New(editor.Options{}); err == nil {
		t.Error("an editor of nothing was made")
	}
}

// visitor is a browser without a window.
type visitor struct {
	*testing.T
	url    string
	client *http.Client
}

func (p *place) visitor() *visitor {
	p.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		p.Fatal(err)
	}
	transport := &http.Transport{}
	p.Cleanup(transport.CloseIdleConnections)
	v := &visitor{p.T, p.url, &http.Client{Jar: jar, Transport: transport}}
	v.ask(http.MethodGet, "pages", "") // is given a secret
	return v
}

// ask sends a request as the script does, or as another site's page would.
func (v *visitor) ask(method, path, body string, headers ...string) (status int, answer string) {
	v.Helper()
	request, err := http.NewRequestWithContext(v.Context(), method, v.url+path, strings.NewReader(body))
	if err != nil {
		v.Fatal(err)
	}
	if method == http.MethodPost {
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Accept", "application/json")
	}
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		request.Header.Set(name, value)
	}
	response, err := v.client.Do(request)
	if err != nil {
		v.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		v.Fatal(err)
	}
	return response.StatusCode, string(text)
}

// save is a change of the title.
const save = `{"key": "k1", "base": 1, "title": {"base": "Leave", "text": "Paid leave"}, "blocks": []}`

func TestAChangeIsMadeOnceUnderItsKey(t *testing.T) {
	p := open(t, mayWrite)
	id := p.write("Leave", "One.")
	v := p.visitor()
	for range 2 {
		if status, answer := v.ask(http.MethodPost, "page/"+string(id)+"/blocks", save); status != http.StatusOK || !strings.Contains(answer, `"version":2,"title":"Paid leave"`) {
			t.Errorf("%d %s", status, answer)
		}
	}
	if page := p.load(id); page.Version != 2 || page.Title != "Paid leave" {
		t.Errorf("%q, version %d", page.Title, page.Version)
	}
}

func TestAPageIsDraftedAboutAQuestion(t *testing.T) {
	p := open(t, mayWrite)
	v := p.visitor()
	_, list := v.ask(http.MethodGet, "pages?draft=Who+owns+%22billing%22%3F", "")
	for _, want := range []string{`value="Who owns &#34;billing&#34;"`, `name="question" value="Who owns &#34;billing&#34;?"`, ">Draft a page</button>"} {
		if !strings.Contains(list, want) {
			t.Errorf("%s is not in\n%s", want, list)
		}
	}
	if _, list := v.ask(http.MethodGet, "pages", ""); strings.Contains(list, "Draft a page") {
		t.Error("a draft is offered about nothing")
	}
	form := url.Values{"title": {"Who owns billing"}, "question": {"Who owns billing?"}}
	if status, answer := v.ask(http.MethodPost, "pages", form.Encode(), "Content-Type: application/x-www-form-urlencoded", "Accept: text/html"); status != http.StatusOK {
		t.Fatalf("%d %s", status, answer)
	}
	listed, err := p.library.List(t.Context(), pages.Place{})
	if err != nil || len(listed) != 1 || !strings.Contains(p.markdown(listed[0].ID), "to Who owns billing?") {
		t.Errorf("%v, %+v", err, listed)
	}
}

func TestWhatIsNotForAVisitorIsNotThere(t *testing.T) {
	group, err := knowledge.Group("legal")
	if err != nil {
		t.Fatal(err)
	}
	audience, err := knowledge.NewAudience(group)
	if err != nil {
		t.Fatal(err)
	}
	isLegal := false
	p := open(t, func(context.Context, web.Visitor) (editor.Grant, error) {
		grant := editor.Grant{MayWrite: true}
		if isLegal {
			grant.Viewers = knowledge.NewViewers([]knowledge.Principal{group})
		}
		return grant, nil
	})
	page, err := p.library.Create(t.Context(), pages.Place{Audience: audience}, "A lawsuit", tree.New(), pages.Author{Name: "ada"})
	if err != nil {
		t.Fatal(err)
	}
	v := p.visitor()
	for _, legal := range []bool{false, true} {
		isLegal = legal
		if _, list := v.ask(http.MethodGet, "pages", ""); strings.Contains(list, "A lawsuit") != legal {
			t.Errorf("legal %t: the list is\n%s", legal, list)
		}
		for _, path := range []string{"", "/state", "/changes?since=1", "/history"} {
			status, answer := v.ask(http.MethodGet, "page/"+string(page.ID)+path, "")
			if (status == http.StatusOK) != legal || !legal && (status != http.StatusNotFound || strings.Contains(answer, "lawsuit")) {
				t.Errorf("legal %t: %s is answered with %d", legal, path, status)
			}
		}
	}
	isLegal = false
	for path, body := range map[string]string{"/blocks": save, "/restore": "version=1", "/events?since=1&tab=t1": ""} {
		method := http.MethodPost
		if body == "" {
			method = http.MethodGet
		}
		if status, _ := v.ask(method, "page/"+string(page.ID)+path, body); status != http.StatusNotFound {
			t.Errorf("%s is answered with %d", path, status)
		}
	}
}

func TestRequestsThatAreRefused(t *testing.T) {
	p := open(t, mayWrite)
	id := string(p.write("Leave", "One."))
	v := p.visitor()
	for name, test := range map[string]struct {
		path, body string
		status     int
		headers    []string
	}{
		"another site's":     {"/blocks", save, http.StatusForbidden, []string{"Sec-Fetch-Site: cross-site"}},
		"another origin's":   {"/restore", "version=1", http.StatusForbidden, []string{"Origin: https://example.com"}},
		"a form":             {"/blocks", save, http.StatusUnsupportedMediaType, []string{"Content-Type: application/x-www-form-urlencoded"}},
		"no JSON":            {"/blocks", "x", http.StatusBadRequest, nil},
		"without a key":      {"/blocks", `{"base": 1}`, http.StatusBadRequest, nil},
		"of no version":      {"/blocks", `{"key": "k", "base": 7, "blocks": [{"id": "n1", "removed": true}]}`, http.StatusNotFound, nil},
		"a broken block":     {"/blocks", `{"key": "k", "base": 1, "blocks": [{"id": "n1", "node": {"type": "text", "text": "x"}, "after": ""}]}`, http.StatusUnprocessableEntity, nil},
		"a cell alone":       {"/blocks", `{"key": "k", "base": 1, "blocks": [{"id": "n1", "node": {"type": "tablecell"}, "after": ""}]}`, http.StatusUnprocessableEntity, nil},
		"a broken presence":  {"/presence", `{"block": "<b>"}`, http.StatusBadRequest, nil},
		"to restore nothing": {"/restore", "", http.StatusNotFound, []string{"Content-Type: application/x-www-form-urlencoded"}},
	} {
		if status, answer := v.ask(http.MethodPost, "page/"+id+test.path, test.body, test.headers...); status != test.status {
			t.Errorf("%s: %d %s", name, status, answer)
		}
	}
	stranger := &visitor{t, p.url, &http.Client{Transport: v.client.Transport}}
	if status, _ := stranger.ask(http.MethodPost, "page/"+id+"/blocks", save); status != http.StatusForbidden {
		t.Errorf("a stranger's change is answered with %d", status)
	}
	if page := p.load(pages.PageID(id)); page.Version != 1 {
		t.Errorf("the page has version %d", page.Version)
	}
}

func TestAVersionIsRestored(t *testing.T) {
	p := open(t, mayWrite)
	id := p.write("Leave", "It is 27 days.")
	p.change(id, replace("27", "28"))
	v := p.visitor()
	_, history := v.ask(http.MethodGet, "page/"+string(id)+"/history", "")
	for _, want := range []string{"grace", "page: replace", `It is <mark>27</mark> days.`, `It is <mark>28</mark> days.`, "The page as it stands"} {
		if !strings.Contains(history, want) {
			t.Errorf("the history does not show %s:\n%s", want, history)
		}
	}
	if status, _ := v.ask(http.MethodPost, "page/"+string(id)+"/restore", "version=1", "Content-Type: application/x-www-form-urlencoded"); status != http.StatusOK {
		t.Errorf("restoring is answered with %d", status)
	}
	p.expects(id, "It is 27 days.")
	if page := p.load(id); page.Version != 3 {
		t.Errorf("the page has version %d", page.Version)
	}
}
