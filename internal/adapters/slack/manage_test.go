package slack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/slack/slacktest"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/chattest"
	"github.com/cairn-bot/cairn/internal/chat/interact"
	"github.com/cairn-bot/cairn/internal/chat/posttest"
	"github.com/cairn-bot/cairn/internal/chat/settings"
)

// changer notes the changes that it hears of.
type changer struct {
	*posttest.Bot
	mu      sync.Mutex
	changed []string
}

func (c *changer) note(line string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changed = append(c.changed, line)
	return nil
}

func (c *changer) Edited(_ context.Context, message chat.Message) error {
	line := "edited to " + message.Text
	if len(message.Files) > 0 {
		line += fmt.Sprintf(" with %d files", len(message.Files))
	}
	return c.note(line)
}

func (c *changer) Deleted(_ context.Context, _ chat.ThreadID, _ chat.MessageID) error {
	return c.note("deleted")
}

// withChanges has a team's adapter run with a bot that hears of changes.
func withChanges(t *testing.T, w *team) *changer {
	t.Helper()
	bot := &changer{Bot: posttest.New()}
	bot.Through(w.adapter)
	hears, err := interact.NewHandler("Slack", bot)
	if err != nil {
		t.Fatal(err)
	}
	w.adapter.running.Fill(hears)
	return bot
}

func TestChangesReachTheBot(t *testing.T) {
	w := newTeam(t, false)
	bot := withChanges(t, w)
	mention := "<@" + slacktest.Bot + "> "
	asked := w.ann.Says(w.general, "", mention+"one") // is answered, so that it has replies
	w.clock.Advance(2 * time.Second)
	follow := w.ann.Says(w.general, asked, "and what of two?")
	other := w.ben.Says(w.general, "", "not for the bot")
	w.clock.Advance(2 * time.Second)

	w.ben.Edits(w.general, other, "still not for the bot")
	w.ann.Edits(w.general, asked, mention+"uno")
	w.ann.Edits(w.general, follow, "and what of dos?")
	w.ben.Edits(w.general, other, mention+"three") // now it is
	w.clock.Advance(2 * time.Second)
	w.ben.Edits(w.general, other, "tres")
	w.ben.Deletes(w.general, other)
	w.ann.Deletes(w.general, asked)
	w.clean(t)
	want := "edited to uno; edited to and what of dos?; edited to tres; deleted; deleted"
	if got := strings.Join(bot.changed, "; "); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if got := len(bot.Messages()); got != 3 {
		t.Errorf("%d messages were heard, want one, two and three", got)
	}
}

func TestWhatStandsUnderADeletedQuestionIsTakenBack(t *testing.T) {
	w := newTeam(t, false)
	room := w.room()
	id, err := w.adapter.Post(t.Context(), room.Thread, "k1", chat.Post{Reply: &chat.Reply{Run: "r", Text: strings.Repeat(chattest.Long(3000)+"\n\n", 5)}})
	if err != nil {
		t.Fatal(err)
	}
	w.ann.Deletes(w.general, string(room.To))
	if err := w.adapter.Retract(t.Context(), room.Thread, id); err != nil {
		t.Fatal(err)
	}
	for _, message := range w.Messages(w.general) {
		if message.User == slacktest.Bot && !message.Deleted {
			t.Errorf("left: %.80s", message.Text)
		}
	}
	w.clean(t)
}

