package main

import (
	"net"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/cairn-bot/cairn/internal/adapters/slack/slacktest"
	"github.com/cairn-bot/cairn/internal/llm/llmtest"
	"github.com/cairn-bot/cairn/internal/servertest"
)

// office is a team that talks to the real program in a fake Slack, with Redis and
// PostgreSQL beside it.
type office struct {
	*slacktest.Server
	program
	ann     *slacktest.Person
	ben     *slacktest.Person
	general string
}

// newOffice has the documents read. mode is how events come.
func newOffice(t *testing.T, mode string) *office {
	t.Helper()
	t.Parallel() // it waits more than it works
	o := &office{Server: slacktest.New(slacktest.Options{Unlimited: true}), program: program{t: t}}
	t.Cleanup(o.Close)
	o.ann, o.ben, o.general = o.Person("U0ANN", "Ann"), o.Person("U0BEN", "Ben"), o.Channel("C0GENERAL", "general")
	o.env = append(os.Environ(), "HOME="+t.TempDir(), "CAIRN_DATA_DIR="+t.TempDir(),
		"CAIRN_REDIS_URL="+servertest.Redis(t), "CAIRN_POSTGRES_URL="+servertest.Postgres(t), "CAIRN_LOG_LEVEL=debug",
		"CAIRN_SLACK_MODE="+mode, "CAIRN_SLACK_LISTEN=127.0.0.1:0", "CAIRN_SLACK_API_URL="+o.APIURL(),
		"CAIRN_SLACK_BOT_TOKEN="+slacktest.BotToken, "CAIRN_SLACK_SIGNING_SECRET="+slacktest.SigningSecret,
		"CAIRN_SLACK_APP_TOKEN="+slacktest.AppToken, "CAIRN_SLACK_HUMANS=U0BEN")
	o.readHandbook()
	return o
}

var pageLine = regexp.MustCompile(`Ask at (\S+)/`)

// TestUnusedConnectionsDontHoldItUp has somebody connect and say nothing when it is to end.
func TestUnusedConnectionsDontHoldItUp(t *testing.T) {
	o := newOffice(t, "http")
	p := o.serve()
	for _, line := range []string{p.address, pageLine.FindStringSubmatch(p.String())[1]} {
		address, err := url.Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		connection, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address.Host)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { connection.Close() })
	}
	p.end(syscall.SIGTERM)
}

// TestServesBeforeAnythingWasRead starts with no index: the process knows nothing, and
// knows what is read in by another one from then on.
func TestServesBeforeAnythingWasRead(t *testing.T) {
	t.Parallel()
	for name, postgres := range map[string]string{"data directory": "", "PostgreSQL": servertest.Postgres(t)} {
		t.Run(name, func(t *testing.T) {
			o := &office{Server: slacktest.New(slacktest.Options{Unlimited: true}), program: program{t: t}}
			t.Cleanup(o.Close)
			o.ann, o.general = o.Person("U0ANN", "Ann"), o.Channel("C0GENERAL", "general")
			o.env = append(os.Environ(), "HOME="+t.TempDir(), "CAIRN_DATA_DIR="+t.TempDir(), "CAIRN_SLACK_MODE=http",
				"CAIRN_SLACK_LISTEN=127.0.0.1:0", "CAIRN_SLACK_API_URL="+o.APIURL(), "CAIRN_SLACK_BOT_TOKEN="+slacktest.BotToken,
				"CAIRN_SLACK_SIGNING_SECRET="+slacktest.SigningSecret)
			if postgres != "" {
				o.env = append(o.env, "CAIRN_POSTGRES_URL="+postgres)
				if out, err := o.command("migrate").CombinedOutput(); err != nil {
					t.Fatalf("migrate: %v\n%s", err, out)
				}
			}
			o.serve()
			early := o.ann.Says(o.general, "", mention+"how many days of leave do I get?")
			o.shows(early, "I couldn't find this")
			o.readHandbook()
			late := o.ann.Says(o.general, "", mention+"how many days of leave do I get a year?")
			o.shows(late, "28 days")
		})
	}
}

// reached are the lines by which the program says that it takes events from Slack.
var reached = regexp.MustCompile(`(?:Listening to Slack at (\S+)/slack/|Connecting to Slack)`)

