package slack

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/slack/slacktest"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/chattest"
	"github.com/cairn-bot/cairn/internal/chat/webhook"
)

func answers(reply chat.Reply) chattest.Script {
	return func(ctx context.Context, _ chat.Message, conversation chat.Conversation) error {
		return conversation.Reply(ctx, reply)
	}
}

func asks(question chat.Question) chattest.Script {
	return func(ctx context.Context, _ chat.Message, conversation chat.Conversation) error {
		return conversation.Ask(ctx, question)
	}
}

// clean fails the test where the app did what Slack refuses.
func (w *team) clean(t *testing.T) {
	t.Helper()
	w.Settle()
	for _, call := range w.Refused() {
		t.Errorf("%s was refused: %s", call.Method, call.Error)
	}
	for _, secret := range []string{slacktest.BotToken, slacktest.AppToken, slacktest.SigningSecret, "roll back", "trigger.", "hello"} {
		if strings.Contains(w.log.String(), secret) {
			t.Errorf("%q is in the log", secret)
		}
	}
	for _, delivery := range w.Deliveries() {
		if !delivery.Acked {
			t.Errorf("%s %s was not acknowledged: %+v", delivery.Type, delivery.ID, delivery.Attempts)
		}
	}
}

func TestAConversation(t *testing.T) {
	w := newTeam(t, false)
	if err := w.Verify(); err != nil {
		t.Fatal(err)
	}
	w.bot.On("how do I roll back a release?", answers(chattest.Answer()))
	w.bot.On("how do I roll back?", asks(chattest.Question()))
	root := w.ann.Says(w.general, "", "<@"+slacktest.Bot+"> how do I roll back a release?")
	w.clock.Advance(20 * time.Second)
	w.ann.Says(w.general, root, "and on staging?")
	w.ben.Says(w.general, root, "thanks!")
	w.ben.Says(w.general, root, "<@U0ANN> did you see this?")
	w.clock.Advance(20 * time.Second)
	w.ben.Says(w.general, "", "lunch?")
	w.ann.Says(w.general, "", "<@"+slacktest.Bot+"> how do I roll back?")
	w.clock.Advance(20 * time.Second)
	w.ben.Presses(w.general, "The API")
	w.clock.Advance(20 * time.Second)
	w.ann.Presses(w.general, "The API")
	w.clean(t)
	if got := len(w.bot.Messages()); got != 4 {
		t.Errorf("%d messages reached the bot: %+v", got, w.bot.Messages())
	}
	golden(t, "conversation", w.Show(w.general))
}

func TestDirectAndPrivate(t *testing.T) {
	w := newTeam(t, false)
	w.bot.On("how do I roll back a release?", answers(chattest.Answer()))
	w.bot.On("how do I roll back?", asks(chattest.Question()))
	direct := w.ann.OpensDM()
	if got := w.Prompts(direct); len(got) != 4 {
		t.Errorf("prompts: %+v", got)
	}
	w.ann.Says(direct, "", "how do I roll back?")
	w.clock.Advance(5 * time.Second)
	w.ann.Types(direct, "The database")
	w.clock.Advance(5 * time.Second)
	w.bot.On("/cairn how do I roll back a release?", answers(chattest.Answer()))
	w.ann.Command(w.general, "/cairn", "how do I roll back a release?")
	w.clock.Advance(5 * time.Second)
	if w.ben.Presses(w.general, "Share in channel") != nil {
		t.Error("Ben sees what only Ann may see")
	}
	w.ann.Presses(w.general, "Share in channel")
	w.clock.Advance(5 * time.Second)
	said := w.ben.Says(w.general, "", "The deploy failed again, how do I roll back a release?")
	w.bot.On("The deploy failed again, how do I roll back a release?", answers(chattest.Abstained()))
	w.ann.Shortcut(askShortcut, w.general, said)
	w.clean(t)
	golden(t, "direct", w.Show(direct)+w.Show(w.general))
}