func TestAPersonIsCalledOnceAndSaysThatItIsResolved(t *testing.T) {
	w := newTeam(t, false)
	w.adapter.options.Humans = func(_, channel string) []string {
		if channel == w.general || channel == w.ann.DM() {
			return []string{"U0BEN", "S0OPS"}
		}
		return nil
	}
	w.ann.Says(w.ann.DM(), "", "hello")
	if got := w.Show(w.ann.DM()); strings.Contains(got, "Ask a human") {
		t.Errorf("somebody can be called into a direct conversation: %s", got)
	}
	w.clock.Advance(2 * time.Second)
	w.bot.On("how do I roll back a release?", answers(chattest.Abstained()))
	root := w.ann.Says(w.general, "", "<@"+slacktest.Bot+"> how do I roll back a release?")
	w.ann.Presses(w.general, "Ask a human")
	w.clock.Advance(2 * time.Second)
	w.ben.Presses(w.general, "Ask a human")
	w.clock.Advance(2 * time.Second)
	called := w.Show(w.general)
	w.ben.Presses(w.general, "I’ll take it")
	w.clock.Advance(2 * time.Second)
	taken := w.Show(w.general)
	w.ben.Presses(w.general, "Resolved")
	w.clean(t)
	golden(t, "human", called+taken+w.Show(w.general))
	for _, message := range w.Messages(w.general) {
		if message.TS == root && strings.Join(message.Reactions, " ") != settledMark {
			t.Errorf("the thread is marked with %q", message.Reactions)
		}
	}
	w.ann.Command(w.general, "/cairn", "how do I roll back a release?")
	if messages := w.Messages(w.general); strings.Contains(string(messages[len(messages)-1].Blocks), "Ask a human") {
		t.Error("a person can be called to what nobody else sees")
	}
}

// Extend notes that an answer is to be longer.
func (c *changer) Extend(_ context.Context, run chat.RunID, by chat.UserID) error {
	return c.note(fmt.Sprintf("%s extends %s", by, run))
}

func TestShowMoreExtendsTheAnswer(t *testing.T) {
	w := newTeam(t, false)
	bot := withChanges(t, w)
	answer := chattest.Answer()
	answer.More = true
	bot.On("how do I roll back a release?", answers(answer))
	w.ann.Says(w.general, "", "<@"+slacktest.Bot+"> how do I roll back a release?")
	w.clock.Advance(2 * time.Second)
	if w.ann.Presses(w.general, "Show more") == nil {
		t.Fatalf("there is no such button:\n%s", w.Show(w.general))
	}
	w.clean(t)
	if got := strings.Join(bot.changed, ", "); got != "U0ANN extends "+string(answer.Run) {
		t.Errorf("changes: %s", got)
	}
}

func TestAReasonIsAskedForAndKept(t *testing.T) {
	w := newTeam(t, false)
	answer := chattest.Answer()
	w.bot.On("how do I roll back a release?", answers(answer))
	w.ann.Says(w.general, "", "<@"+slacktest.Bot+"> how do I roll back a release?")
	w.ben.Presses(w.general, "Not helpful")
	form := w.ben.Open()
	if form == nil {
		t.Fatal("no form is open")
	}
	rated := func() chat.Rating { return w.bot.Ratings(answer.Run)[0] }
	if got := rated(); got.Verdict != chat.Down || got.Reason != "" {
		t.Errorf("before the form is sent: %+v", got)
	}
	var told struct {
		Action string            `json:"response_action"`
		Errors map[string]string `json:"errors"`
	}
	if err := json.Unmarshal(w.ben.Submits(form, map[string]string{reasonBlock: "  "}).Response, &told); err != nil || told.Action != "errors" || told.Errors[reasonBlock] == "" {
		t.Errorf("an empty reason: %+v, %v", told, err)
	}
	w.ben.Submits(form, map[string]string{reasonBlock: "the command has another name now"})
	if got := rated(); got.Reason != "the command has another name now" || got.By != "U0BEN" {
		t.Errorf("kept: %+v", got)
	}
	w.ben.Presses(w.general, "Helpful")
	if got := rated(); got.Verdict != chat.Up || got.Reason != "" {
		t.Errorf("after another thumb: %+v", got)
	}
	w.clean(t)
}