// serve starts `cairn serve` and waits until Slack reaches it.
func (o *office) serve(args ...string) *process {
	o.t.Helper()
	p := o.start(reached, args...)
	if p.address == "" {
		o.until("connections to Slack", func() bool { return o.Connections() > 0 })
		return p
	}
	o.Subscribe(p.address+"/slack/events", p.address+"/slack/interactive", p.address+"/slack/commands")
	if err := o.Verify(); err != nil {
		o.t.Fatal(err)
	}
	return p
}

// until waits for something that people see.
func (o *office) until(what string, seen func() bool) {
	o.t.Helper()
	if !o.wait(seen) {
		o.t.Fatalf("never seen: %s\n%s", what, o.Show(o.general))
	}
}

// last is what the bot said last in a thread; a draft, which has no key, is nothing said.
func (o *office) last(root string) (said string) {
	for _, message := range o.Messages(o.general) {
		if isSaid(message) && message.ThreadTS == root {
			said = message.Text + string(message.Blocks)
		}
	}
	return said
}

func isSaid(message slacktest.Message) bool {
	return message.User == slacktest.Bot && !message.Deleted && message.Only == "" && len(message.Metadata) > 0
}

// shows waits until the bot's last message in a thread holds a text.
func (o *office) shows(root, text string) {
	o.t.Helper()
	o.until(text, func() bool { return strings.Contains(o.last(root), text) })
}

// answers counts what the bot said and did not take back.
func (o *office) answers(channel string) int {
	said := 0
	for _, message := range o.Messages(channel) {
		if isSaid(message) {
			said++
		}
	}
	return said
}

// drafts counts what stands in the channel of runs that work, or worked.
func (o *office) drafts() int {
	left := 0
	for _, message := range o.Messages(o.general) {
		if message.User == slacktest.Bot && !message.Deleted && message.Only == "" && len(message.Metadata) == 0 {
			left++
		}
	}
	return left
}

const (
	mention = "<@" + slacktest.Bot + "> "
	room12  = "help desk in room 12"
)

func TestSlackEndToEnd(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"http", "socket"} {
		t.Run(mode, func(t *testing.T) { talkInSlack(t, newOffice(t, mode)) })
	}
}

// talkInSlack is a working day: what people do in Slack, and what becomes of it.
func talkInSlack(t *testing.T, o *office) {
	first := o.serve()
	root := o.ann.Says(o.general, "", mention+"where do I get a laptop?")
	o.shows(root, room12)

	// A question needs an answer, which is given to another process.
	o.ann.Says(o.general, root, "how long do we keep invoices of this vendor?")
	o.shows(root, "“this vendor”")
	first.end(syscall.SIGTERM)
	second := o.serve()
	o.ben.Says(o.general, root, "I have no idea, sorry")
	o.ann.Says(o.general, root, "the vendor of phones")
	o.shows(root, "kept for ten years")

	// A follow-up needs no mention; what people say to each other is not answered.
	said := o.answers(o.general)
	o.ben.Says(o.general, root, "<@U0ANN> lunch?")
	o.ann.Says(o.general, root, "and how many days of leave do I get?")
	o.shows(root, "28 days of leave")
	if now := o.answers(o.general); now != said+1 {
		t.Errorf("%d answers to one question", now-said)
	}
	o.changes(t)
	o.rates(t, root)

	// What is stopped while it waits is over.
	again := o.ann.Says(o.general, "", mention+"where do I get a laptop?")
	o.shows(again, room12)
	o.ann.Says(o.general, again, "how long do we keep invoices of this vendor?")
	o.shows(again, "“this vendor”")
	o.ann.Says(o.general, again, "never mind")
	o.shows(again, "leave it there")

	// A command is answered to one person.
	o.ann.Command(o.general, "/cairn", "where do I get a laptop?")
	o.until("the command's answer", func() bool {
		messages := o.Messages(o.general)
		return strings.Contains(string(messages[len(messages)-1].Blocks), room12) && messages[len(messages)-1].Only == "U0ANN"
	})
	second.end(syscall.SIGTERM)
	for _, call := range o.Refused() {
		t.Errorf("%s was refused: %s, %v", call.Method, call.Error, call.Args)
	}
	o.keepsQuiet(first, second)
}