func TestConversationWithDocuments(t *testing.T) {
	w := newTeam(t, false)
	analysis := chat.Reply{
		Run: "run-1", Outcome: chat.Answered, Text: "Two systems have no owner.",
		Documents: chattest.Documents("risks_analysis.md", "# Risks\n\nTwo.\n", "context.md", "# Context\n"),
	}
	w.bot.On("analyze the risks", answers(analysis))
	w.bot.On("/cairn analyze the risks", answers(analysis))
	w.ann.Says(w.general, "", "<@"+slacktest.Bot+"> analyze the risks")
	w.clock.Advance(20 * time.Second)
	w.ann.Command(w.general, "/cairn", "analyze the risks")
	w.clock.Advance(20 * time.Second)
	w.ann.Presses(w.general, "Share in channel")
	w.clean(t)
	golden(t, "documents", w.Show(w.general)+w.Show(w.ann.DM()))
}

func TestButtonsUnderAnAnswer(t *testing.T) {
	w := newTeam(t, false)
	answer := chattest.Answer()
	w.bot.On("how do I roll back a release?", answers(answer))
	w.ann.Says(w.general, "", "<@"+slacktest.Bot+"> how do I roll back a release?")
	w.ben.Presses(w.general, "Not helpful")
	w.ben.Presses(w.general, "Why")
	w.clean(t)
	if w.ben.Open() == nil {
		t.Fatal("no modal is open")
	}
	if got := string(w.ben.Open().JSON); !strings.Contains(got, "Searched for") {
		t.Errorf("the modal lacks the searches: %s", got)
	}
}

func TestRetriesAreHeardWhenTheFirstDeliveryDied(t *testing.T) {
	w := newTeam(t, false)
	w.bot.FailNext(errors.New("the store is down"))
	w.ann.Says(w.general, "", "<@"+slacktest.Bot+"> hello")
	w.clock.Advance(10 * time.Minute)
	w.clean(t)
	if got := len(w.bot.Messages()); got != 1 {
		t.Errorf("%d messages reached the bot", got)
	}
	for _, delivery := range w.Deliveries() {
		if delivery.Type == "app_mention" && len(delivery.Attempts) != 2 {
			t.Errorf("%d attempts", len(delivery.Attempts))
		}
	}
}