func TestWhyHasAPicture(t *testing.T) {
	w := newTeam(t, false)
	w.bot.On("how do I roll back a release?", answers(chattest.Answer()))
	w.ann.Says(w.general, "", "<@"+slacktest.Bot+"> how do I roll back a release?")
	w.ann.Presses(w.general, "Why")
	w.clean(t)
	if got := string(w.ann.Open().JSON); !strings.Contains(got, `"slack_file"`) || !strings.Contains(got, "Searched for") {
		t.Errorf("shown: %s", got)
	}
	w.Fail("files.getUploadURLExternal", slacktest.Fault{Error: "missing_scope"})
	w.ann.Presses(w.general, "Why")
	if got := string(w.ann.Open().JSON); strings.Contains(got, `"slack_file"`) || !strings.Contains(got, "Searched for") {
		t.Errorf("without the picture: %s", got)
	}
}

func TestAllSourcesAreShown(t *testing.T) {
	w := newTeam(t, false)
	answer := chattest.Answer()
	for i := range 20 {
		answer.Sources[0].Sources = append(answer.Sources[0].Sources, chat.Source{Title: fmt.Sprintf("Document %d", i+1)})
	}
	w.bot.On("how do I roll back a release?", answers(answer))
	w.ann.Says(w.general, "", "<@"+slacktest.Bot+"> how do I roll back a release?")
	w.ann.Presses(w.general, "All sources")
	w.clean(t)
	if got := string(w.ann.Open().JSON); !strings.Contains(got, `"text":"All sources"`) || !strings.Contains(got, "Document 20") {
		t.Errorf("shown: %s", got)
	}
}

// shelf is a chat.Catalog.
type shelf []chat.Collection

func (s shelf) Collections(context.Context) ([]chat.Collection, error) { return s, nil }

func TestTheHomeTab(t *testing.T) {
	w := newTeam(t, false)
	w.adapter.options.Catalog = shelf{
		{Name: "handbook", Documents: 12, Passages: 340, Updated: chattest.Now.Add(-3 * time.Hour)},
		{Name: "<!channel> runbooks", Documents: 1, Passages: 2},
	}
	w.adapter.control = w.adapter.newController()
	w.ann.OpensHome()
	w.bot.On("how do I roll back?", asks(chattest.Question()))
	w.ann.Says(w.general, "", "<@"+slacktest.Bot+"> how do I roll back?")
	w.ann.Says(w.ann.DM(), "", "how many days of leave do I get?")
	w.ben.Says(w.general, "", "<@"+slacktest.Bot+"> somebody else's question")
	w.ann.OpensHome()
	w.clean(t)
	golden(t, "home", w.ShowHome("U0ANN"))
}

// TestTheHomeTabAsks asks by an example, and by the form behind the button.
func TestTheHomeTabAsks(t *testing.T) {
	w := newTeam(t, false)
	w.bot.On("How do I roll back?", answers(chattest.Answer()))
	w.bot.On("Who owns billing?", asks(chattest.Question()))
	w.ann.OpensHome()
	if w.ann.PressesHome("How do I roll back?") == nil {
		t.Fatalf("no example in the home tab:\n%s", w.ShowHome("U0ANN"))
	}
	w.clean(t)
	if open := w.ann.Open(); open == nil || !strings.Contains(string(open.JSON), answersDirectly) {
		t.Errorf("it is not said where the answer comes: %+v", open)
	}
	if w.ann.PressesHome("Ask a question") == nil {
		t.Fatal("no button to ask in the home tab")
	}
	form := w.ann.Open()
	empty := w.ann.Submits(form, map[string]string{askBlock: " "})
	if got := string(empty.Response); !strings.Contains(got, `"errors":{"question":"Write a question first."}`) {
		t.Errorf("an empty form is answered with %s", got)
	}
	sent := w.ann.Submits(form, map[string]string{askBlock: "Who owns billing?"})
	w.clean(t)
	if got := string(sent.Response); strings.Contains(got, "errors") {
		t.Errorf("a form is answered with %s", got)
	}
	golden(t, "home-asked", w.Show(w.ann.DM()))
}

// shut is a chat.Catalog that can't be read.
type shut struct{}

func (shut) Collections(context.Context) ([]chat.Collection, error) {
	return nil, errors.New("the index is shut")
}

