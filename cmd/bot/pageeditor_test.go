package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
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

	"github.com/cairn-bot/cairn/internal/adapters/slack/slacktest"
	"github.com/cairn-bot/cairn/internal/adapters/web/webtest"
	"github.com/cairn-bot/cairn/internal/servertest"
)

var (
	pageKills = flag.Int("pages.kills", 1, "how often the program is killed while a page is written")
	pageWords = flag.Int("pages.words", 8, "words that each of the two browsers writes between two kills")
	pageSeed  = flag.Uint64("pages.seed", 0, "repeats when the program is killed and connections are cut; 0 takes another each time")
)

// newspaper is a page that two browsers, a channel of Slack and a terminal write on while the program
// is killed and the browsers' connections are cut.
type newspaper struct {
	*office
	alive   sync.RWMutex // held for reading by who needs the program to be there
	running *process
	line    *servertest.Proxy
	writers []*writer
	written chan struct{} // a word was written

	mu    sync.Mutex
	words []string
	cuts  int
}

// writer is a person who writes on a page in a browser.
type writer struct {
	*testing.T
	ctx    context.Context
	name   string
	at     string // the end of the shared block that the writer writes at: "Start" or "End"
	paper  *newspaper
	random *rand.Rand
	count  int
}

func (w *writer) do(actions ...chromedp.Action) {
	if err := chromedp.Run(w.ctx, actions...); err != nil {
		w.Errorf("writer %s: %v", w.name, err)
	}
}

// write writes words, each of which occurs once, into the writer's own block or the one that is shared,
// while connections are cut, or let nothing pass until the next word.
func (w *writer) write(count int) {
	release := func() {}
	for range count {
		w.count++
		word := fmt.Sprintf("%s%d", w.name, w.count)
		block, at, text := w.name, "End", " "+word
		if w.random.IntN(3) == 0 {
			block, at = "middle", w.at
		}
		if at == "Start" {
			text = word + " "
		}
		w.do(chromedp.Evaluate(`(() => {
			const text = document.getElementById("text");
			const block = [...text.children].find((block) => / `+block+`( |$)/.test(" " + block.textContent));
			text.focus();
			getSelection().selectAllChildren(block);
			getSelection().collapseTo`+at+`();
		})()`, nil), input.InsertText(text))
		release()
		release = w.paper.disturb(w, word)
		w.paper.written <- struct{}{}
	}
	release()
}

// disturb notes a word, and may disturb the way between the browsers and the program.
func (n *newspaper) disturb(w *writer, word string) (release func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.words = append(n.words, word)
	switch w.random.IntN(5) {
	case 0:
		n.cuts++
		n.line.Cut()
	case 1:
		if w.at == "Start" { // one of them holds at a time
			n.cuts++
			return n.line.Hold()
		}
	}
	return func() {}
}

// saved waits until all that was written is on the server, and in this browser.
func (w *writer) saved(words []string) {
	w.do(chromedp.Evaluate(`new Promise((go) => setTimeout(go))`, nil),
		chromedp.Poll(fmt.Sprintf(`document.getElementById("saved").textContent === "Saved" && %q.split(" ").every((word) => document.getElementById("text").innerText.includes(word))`,
			strings.Join(words, " ")), nil, chromedp.WithPollingTimeout(0)))
}

// newNewspaper has a page that is open in two browsers and in the channel.
func newNewspaper(t *testing.T, seed uint64, settings ...string) *newspaper {
	n := &newspaper{office: &office{Server: slacktest.New(slacktest.Options{Unlimited: true}), program: program{t: t, file: *underLoad}}, written: make(chan struct{}, 1000)}
	t.Cleanup(n.Close)
	n.ann, n.general = n.Person("U0ANN", "Ann"), n.Channel("C0GENERAL", "general")
	n.env = append(os.Environ(), "HOME="+t.TempDir(), "CAIRN_DATA_DIR="+t.TempDir(), "CAIRN_SLACK_MODE=socket", "CAIRN_SLACK_API_URL="+n.APIURL(),
		"CAIRN_SLACK_BOT_TOKEN="+slacktest.BotToken, "CAIRN_SLACK_APP_TOKEN="+slacktest.AppToken)
	n.env = append(n.env, settings...)
	n.readHandbook()
	if err := n.say("new", "Minutes\n\nA\n\nB\n\nmiddle"); err != nil {
		t.Fatal(err)
	}
	n.line = servertest.NewProxy(t, fmt.Sprintf("127.0.0.1:%d", servertest.FreePort(t)))
	n.begin()
	page := "http://" + n.line.Address
	id := pageOn(t, page)
	for i, name := range []string{"A", "B"} {
		w := &writer{
			T: t, ctx: webtest.WindowFor(t, webtest.Profile(t), 10*time.Minute), name: name, at: []string{"Start", "End"}[i],
			paper: n, random: rand.New(rand.NewPCG(seed, uint64(i))),
		}
		w.do(chromedp.Navigate(page+"/page/"+id), chromedp.WaitReady("html[data-ready]"))
		n.writers = append(n.writers, w)
	}
	n.shows(n.ann.Says(n.general, "", mention+"page: open Minutes"), "Minutes")
	return n
}