func TestRefusesWhatIsNotSlack(t *testing.T) {
	w := newTeam(t, false)
	handler := w.adapter.Handler()
	post := func(path, body string, change func(http.Header)) int {
		request, err := http.NewRequest(http.MethodPost, path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header = w.Sign([]byte(body))
		if change != nil {
			change(request.Header)
		}
		recorder := &statusRecorder{header: http.Header{}}
		handler.ServeHTTP(recorder, request)
		return recorder.status
	}
	good := string(event(`{"type":"reaction_added"}`))
	for name, test := range map[string]struct {
		path, body string
		change     func(http.Header)
		want       int
	}{
		"good":              {"/events", good, nil, 200},
		"unsigned":          {"/events", good, func(h http.Header) { h.Del("X-Slack-Signature") }, 401},
		"wrongly signed":    {"/events", good, func(h http.Header) { h.Set("X-Slack-Signature", "v0="+strings.Repeat("00", 32)) }, 401},
		"old":               {"/events", good, func(h http.Header) { h.Set("X-Slack-Request-Timestamp", "1") }, 401},
		"not JSON":          {"/events", "{", nil, 400},
		"no payload":        {"/interactive", "x=1", nil, 400},
		"too large":         {"/events", strings.Repeat("x", webhook.MaxBody+1), nil, 413},
		"elsewhere":         {"/other", good, nil, 404},
		"nobody's command":  {"/commands", "command=/cairn", nil, 200},
		"unknown envelopes": {"/events", `{"type":"weather"}`, nil, 200},
	} {
		if got := post(test.path, test.body, test.change); got != test.want {
			t.Errorf("%s: %d, want %d", name, got, test.want)
		}
	}
	for range 50 {
		if got := post("/events", good, func(h http.Header) { h.Del("X-Slack-Signature") }); got != 401 {
			t.Errorf("unsigned again: %d", got)
		}
	}
	if got := strings.Count(w.log.String(), `reason="no signature"`); got != 1 {
		t.Errorf("51 unsigned deliveries made %d lines of the log", got)
	}
	w.clock.Advance(6 * time.Minute)
	if strings.Contains(w.log.String(), slacktest.BotToken) || strings.Contains(w.log.String(), slacktest.SigningSecret) {
		t.Error("a secret is in the log")
	}
}

type statusRecorder struct {
	header http.Header
	status int
}

func (r *statusRecorder) Header() http.Header { return r.header }
func (r *statusRecorder) WriteHeader(s int)   { r.status = s }
func (r *statusRecorder) Write(b []byte) (int, error) {
	if r.status == 0 {
		r.status = 200
	}
	return len(b), nil
}

func TestFindsWhatWasPosted(t *testing.T) {
	w := newTeam(t, false)
	root := w.ann.Says(w.general, "", "hello")
	thread := place{team: slacktest.Team, channel: w.general, root: root}.threadID()
	ctx := t.Context()
	post := func(key chat.PostKey, text string) (chat.MessageID, error) {
		return w.adapter.Post(ctx, thread, key, chat.Post{Reply: &chat.Reply{Run: "r", Outcome: chat.Answered, Text: text}})
	}
	if _, found, err := w.adapter.Find(ctx, thread, "k1"); found || err != nil {
		t.Errorf("found what is not there: %v", err)
	}
	id, err := post("k1", "one")
	if err != nil {
		t.Fatal(err)
	}
	if got, found, err := w.adapter.Find(ctx, thread, "k1"); got != id || !found || err != nil {
		t.Errorf("%s, %v, %v; want %s", got, found, err, id)
	}
	// The answer to the post is lost, the message is there.
	w.Fail("chat.postMessage", slacktest.Fault{Done: true, Status: 500})
	if _, err := post("k2", "two"); err == nil {
		t.Fatal("a lost answer was no error")
	}
	if _, found, err := w.adapter.Find(ctx, thread, "k2"); !found || err != nil {
		t.Errorf("a message whose answer was lost is not found: %v", err)
	}
	// The second of three messages fails: the post is taken up where it ended.
	long := strings.Repeat(chattest.Long(3000)+"\n\n", 6)
	w.Fail("chat.postMessage", slacktest.Fault{Done: true, Status: 200}, slacktest.Fault{Status: 503})
	for range 2 {
		if _, err := post("k3", long); err == nil {
			break
		}
		if _, found, err := w.adapter.Find(ctx, thread, "k3"); found || err != nil {
			t.Errorf("a post that lacks parts is found: %v", err)
		}
	}
	if id, err = post("k3", long); err != nil {
		t.Fatal(err)
	}
	if got, found, err := w.adapter.Find(ctx, thread, "k3"); got != id || !found || err != nil {
		t.Errorf("%s, %v, %v; want %s", got, found, err, id)
	}
	parts := 0
	for _, message := range w.Messages(w.general) {
		if strings.Contains(string(message.Metadata), `"k3"`) {
			parts++
		}
	}
	if parts != 3 {
		t.Errorf("%d parts", parts)
	}
	w.clean(t)
}

func TestEditsOfAnySize(t *testing.T) {
	w := newTeam(t, false)
	root := w.ann.Says(w.general, "", "hello")
	thread := place{team: slacktest.Team, channel: w.general, root: root}.threadID()
	short, long, file := "short", strings.Repeat(chattest.Long(3000)+"\n\n", 5), chattest.Long(30000)
	reply := func(text string) chat.Post {
		return chat.Post{Reply: &chat.Reply{Run: "r", Outcome: chat.Answered, Text: text}}
	}
	id, err := w.adapter.Post(t.Context(), thread, "k1", reply(short))
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		text  string
		notes int
		files int
	}{{long, 3, 0}, {file, 1, 1}, {long, 3, 0}, {short, 1, 0}, {file, 1, 1}, {file, 1, 1}, {short, 1, 0}} {
		w.clock.Advance(time.Minute)
		if err := w.adapter.Edit(t.Context(), thread, id, reply(step.text)); err != nil {
			t.Fatal(err)
		}
		notes, files := 0, 0
		for _, message := range w.Messages(w.general) {
			switch {
			case message.Deleted || message.User != slacktest.Bot:
			case len(message.Files) > 0:
				files++
			default:
				notes++
			}
		}
		if notes != step.notes || files != step.files {
			t.Errorf("%d characters: %d messages and %d files, want %d and %d", len(step.text), notes, files, step.notes, step.files)
		}
	}
	if err := w.adapter.Edit(t.Context(), thread, "9.9", reply(short)); !errors.Is(err, chat.ErrGone) {
		t.Errorf("edit of a message that is not there: %v", err)
	}
	w.clean(t)
}