func TestTheHomeTabWithoutACatalog(t *testing.T) {
	w := newTeam(t, false)
	w.adapter.options.Catalog = shut{}
	w.adapter.control = w.adapter.newController()
	w.ann.OpensHome()
	w.clean(t)
	if got := w.ShowHome("U0ANN"); !strings.Contains(got, "can't be listed") || !strings.Contains(got, "Other ways to ask") || strings.Contains(got, "shut") {
		t.Errorf("shown: %s", got)
	}
}

func TestAShortcutWhereTheBotIsNotIn(t *testing.T) {
	w := newTeam(t, false)
	closed := w.Channel("C0CLOSED", "closed")
	said := w.ben.Says(closed, "", "how do I roll back a release?")
	w.Remove(closed)
	w.ann.Shortcut(askShortcut, closed, said)
	if got := w.Show(w.ann.DM()); !strings.Contains(got, "/invite") {
		t.Errorf("shown: %s", got)
	}
	if got := len(w.bot.Messages()); got != 0 {
		t.Errorf("%d messages reached the bot", got)
	}
}

func TestWhatPeopleSayToEachOther(t *testing.T) {
	mine, theirs := chat.UserID("U0ANN"), chat.UserID("U0BEN")
	part := interact.Part{Taken: true, Last: mine}
	waiting := interact.Part{Taken: true, Last: mine, Waiting: true, Asker: mine}
	for _, test := range []struct {
		said string
		by   chat.UserID
		in   interact.Part
		how  settings.Mode
		want bool
	}{
		{"and on staging", mine, part, settings.ModeMention, true},
		{"explain the second step", mine, part, settings.ModeMention, true},
		{"thanks!", mine, part, settings.ModeMention, false},
		{"I'll try that", mine, part, settings.ModeMention, false},
		{"stop", mine, part, settings.ModeMention, true},
		{"how long does it take?", theirs, part, settings.ModeMention, true},
		{"let me look", theirs, part, settings.ModeMention, false},
		{"the staging one", mine, waiting, settings.ModeMention, true},
		{"the staging one", theirs, waiting, settings.ModeMention, false},
		{"the staging one", theirs, interact.Part{Taken: true, Waiting: true}, settings.ModeMention, true},
		{"how do I restart it?", theirs, interact.Part{}, settings.ModeMention, false},
		{"how do I restart it?", theirs, interact.Part{}, settings.ModeThread, true},
		{"I restarted it", theirs, interact.Part{}, settings.ModeThread, false},
		{"how do I restart it?", theirs, interact.Part{}, settings.ModeQuestions, true},
		{"how do I restart it?", theirs, part, settings.ModeOff, false},
	} {
		of := signal{kind: kindSaid, reply: true, message: chat.Message{Text: test.said, Author: test.by}}
		if got := of.toIncoming(test.how).Decide(test.in); got.Hear != test.want {
			t.Errorf("%q by %s, %s: %+v", test.said, test.by, test.how, got)
		}
	}
	for how, want := range map[settings.Mode]bool{settings.ModeMention: false, settings.ModeThread: false, settings.ModeQuestions: true, settings.ModeOff: false} {
		if got := (signal{kind: kindSaid, message: chat.Message{Text: "who owns billing?"}}).toIncoming(how).Decide(interact.Part{}); got.Hear != want {
			t.Errorf("a question in the channel, %s: %+v", how, got)
		}
	}
}

// regionClassifier takes for the bot's what speaks of a region, and fails at one question.
type regionClassifier struct {
	t     *testing.T
	asked int
}

func (c *regionClassifier) IsForBot(_ context.Context, thread []chat.Turn, text string) (bool, error) {
	c.asked++
	if len(thread) == 0 {
		c.t.Error("the classifier is not told what was said before")
	}
	if text == "what broke?" {
		return false, errors.New("the model is down")
	}
	return strings.Contains(text, "region"), nil
}

