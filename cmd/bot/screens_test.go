package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cairn-bot/cairn/internal/adapters/discord/discordtest"
	"github.com/cairn-bot/cairn/internal/adapters/slack/slacktest"
	"github.com/cairn-bot/cairn/internal/inspect/browser/browsertest"
	"github.com/cairn-bot/cairn/internal/inspect/inspecttest"
)

// orderPage is a web page whose button orders. Its server answers orders once it may.
type orderPage struct {
	address string
	browser string // that it is looked at with
	ordered atomic.Int64
	answer  chan struct{} // closed: orders are answered
}

func servePage(t *testing.T, browser string) *orderPage {
	t.Helper()
	page := &orderPage{browser: browser, answer: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /checkout", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<!doctype html><title>Checkout</title><button onclick="fetch('/order', {method: 'POST'})">Order now</button>`)
	})
	mux.HandleFunc("POST /order", func(_ http.ResponseWriter, r *http.Request) {
		page.ordered.Add(1)
		select {
		case <-page.answer:
		case <-r.Context().Done():
		}
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	page.address = server.URL + "/checkout"
	return page
}

// screenTeam is a team in Slack or in Discord that asks about screens.
type screenTeam struct {
	*program
	serve   func() *process
	ask     func(text string) (thread string) // Ann, in the channel
	shows   func(thread, text string)
	answers func(thread string) int // of the bot
	// transcript is all that was said in a thread, for the one who reads why a test failed.
	transcript func(thread string) string
	// press has somebody press the last button with a label in a thread; false where there is none.
	press func(who, thread, label string) bool
	// refuses waits until Ben is told, and nobody else, that a press is not his.
	refuses func(thread string)
}

// screenSettings are settings by which the page and the shop may be asked about.
func screenSettings(t *testing.T, page *orderPage) []string {
	t.Helper()
	return append(os.Environ(), "HOME="+t.TempDir(), "CAIRN_DATA_DIR="+t.TempDir(), "CAIRN_LOG_LEVEL=debug",
		"CAIRN_FLOWS_FOLDERS="+inspecttest.Write(t, 0), "CAIRN_INSPECT_PAGES="+page.address,
		"CAIRN_INSPECT_CHROMIUM_URL="+page.browser)
}

func screensInSlack(t *testing.T, page *orderPage) screenTeam {
	t.Helper()
	o := &office{Server: slacktest.New(slacktest.Options{Unlimited: true}), program: program{t: t}}
	t.Cleanup(o.Close)
	o.ann, o.ben, o.general = o.Person("U0ANN", "Ann"), o.Person("U0BEN", "Ben"), o.Channel("C0GENERAL", "general")
	o.env = append(screenSettings(t, page), "CAIRN_SLACK_MODE=http", "CAIRN_SLACK_LISTEN=127.0.0.1:0", "CAIRN_SLACK_API_URL="+o.APIURL(),
		"CAIRN_SLACK_BOT_TOKEN="+slacktest.BotToken, "CAIRN_SLACK_SIGNING_SECRET="+slacktest.SigningSecret)
	people := map[string]*slacktest.Person{"Ann": o.ann, "Ben": o.ben}
	return screenTeam{
		program: &o.program, serve: func() *process { return o.serve() }, shows: o.shows,
		ask:        func(text string) string { return o.ann.Says(o.general, "", mention+text) },
		transcript: func(string) string { return o.Show(o.general) },
		answers: func(root string) (count int) {
			for _, message := range o.Messages(o.general) {
				if isSaid(message) && message.ThreadTS == root {
					count++
				}
			}
			return count
		},
		press: func(who, root, label string) bool {
			for _, message := range slices.Backward(o.Messages(o.general)) {
				if message.ThreadTS == root && !message.Deleted && message.Only == "" && people[who].PressesOld(message, label) != nil {
					return true
				}
			}
			return false
		},
		refuses: func(string) {
			o.until("Ben is told that it is not his", func() bool {
				return slices.ContainsFunc(o.Messages(o.general), func(m slacktest.Message) bool { return m.Only == "U0BEN" && m.User == slacktest.Bot })
			})
		},
	}
}

func screensInDiscord(t *testing.T, page *orderPage) screenTeam {
	t.Helper()
	g := &guild{Server: discordtest.New(t, discordtest.Options{MessageContent: true, Limits: discordtest.NoLimits()}), program: program{t: t}}
	team := g.Guild("Team")
	g.ann, g.ben, g.general = team.Member("Ann"), team.Member("Ben"), team.Channel("general")
	g.env = append(screenSettings(t, page), "CAIRN_DISCORD_MODE=gateway", "CAIRN_DISCORD_API_URL="+g.URL(), "CAIRN_DISCORD_TOKEN="+discordtest.Token,
		"CAIRN_DISCORD_MESSAGE_CONTENT=true")
	people := map[string]string{"Ann": g.ann, "Ben": g.ben}
	return screenTeam{
		program: &g.program, serve: func() *process { return g.serve() }, shows: g.shows, answers: g.answers,
		ask:        func(text string) string { return g.Say(g.ann, g.general, calledInDiscord+text).ID },
		transcript: func(thread string) string { return fmt.Sprintf("%+v", g.messages(thread)) },
		press: func(who, thread, label string) bool {
			for _, message := range slices.Backward(g.messages(thread)) {
				if !message.Deleted && message.HasButton(label) {
					g.Press(people[who], message.ID, label)
					return true
				}
			}
			return false
		},
		refuses: func(thread string) {
			g.until(thread, "Ben is told that it is not his", func() bool {
				return slices.ContainsFunc(g.messages(thread), func(m discordtest.Message) bool { return m.Only == g.ben })
			})
		},
	}
}

// TestScreensAreAskedAboutByProcessesThatEnd kills the program between its questions and their answers, and
// between an approval and the end of the press: nothing is pressed that was not approved, and nothing
// twice by one approval; each thread has one answer.
func TestScreensAreAskedAboutByProcessesThatEnd(t *testing.T) {
	t.Parallel() // it waits more than it works
	chromium, _ := browsertest.Start(t, browsertest.Isolating...)
	for name, open := range map[string]func(*testing.T, *orderPage) screenTeam{"Slack": screensInSlack, "Discord": screensInDiscord} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			page := servePage(t, chromium)
			askAboutScreens(t, open(t, page), page)
		})
	}
}