func TestErrorsTellWhetherAnythingWasPosted(t *testing.T) {
	w := newTeam(t, false)
	closed := w.Channel("C0CLOSED", "closed")
	w.Archive(closed)
	root := w.ann.Says(w.general, "", "hello")
	in := func(channel, root string) chat.ThreadID {
		return place{team: slacktest.Team, channel: channel, root: root}.threadID()
	}
	post := func(thread chat.ThreadID) error {
		_, err := w.adapter.Post(t.Context(), thread, "k", chat.Post{Reply: &chat.Reply{Text: "x"}})
		return err
	}
	for _, thread := range []chat.ThreadID{in("C0NONE", "1.1"), in(closed, "1.1"), in(w.general, "1.1")} {
		if err := post(thread); !errors.Is(err, chat.ErrGone) {
			t.Errorf("%s: %v", thread, err)
		}
	}
	if err := post("web:K7"); !errors.Is(err, chat.ErrRefused) {
		t.Errorf("another adapter's thread: %v", err)
	}
	w.Fail("chat.postMessage", slacktest.Fault{Error: "invalid_blocks"})
	if err := post(in(w.general, root)); !errors.Is(err, chat.ErrRefused) {
		t.Errorf("refused blocks: %v", err)
	}
	w.Fail("chat.postMessage", slacktest.Fault{Status: 429, RetryAfter: time.Hour})
	var later *chat.RetryAfterError
	if err := post(in(w.general, root)); !errors.As(err, &later) || later.After < 59*time.Minute {
		t.Errorf("an hour's wait: %v", err)
	}
	w.clock.Advance(2 * time.Hour)
	w.Fail("chat.postMessage", slacktest.Fault{Status: 429, RetryAfter: time.Second})
	if err := post(in(w.general, root)); err != nil {
		t.Errorf("a short wait is waited for: %v", err)
	}
	w.Fail("chat.postMessage", slacktest.Fault{Status: 500})
	if err := post(in(w.general, root)); err == nil || errors.Is(err, chat.ErrGone) || errors.Is(err, chat.ErrRefused) || errors.As(err, &later) && later == nil {
		t.Errorf("a server's error: %v", err)
	}
}

func TestPacesItself(t *testing.T) {
	w := newTeam(t, false)
	root := w.ann.Says(w.general, "", "hello")
	thread := place{team: slacktest.Team, channel: w.general, root: root}.threadID()
	begun := w.clock.Now()
	for i := range 20 {
		if _, err := w.adapter.Post(t.Context(), thread, chat.PostKey(fmt.Sprint(i)), chat.Post{Reply: &chat.Reply{Text: "x"}}); err != nil {
			t.Fatal(err)
		}
	}
	for _, call := range w.Calls("chat.postMessage") {
		if call.Error != "" {
			t.Errorf("%s", call.Error)
		}
	}
	if took := w.clock.Now().Sub(begun); took < 19*time.Second || took > 25*time.Second {
		t.Errorf("20 messages took %s", took)
	}
}

func TestSocketMode(t *testing.T) {
	w := newTeam(t, true)
	within(t, "two connections", func() bool { return w.Connections() == 2 })
	w.ann.Says(w.general, "", "<@"+slacktest.Bot+"> hello")
	w.clock.Advance(10 * time.Second)
	w.ann.Command(w.general, "/cairn", "hello again")
	w.Settle() // what is not acknowledged on a connection is delivered again on the next
	w.Disconnect("refresh_requested")
	within(t, "two new connections", func() bool { return len(w.Calls("apps.connections.open")) >= 4 && w.Connections() == 2 })
	w.clock.Advance(10 * time.Second)
	direct := w.ann.DM()
	root := w.ann.Says(direct, "", "hi")
	w.Send([]byte(strings.ReplaceAll(string(event(`{"type":"message","user":"U0ANN","text":"odd","ts":"1.1","thread_ts":"`+root+`","channel":"`+direct+`","channel_type":"im","blocks":[{"type":"section","text":7}]}`)), `"T1"`, `"`+slacktest.Team+`"`)))
	w.Settle()
	var heard []string
	for _, message := range w.bot.Messages() {
		heard = append(heard, message.Text)
	}
	if got := strings.Join(heard, ", "); got != "hello, /cairn hello again, hi, odd" {
		t.Errorf("heard %q", got)
	}
	for _, delivery := range w.Deliveries() {
		if len(delivery.Attempts) != 1 || !delivery.Acked {
			t.Errorf("%s was tried %d times", delivery.Type, len(delivery.Attempts))
		}
	}
}