func TestAModelJudgesWhereTheRulesDoNotKnow(t *testing.T) {
	w := newTeam(t, false)
	classifier := &regionClassifier{t: t}
	w.adapter.options.Classifier = classifier
	w.adapter.control = w.adapter.newController()
	root := w.ann.Says(w.general, "", "<@"+slacktest.Bot+"> where does it run?")
	w.clock.Advance(2 * time.Second)
	for text, want := range map[string]struct{ heard, asked int }{
		"our region is north": {1, 1}, "did you see the game?": {0, 1}, "thanks!": {0, 0}, "<@U0ANN> which region?": {0, 0}, "what broke?": {1, 1},
	} {
		heard, before := len(w.bot.Messages()), classifier.asked
		w.ben.Says(w.general, root, text)
		w.clock.Advance(2 * time.Second)
		if got := len(w.bot.Messages()) - heard; got != want.heard || classifier.asked-before != want.asked {
			t.Errorf("%q: heard %d times, the model was asked %d times", text, got, classifier.asked-before)
		}
	}
}

func TestDraftsOfADeadWorkerDoNotTouchPosts(t *testing.T) {
	w := newTeam(t, false)
	room := w.room()
	if _, err := w.adapter.Post(t.Context(), room.Thread, "k1", room1("kept")); err != nil {
		t.Fatal(err)
	}
	w.clock.Advance(2 * time.Second)
	for _, method := range []string{"chat.startStream", ""} { // streamed, and edited
		if method != "" {
			w.Fail(method, slacktest.Fault{Error: "unknown_method"})
		}
		dead, err := w.adapter.Draft(t.Context(), chat.Work{Run: "run-1", Thread: room.Thread, To: room.To, Asker: "U0ANN"})
		if err != nil {
			t.Fatal(err)
		}
		w.streams(t, dead, "Half of ", "an answer")
	}
	if left := w.Left(t, room.Thread); left != 2 {
		t.Fatalf("%d drafts are left, want 2", left)
	}
	if _, err := w.process(t).Draft(t.Context(), chat.Work{Run: "run-1", Thread: room.Thread, To: room.To, Asker: "U0ANN", Again: true}); err != nil {
		t.Fatal(err)
	}
	if left := w.Left(t, room.Thread); left != 0 {
		t.Errorf("%d drafts are left\n%s", left, w.Show(w.general))
	}
	if got := w.Show(w.general); !strings.Contains(got, "kept") {
		t.Errorf("shown: %s", got)
	}
}

func room1(text string) chat.Post { return chat.Post{Reply: &chat.Reply{Run: "r", Text: text}} }

func TestFilesAreFetchedFromSlackAlone(t *testing.T) {
	w := newTeam(t, false)
	for address, want := range map[string]string{
		"https://files.slack.com.evil.example/x": "no host of Slack's",
		"http://files.slack.com/x":               "no host of Slack's",
		"https://evil.example/files.slack.com":   "no host of Slack's",
		":":                                      "no host of Slack's",
	} {
		_, err := w.adapter.downloadFile(t.Context(), address, slacktest.BotToken, 10)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), slacktest.BotToken) {
			t.Errorf("%s: %v", address, err)
		}
	}
	address := strings.TrimSuffix(w.APIURL(), "api/") + "files/F1/x.md"
	if _, err := w.adapter.downloadFile(t.Context(), address, "xoxb-wrong", 10); !errors.Is(err, chat.ErrGone) {
		t.Errorf("what is not there: %v", err)
	}
	w.ann.Shares(w.ann.DM(), "", "look", slacktest.File{Name: "a.md", Content: []byte("# A")})
	file := w.bot.Messages()[0].Files[0]
	address = strings.TrimSuffix(w.APIURL(), "api/") + fmt.Sprintf("files/%s/a.md", file.ID)
	if _, err := w.adapter.downloadFile(t.Context(), address, "xoxb-wrong", 10); err == nil || !strings.Contains(err.Error(), "files:read") {
		t.Errorf("without the scope: %v", err)
	}
}
