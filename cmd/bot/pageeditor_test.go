package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"github.com/cairn-bot/cairn/internal/adapters/web/webtest"
	"github.com/cairn-bot/cairn/internal/servertest"
)

var (
	pageKills = flag.Int("pages.kills", 1, "how often the program is killed while a page is written")
	pageWords = flag.Int("pages.words", 8, "words that each of the two browsers writes between two kills")
)

// writer is a person who writes on a page in a browser.
type writer struct {
	*testing.T
	ctx   context.Context
	name  string
	words []string
}

func (w *writer) do(actions ...chromedp.Action) {
	if err := chromedp.Run(w.ctx, actions...); err != nil {
		w.Errorf("writer %s: %v", w.name, err)
	}
}

// write writes words, each of which occurs once, into the writer's own block.
func (w *writer) write(count int) {
	for range count {
		word := fmt.Sprintf("%s%d", w.name, len(w.words)+1)
		w.words = append(w.words, word)
		w.do(chromedp.Evaluate(`(() => {
			const text = document.getElementById("text");
			const block = [...text.children].find((block) => block.textContent.startsWith("`+w.name+`"));
			text.focus();
			getSelection().selectAllChildren(block);
			getSelection().collapseToEnd();
		})()`, nil), input.InsertText(" "+word))
	}
}

// saved waits until all that was written is on the server.
func (w *writer) saved(words []string) {
	w.do(chromedp.Evaluate(`new Promise((go) => setTimeout(go))`, nil),
		chromedp.Poll(fmt.Sprintf(`document.getElementById("saved").textContent === "Saved" && %q.split(" ").every((word) => document.getElementById("text").innerText.includes(word))`,
			strings.Join(words, " ")), nil))
}

// TestAPageIsWrittenWhileTheProgramDies has two browsers and a terminal write on one page while
// the program is killed: nothing is lost, nothing is there twice.
func TestAPageIsWrittenWhileTheProgramDies(t *testing.T) {
	o := &program{t: t, file: *underLoad, env: append(os.Environ(), "HOME="+t.TempDir(), "CAIRN_DATA_DIR="+t.TempDir())}
	o.readHandbook()
	say := func(words ...string) error {
		command := o.command(append([]string{"page"}, words...)...)
		command.Dir, command.Stdin = t.TempDir(), strings.NewReader("apply\n")
		if out, err := command.CombinedOutput(); err != nil {
			return fmt.Errorf("cairn page %s: %w\n%s", words, err, out)
		}
		return nil
	}
	if err := say("new", "Minutes\n\nA\n\nB\n\nC"); err != nil {
		t.Fatal(err)
	}
	address := fmt.Sprintf("127.0.0.1:%d", servertest.FreePort(t))
	serve := func() *process { return o.start(regexp.MustCompile(`Ask at (\S+)/`), "--listen", address) }
	p := serve()
	id := pageOn(t, p.address)
	var writers []*writer
	for _, name := range []string{"A", "B"} {
		w := &writer{T: t, ctx: webtest.Window(t, webtest.Profile(t)), name: name}
		w.do(chromedp.Navigate(p.address+"/page/"+id), chromedp.WaitReady("html[data-ready]"))
		writers = append(writers, w)
	}
	var words []string
	for kill := range *pageKills {
		var writing sync.WaitGroup
		for _, w := range writers {
			writing.Go(func() { w.write(*pageWords) })
		}
		word := fmt.Sprintf("C%d", kill+1)
		writing.Go(func() {
			if err := say("append", word); err != nil {
				t.Error(err)
			}
		})
		words = append(words, word)
		p.end(syscall.SIGKILL)
		p = serve()
		writing.Wait()
	}
	for _, w := range writers {
		w.write(1)
		words = append(words, w.words...)
	}
	for _, w := range writers {
		w.saved(words)
	}
	show := o.command("page", "show")
	show.Dir = t.TempDir() // where it writes the page to a file
	out, err := show.Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range words {
		if count := len(regexp.MustCompile(`\b`+word+`\b`).FindAll(out, -1)); count != 1 {
			t.Errorf("%s is on the page %d times", word, count)
		}
	}
	t.Logf("%d words of two browsers and a terminal, %d kills\n%s", len(words), *pageKills, out)
}

// pageOn gives the id of the only page.
func pageOn(t *testing.T, address string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address+"/pages", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := (&http.Client{Timeout: 20 * time.Second}).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	page, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`/page/(\w+)`).FindSubmatch(page)
	if found == nil {
		t.Fatalf("no page is listed:\n%s", page)
	}
	return string(found[1])
}