// changes has Ann edit a question, and delete it: the answer changes in its place, and is
// taken back.
func (o *office) changes(t *testing.T) {
	t.Helper()
	root := o.ann.Says(o.general, "", mention+"where do I get a laptop?")
	o.shows(root, room12)
	before := o.answers(o.general)
	o.ann.Edits(o.general, root, mention+"how many days of leave do I get?")
	o.shows(root, "28 days of leave")
	if now := o.answers(o.general); now != before {
		t.Errorf("%d answers after an edit, %d before", now, before)
	}
	o.ann.Deletes(o.general, root)
	o.until("the answer is taken back", func() bool { return o.answers(o.general) == before-1 })
}

// TestAnEditOfAWaitingMessageIsNoRun has Ann edit a question that waits behind another: it is
// answered as it was edited, and `cairn runs` lists the two questions, before and after.
func TestAnEditOfAWaitingMessageIsNoRun(t *testing.T) {
	o := newOffice(t, "http")
	p := o.serve()
	listed := func(when string, most int) {
		t.Helper()
		out, err := o.command("runs").CombinedOutput()
		if err != nil {
			t.Fatalf("cairn runs: %v\n%s", err, out)
		}
		if runs := regexp.MustCompile(`(?m)^\S+-\S+ `).FindAllString(string(out), -1); len(runs) > most || strings.Contains(string(out), "change-") {
			t.Errorf("%s %q are listed:\n%s", when, runs, out)
		}
	}
	o.Disturb(func(method string) (slacktest.Fault, bool) {
		return slacktest.Fault{Status: http.StatusInternalServerError}, method == "chat.postMessage" || method == "chat.startStream"
	})
	root := o.ann.Says(o.general, "", mention+"where do I get a laptop?")
	o.until("the first post", func() bool { return len(o.Calls("chat.postMessage"))+len(o.Calls("chat.startStream")) > 0 })
	waits := o.ann.Says(o.general, root, mention+"where do I get a phone?")
	o.ann.Edits(o.general, waits, mention+"how many days of leave do I get?")
	listed("while the edited message waits", 2)
	o.Disturb(nil)
	o.shows(root, "28 days of leave")
	listed("once it is answered", 2)
	p.end(syscall.SIGTERM)
}

// rates has Ann say that an answer was not helpful, and why.
func (o *office) rates(t *testing.T, root string) {
	t.Helper()
	o.ann.Presses(o.general, "Not helpful")
	form := o.ann.Open()
	if form == nil {
		t.Fatalf("no form asks for the reason; the thread ends with %s", strings.Join(strings.Fields(o.Show(o.general)), " "))
	}
	if got := string(o.ann.Submits(form, map[string]string{"reason": " "}).Response); !strings.Contains(got, `"errors"`) {
		t.Errorf("an empty reason is answered by %s", got)
	}
	if got := string(o.ann.Submits(form, map[string]string{"reason": "it is 30 days now"}).Response); got != "" && got != "null" {
		t.Errorf("a reason is answered by %s", got)
	}
	if said := o.last(root); !strings.Contains(said, "28 days of leave") {
		t.Errorf("after a rating the thread ends with %s", said)
	}
}

// keepsQuiet looks for what must not be logged.
func (o *office) keepsQuiet(processes ...*process) {
	o.t.Helper()
	o.isUnsaid(processes, slacktest.BotToken, slacktest.AppToken, slacktest.SigningSecret, "30 days")
}

// TestWhatStreamsIsStopped has a model hold its answer back, so that Ann stops it by Slack's own
// Stop under what is there already, and asks again.
func TestWhatStreamsIsStopped(t *testing.T) {
	model := llmtest.New(t)
	gate := make(chan struct{})
	model.On(llmtest.Any, llmtest.Text("You have 28 days of leave a year [1]. ", "It is ", "28 days [1].").WaitFor(2, gate))
	o := newOffice(t, "http")
	o.env = append(o.env, "CAIRN_LLM_URL="+model.URL, "CAIRN_LLM_MODEL=gpt-test", "CAIRN_LLM_KEY="+llmtest.Key)
	p := o.serve()
	root := o.ann.Says(o.general, "", mention+"how many days of leave do I get?")
	o.until("the beginning of the answer", func() bool {
		shown := o.Show(o.general)
		return strings.Contains(shown, "28 days") && o.Session(o.general, root) == "processing"
	})
	o.ann.StopsSession(o.general, root)
	o.shows(root, "Stopped")
	close(gate)
	o.until("nothing is left of what was stopped", func() bool { return o.drafts() == 0 && o.answers(o.general) == 1 })
	o.ann.Presses(o.general, "Retry")
	o.shows(root, "of leave")
	p.end(syscall.SIGTERM)
	o.keepsQuiet(p)
}