// begin starts the program, again.
func (n *newspaper) begin() { n.running = n.serve("--listen", n.line.Server) }

// kill ends the program as `kill -9` does, and starts it again.
func (n *newspaper) kill() {
	n.alive.Lock()
	defer n.alive.Unlock()
	n.running.end(syscall.SIGKILL)
	n.begin()
}

// say does something with the page at a terminal.
func (n *newspaper) say(words ...string) error {
	command := n.command(append([]string{"page"}, words...)...)
	command.Dir, command.Stdin = n.t.TempDir(), strings.NewReader("apply\n")
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("cairn page %s: %w\n%s", words, err, out)
	}
	return nil
}

// append has Ann append a word in the channel, and apply the change. Who is not answered presses again.
func (n *newspaper) append(word string) {
	n.alive.RLock()
	root := n.ann.Says(n.general, "", mention+"page: append "+word)
	n.alive.RUnlock()
	const patience = 100 // looks
	looks := 0
	if !n.wait(func() bool {
		said := n.last(root)
		if strings.Contains(said, "Apply") && strings.Contains(said, word) {
			if looks%patience == 0 && n.alive.TryRLock() {
				n.ann.Presses(n.general, "Apply")
				n.alive.RUnlock()
			}
			looks++
		}
		return strings.Contains(said, "Done: ")
	}) {
		n.t.Errorf("%s was not appended:\n%s", word, n.Show(n.general))
	}
}

// TestAPageIsWrittenWhileTheProgramDies has two browsers, Slack and a terminal write on one page while
// the program is killed and connections are cut: nothing is lost, nothing is there twice.
func TestAPageIsWrittenWhileTheProgramDies(t *testing.T) {
	for name, settings := range map[string]func(*testing.T) []string{
		"data directory": func(*testing.T) []string { return nil },
		"Redis and PostgreSQL": func(t *testing.T) []string {
			return []string{"CAIRN_REDIS_URL=" + servertest.Redis(t), "CAIRN_POSTGRES_URL=" + servertest.Postgres(t)}
		},
	} {
		t.Run(name, func(t *testing.T) {
			seed := *pageSeed
			if seed == 0 {
				seed = rand.Uint64()
			}
			t.Logf("seed %d", seed)
			writePage(t, seed, settings(t))
		})
	}
}

func writePage(t *testing.T, seed uint64, settings []string) {
	n := newNewspaper(t, seed, settings...)
	random := rand.New(rand.NewPCG(seed, 2))
	for kill := range *pageKills {
		var writing sync.WaitGroup
		for _, w := range n.writers {
			writing.Go(func() { w.write(*pageWords) })
		}
		here, there := fmt.Sprintf("C%d", kill+1), fmt.Sprintf("D%d", kill+1)
		writing.Go(func() { n.append(here) })
		writing.Go(func() {
			if err := n.say("append", there); err != nil {
				t.Error(err)
			}
		})
		until := random.IntN(2 * *pageWords)
		for word := range 2 * *pageWords {
			<-n.written
			if word == until {
				n.kill()
			}
		}
		writing.Wait()
		n.words = append(n.words, here, there)
	}
	for _, w := range n.writers {
		w.write(1)
	}
	for _, w := range n.writers {
		w.saved(n.words)
	}
	show := n.command("page", "show")
	show.Dir = t.TempDir() // where it writes the page to a file
	out, err := show.Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range n.words {
		if count := len(regexp.MustCompile(`\b`+word+`\b`).FindAll(out, -1)); count != 1 {
			t.Errorf("%s is on the page %d times", word, count)
		}
	}
	t.Logf("%d words of two browsers, Slack and a terminal, %d kills, %d disturbed connections\n%s", len(n.words), *pageKills, n.cuts, out)
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