func askAboutScreens(t *testing.T, team screenTeam, page *orderPage) {
	t.Helper()
	mustPress := func(who, thread, label string) {
		t.Helper()
		if !team.press(who, thread, label) {
			t.Fatalf("%s finds no button %s", who, label)
		}
	}
	first := team.serve()
	control := team.ask("inspect: ./shop what does button1 do?")
	team.shows(control, "Which page is open?")
	ordering := team.ask("inspect: press Order now on " + page.address)
	team.shows(ordering, "Shall I press")
	mustPress("Ben", ordering, "Approve")
	team.refuses(ordering)
	first.end(syscall.SIGKILL)

	second := team.serve()
	mustPress("Ann", control, "Main")
	team.shows(control, "/api/orders")
	if ordered := page.ordered.Load(); ordered != 0 {
		t.Errorf("%d orders before an approval", ordered)
	}
	mustPress("Ann", ordering, "Approve")
	if !team.wait(func() bool { return page.ordered.Load() > 0 }) {
		t.Fatal("nothing was pressed")
	}
	second.end(syscall.SIGKILL) // the page waits for its order to be answered

	third := team.serve()
	close(page.answer)
	team.shows(ordering, "I was interrupted after your approval")
	before := team.answers(ordering)
	mustPress("Ann", ordering, "No")
	team.shows(ordering, "whether it was pressed then")
	if ordered, said := page.ordered.Load(), team.answers(ordering)-before; ordered != 1 || said != 1 {
		t.Errorf("%d orders by one approval, %d answers", ordered, said)
	}

	again := team.ask("inspect: press Order now on " + page.address)
	team.shows(again, "Shall I press")
	mustPress("Ann", again, "Approve")
	team.shows(again, "I pressed it once")
	threads := []string{control, again}
	// What a killed process left half done is taken away a while after.
	team.wait(func() bool {
		return !slices.ContainsFunc(threads, func(thread string) bool { return team.answers(thread) != 2 })
	})
	third.end(syscall.SIGTERM)
	if ordered := page.ordered.Load(); ordered != 2 {
		t.Errorf("%d orders by two approvals", ordered)
	}
	for _, thread := range threads {
		if said := team.answers(thread); said != 2 { // the question, and its answer
			t.Errorf("%d messages in a thread, want 2: %s", said, team.transcript(thread))
		}
	}
}