// TestAFileIsPartOfTheQuestion has Ann ask about a file that she sends along.
func TestAFileIsPartOfTheQuestion(t *testing.T) {
	o := newOffice(t, "http")
	p := o.serve()
	direct := o.ann.DM()
	o.ann.Shares(direct, "", "what is the total of order 77?", slacktest.File{
		Name: "order.md", Content: []byte("# Order 77\n\nThe total of order 77 is 1200 crowns.\n"),
	})
	o.until("an answer from the file", func() bool { return strings.Contains(o.Show(direct), "1200 crowns") })
	p.end(syscall.SIGTERM)
	o.keepsQuiet(p)
}

// TestAKilledProcessAnswersOnce kills the program between a post and its confirmation.
// What it says is an echo, which nothing is shown of before.
func TestAKilledProcessAnswersOnce(t *testing.T) {
	o := newOffice(t, "http")
	first := o.serve()
	o.Fail("chat.postMessage", slacktest.Fault{Done: true, Hang: true})
	asked := o.ann.Says(o.general, "", mention+"echo first words")
	o.shows(asked, "first words") // it is there, and the program does not know
	first.end(syscall.SIGKILL)
	second := o.serve()
	o.until("the thread is read", func() bool { return len(o.Calls("conversations.replies")) > 0 })
	o.ann.Says(o.general, asked, mention+"echo next words") // behind it in its thread
	o.shows(asked, "next words")
	second.end(syscall.SIGTERM)
	if got := o.answers(o.general); got != 2 {
		t.Errorf("%d answers to two questions\n%s", got, o.Show(o.general))
	}
	if posts := len(o.Calls("chat.postMessage")); posts != 2 {
		t.Errorf("%d posts for two questions", posts)
	}
}

func TestDoctor(t *testing.T) {
	o := newOffice(t, "http")
	said := o.examines(true)
	for _, want := range []string{"✓ index: 3 documents", "✓ bot token: @cairn", "✓ scopes", "✓ channels: #general", "✗ event delivery", "set slack.url"} {
		if !strings.Contains(said, want) {
			t.Errorf("without an address %q is not said:\n%s", want, said)
		}
	}
	o.env = append(o.env, "CAIRN_SLACK_URL=http://127.0.0.1:1")
	if said = o.examines(true); !strings.Contains(said, "start `cairn serve`") {
		t.Errorf("nothing listens:\n%s", said)
	}
	p := o.serve()
	o.Invite(o.general, "U0ANN")
	o.env = append(o.env, "CAIRN_SLACK_URL="+p.address)
	if said = o.examines(false, "--channel", o.general); !strings.Contains(said, "✓ an answer") {
		t.Errorf("all is well:\n%s", said)
	}
	p.end(syscall.SIGTERM)
	o.env = append(o.env, "CAIRN_SLACK_BOT_TOKEN=xoxb-wrong")
	if said = o.examines(true); !strings.Contains(said, "OAuth & Permissions") || strings.Contains(said, "xoxb-wrong") {
		t.Errorf("a wrong token:\n%s", said)
	}
}

// TestAnAnalysisIsSteered has Ann send a file, have it analysed, say what is to be
// different to another process, and approve.
func TestAnAnalysisIsSteered(t *testing.T) {
	o := newOffice(t, "http")
	first := o.serve()
	root := o.ann.Shares(o.general, "", mention+"analyze: what are the risks?", slacktest.File{
		Name: "ledger.md", Content: []byte("# Ledger\n\nWarning: the ledger has no fallback. The budget is $40,000 for 2026.\n\n## Open questions\n\nWho owns the keys?\n"),
	})
	o.shows(root, "Draft 1 of the analysis")
	first.end(syscall.SIGTERM)
	second := o.serve()
	o.ann.Says(o.general, root, "only the risks, please")
	o.shows(root, "Draft 2 of the analysis")
	o.ann.Presses(o.general, "Approve")
	o.until("the analysis as a file", func() bool { return strings.Contains(o.Show(o.general), "risks_analysis.md") })
	second.end(syscall.SIGTERM)
	for _, call := range o.Refused() {
		t.Errorf("%s was refused: %s, %v", call.Method, call.Error, call.Args)
	}
	o.isUnsaid([]*process{first, second}, "no fallback", "40,000")
}
