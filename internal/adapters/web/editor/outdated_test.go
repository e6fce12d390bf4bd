package editor_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/cairn-bot/cairn/internal/pages"
)

// removes takes versions away, as the time does.
func (p *place) removes(id pages.PageID, numbers ...int) {
	p.Helper()
	keeper, ok := p.library.Store().(pages.Keeper)
	if !ok {
		p.Fatal("the store keeps no versions")
	}
	if count, err := keeper.RemoveVersions(p.Context(), id, numbers); err != nil || count != len(numbers) {
		p.Fatalf("removed %d, %v", count, err)
	}
}

// away has a window lose the server, changes the page, takes away the version that the window has, and
// waits until the window found the server again and loaded the page anew.
func (b *browser) away(id pages.PageID, meanwhile func()) {
	b.Helper()
	version := b.place.load(id).Version
	b.mu.Lock()
	b.offline = true
	b.mu.Unlock()
	b.place.stop()
	meanwhile()
	b.place.removes(id, version)
	loaded := make(chan struct{})
	var once sync.Once
	chromedp.ListenTarget(b.ctx, func(event any) {
		if _, ok := event.(*page.EventLoadEventFired); ok {
			once.Do(func() { close(loaded) })
		}
	})
	b.place.serve(strings.TrimSuffix(strings.TrimPrefix(b.place.url, "http://"), "/"), mayWrite)
	select {
	case <-loaded:
	case <-b.ctx.Done():
		b.Fatal("the page is not loaded anew")
	}
	b.do(chromedp.WaitReady("html[data-ready]"))
}

func TestBrowserWhoseVersionIsNotKeptLosesNothing(t *testing.T) {
	p := open(t, mayWrite)
	id := p.write("Leave", "One.\n\nTwo.\n\nThree.")
	p.change(id, replace("Three", "Three and four"))
	b := p.browser()
	b.opens(id)
	b.away(id, func() {
		b.puts("One.")
		b.types(" More of one.")
		b.holds(`document.getElementById("saved").textContent.startsWith("Cairn can’t be reached")`)
		p.change(id, replace("Two", "Two and a half"))
	})
	b.shows("One. More of one. Two and a half. Three and four.")
	b.saves()
	p.expects(id, "One. More of one.\n\nTwo and a half.\n\nThree and four.")
}

func TestBrowserWhoseVersionIsNotKeptAsksWhichOfTwoHolds(t *testing.T) {
	p := open(t, mayWrite)
	id := p.write("Leave", "It is 26 days.")
	p.change(id, replace("26", "27"))
	b := p.browser()
	b.opens(id)
	b.away(id, func() {
		b.puts("27")
		b.presses("Backspace", "Backspace", 0)
		b.types("8")
		b.holds(`document.getElementById("saved").textContent.startsWith("Cairn can’t be reached")`)
		p.change(id, replace("27", "30"))
	})
	b.holds(`document.querySelectorAll(".conflict").length === 1`)
	p.expects(id, "It is 30 days.")
}

// A change of a version that is not kept is merged by the blocks that come with it, once.
func TestAChangeOfAVersionThatIsNotKept(t *testing.T) {
	p := open(t, mayWrite)
	id := p.write("Leave", "One.\n\nTwo.")
	p.change(id, replace("One", "First"))
	p.change(id, replace("Two", "Second"))
	p.removes(id, 2)
	v := p.visitor()
	block := func(text string) string {
		return fmt.Sprintf(`{"type":"paragraph","version":1,"children":[{"type":"text","version":1,"text":%q}]}`, text)
	}
	second := p.load(id).Root.Children[1].ID
	body := fmt.Sprintf(`{"key": "k1", "base": 2, "blocks": [{"id": %q, "base": %s, "node": %s}]}`, second, block("Two."), block("Two. And more."))
	for range 2 {
		if status, answer := v.ask(http.MethodPost, "page/"+string(id)+"/blocks", body); status != http.StatusOK || !strings.Contains(answer, `"version":4`) || !strings.Contains(answer, `"outdated":true`) {
			t.Errorf("%d %s", status, answer)
		}
	}
	p.expects(id, "First.\n\nSecond. And more.")
	if status, answer := v.ask(http.MethodGet, "page/"+string(id)+"/changes?since=2", ""); status != http.StatusOK || !strings.Contains(answer, `"outdated":true`) {
		t.Errorf("%d %s", status, answer)
	}
}

func TestTheHistoryShowsWhatIsKept(t *testing.T) {
	p := open(t, mayWrite)
	id := p.write("Leave", "It is 26 days.")
	p.change(id, replace("26", "27"))
	p.change(id, replace("27", "28"))
	p.removes(id, 2)
	v := p.visitor()
	for _, query := range []string{"", "?version=3", "?version=2"} {
		status, history := v.ask(http.MethodGet, "page/"+string(id)+"/history"+query, "")
		for _, want := range []string{"2 changes", `It is <mark>26</mark> days.`, `It is <mark>28</mark> days.`} {
			if status != http.StatusOK || !strings.Contains(history, want) {
				t.Errorf("the history%s does not show %s: %d\n%s", query, want, status, history)
			}
		}
	}
	if status, _ := v.ask(http.MethodPost, "page/"+string(id)+"/restore", "version=2", "Content-Type: application/x-www-form-urlencoded"); status != http.StatusNotFound {
		t.Errorf("restoring a version that is not kept is answered with %d", status)
	}
}