// within waits for something that happens in another goroutine.
func within(t *testing.T, what string, happened func() bool) {
	t.Helper()
	deadline := time.After(30 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !happened() {
		select {
		case <-deadline:
			t.Fatalf("never: %s", what)
		case <-tick.C:
		}
	}
}

func TestACommandWhereTheBotIsNotIn(t *testing.T) {
	w := newTeam(t, false)
	w.bot.On("/cairn how do I roll back?", asks(chattest.Question()))
	closed := w.Channel("C0CLOSED", "closed")
	w.Remove(closed)
	w.ann.Command(closed, "/cairn", "how do I roll back?")
	direct := w.ann.DM()
	w.ann.Presses(direct, "The API")
	w.Settle()
	if got := w.Show(direct); !strings.Contains(got, "You chose api") {
		t.Errorf("shown: %s", got)
	}
}

func TestALongPrivateAnswerHasItsFileInPrivate(t *testing.T) {
	w := newTeam(t, false)
	w.bot.On("/cairn everything", answers(chat.Reply{Run: "r", Outcome: chat.Answered, Text: chattest.Long(30000)}))
	w.ann.Command(w.general, "/cairn", "everything")
	w.clean(t)
	for _, message := range w.Messages(w.general) {
		if message.Only == "" {
			t.Errorf("everybody sees %+v", message)
		}
	}
	if got := w.Show(w.ann.DM()); !strings.Contains(got, "(30000 bytes)") {
		t.Errorf("shown: %s", got)
	}
}

func TestAStalledConnectionIsReplaced(t *testing.T) {
	w := newTeam(t, true)
	within(t, "two connections", func() bool { return w.Connections() == 2 })
	w.Stall()
	w.ann.Says(w.general, "", "<@"+slacktest.Bot+"> are you there?")
	within(t, "new connections", func() bool { return len(w.Calls("apps.connections.open")) >= 4 && w.Connections() == 2 })
	w.clock.Advance(10 * time.Minute) // Slack's retries
	within(t, "the message", func() bool { return len(w.bot.Messages()) == 1 })
}

func TestWhatIsWrongWithOptions(t *testing.T) {
	if _, err := New(Options{Sockets: 11}); err == nil || strings.Count(err.Error(), "\n") != 2 {
		t.Errorf("not all that is wrong is told: %v", err)
	}
}

func TestTheAgentPaneIsToldHowTheSessionStands(t *testing.T) {
	w := newTeam(t, false)
	w.bot.On("how do I roll back?", asks(chattest.Question()))
	direct := w.ann.DM()
	root := w.ann.Says(direct, "", "how do I roll back?")
	if got := w.Session(direct, root); got != "suspended" {
		t.Errorf("while a question waits: %q", got)
	}
	w.ann.Says(direct, root, "The API")
	if got := w.Session(direct, root); got != "active" {
		t.Errorf("after the answer: %q", got)
	}
	if w.ann.StopsSession(direct, root) {
		t.Error("nothing works, and could be stopped")
	}
	w.clean(t)
}

func TestAnAppThatIsNoAgentIsNotAskedTwice(t *testing.T) {
	w := newTeam(t, false)
	direct := w.ann.DM()
	w.Fail("agents.sessions.setStatus", slacktest.Fault{Error: "unknown_method"})
	w.ann.Says(direct, "", "hello")
	w.clock.Advance(10 * time.Second)
	w.ann.Says(direct, "", "hello again")
	if calls := len(w.Calls("agents.sessions.setStatus")); calls != 1 {
		t.Errorf("%d calls", calls)
	}
	w.clean(t)
}

func TestSlackHoldsEventsBack(t *testing.T) {
	w := newTeam(t, false)
	w.HoldBack()
	w.clean(t)
	if !strings.Contains(w.log.String(), "slack holds events back") {
		t.Error("nobody was told")
	}
}
