package discord

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/cairn-bot/cairn/internal/adapters/discord/discordtest"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/chattest"
	"github.com/cairn-bot/cairn/internal/chat/interact"
	"github.com/cairn-bot/cairn/internal/chat/posttest"
	"github.com/cairn-bot/cairn/internal/chat/settings"
	"github.com/cairn-bot/cairn/internal/chat/webhook"
)

const bot = "<@" + discordtest.Bot + "> "

func (w *team) wait(t *testing.T) {
	t.Helper()
	w.settle(t)
	w.clock.Advance(20 * time.Second)
}

func TestAConversation(t *testing.T) {
	w := newTeam(t, nil)
	w.bot.On("how do I roll back a release?", chattest.Says(chattest.Answer()))
	w.bot.On("how do I roll back?", chattest.Asks(chattest.Question()))
	asked := w.Say(w.ann, w.general, bot+"how do I roll back a release?")
	w.wait(t)
	w.Say(w.ann, asked.ID, "and on staging?")
	w.wait(t)
	w.Say(w.ben, asked.ID, "thanks!")
	w.Say(w.ben, asked.ID, "<@"+w.ann+"> did you see this?")
	w.wait(t)
	w.Say(w.ben, w.general, "lunch?")
	second := w.Say(w.ann, w.general, bot+"how do I roll back?")
	w.wait(t)
	question, _ := w.Last(second.ID)
	w.Press(w.ben, question.ID, "The API")
	w.wait(t)
	w.Press(w.ann, question.ID, "The API")
	w.wait(t)
	w.clean(t)
	if got := len(w.bot.Messages()); got != 4 {
		t.Errorf("%d messages reached the bot: %+v", got, w.bot.Messages())
	}
	golden(t, "conversation", w.Show(w.general))
}

func TestDirectAndPrivate(t *testing.T) {
	w := newTeam(t, nil)
	w.bot.On("how do I roll back?", chattest.Asks(chattest.Question()))
	w.bot.On("/cairn ask how do I roll back?", chattest.Asks(chattest.Question()))
	w.bot.On("/cairn ask how do I roll back a release?", chattest.Says(chattest.Answer()))
	direct := w.DM(w.ann)
	w.Say(w.ann, direct, "how do I roll back?")
	w.wait(t)
	w.Say(w.ann, direct, "The database")
	w.wait(t)
	w.Slash(w.ann, direct, "cairn ask", discordtest.Option{Name: "question", Value: "how do I roll back a release?"})
	w.wait(t)
	whole := w.Show(direct)

	private := discordtest.Option{Name: "private", Value: "true"}
	asked := w.Slash(w.ann, w.general, "cairn ask", discordtest.Option{Name: "question", Value: "how do I roll back a release?"}, private)
	w.wait(t)
	if answer, ok := asked.Original(); !ok || answer.Only != w.ann {
		t.Errorf("the private answer is %+v", answer)
	} else {
		w.Press(w.ann, answer.ID, "Share in channel")
		w.wait(t)
	}
	asked = w.Slash(w.ann, w.general, "ask", discordtest.Option{Name: "question", Value: "how do I roll back?"}, private)
	w.wait(t)
	if question, ok := asked.Original(); ok {
		form := w.Press(w.ann, question.ID, "In my own words")
		w.wait(t)
		w.Submit(form.Modal(), map[string]string{"text": "The one of the web shop"})
		w.wait(t)
	}
	w.Slash(w.ben, w.general, "cairn status")
	w.wait(t)
	w.clean(t)
	golden(t, "direct", whole+w.Show(w.general))
}

func TestButtonsUnderAnAnswer(t *testing.T) {
	w := newTeam(t, nil)
	w.bot.On("how do I roll back a release?", chattest.Says(chattest.Answer()))
	asked := w.Say(w.ann, w.general, bot+"how do I roll back a release?")
	w.wait(t)
	answer, _ := w.Last(asked.ID)
	w.Press(w.ben, answer.ID, "Helpful")
	w.wait(t)
	form := w.Press(w.ann, answer.ID, "Not helpful")
	w.wait(t)
	w.Submit(form.Modal(), map[string]string{"text": "It is out of date."})
	w.wait(t)
	w.Press(w.ben, answer.ID, "Why")
	w.wait(t)
	for range 2 {
		w.Press(w.ann, answer.ID, "Ask a human")
		w.wait(t)
	}
	for _, message := range w.Messages(asked.ID) {
		if strings.Contains(message.Content, "would like a person") {
			if len(message.Users) != 1 || message.Users[0] != w.ben {
				t.Errorf("called are %v", message.Users)
			}
			w.Press(w.ben, message.ID, "Resolved")
			w.wait(t)
		}
	}
	w.clean(t)
	ratings, err := w.bot.RatingsOf(t.Context(), chattest.Answer().Run)
	if err != nil || len(ratings) != 2 || ratings[0].Reason+ratings[1].Reason != "It is out of date." {
		t.Errorf("the ratings are %+v, %v", ratings, err)
	}
	golden(t, "buttons", w.Show(w.general))
}

func TestAManagedServer(t *testing.T) {
	w := newTeam(t, nil)
	boss := w.guild.Member("Boss", w.guild.Role("boss", discordtest.Permissions(discordgo.PermissionManageGuild|discordgo.PermissionViewChannel|discordgo.PermissionSendMessages)))
	role := w.guild.Role("staff", 0)
	cleo := w.guild.Member("Cleo", role)
	admin := func(does string, options ...discordtest.Option) {
		t.Helper()
		w.Slash(boss, w.general, "cairn-admin "+does, options...)
		w.wait(t)
	}
	ask := func(person, text string) {
		t.Helper()
		w.Say(person, w.general, text)
		w.wait(t)
	}
	admin("show")
	admin("style", discordtest.Option{Name: "style", Value: "reply"})
	ask(w.ann, bot+"one")
	last, _ := w.Last(w.general)
	w.Reply(w.ann, last.ID, "and two")
	w.wait(t)
	admin("roles", discordtest.Option{Name: "role", Value: role})
	ask(w.ann, bot+"not heard")
	ask(cleo, bot+"three")
	admin("roles", discordtest.Option{Name: "role", Value: role})
	admin("mode", discordtest.Option{Name: "mode", Value: "questions"}, discordtest.Option{Name: "channel", Value: w.general})
	ask(w.ann, "who is there?")
	ask(w.ann, "nobody.")
	admin("off")
	admin("reset", discordtest.Option{Name: "channel", Value: w.general})
	ask(w.ann, bot+"not heard either")
	w.Slash(w.ann, w.general, "cairn ask", discordtest.Option{Name: "question", Value: "am I heard?"})
	w.wait(t)
	admin("on")
	admin("collections", discordtest.Option{Name: "collection", Value: "handbook, @runbooks"})
	ask(w.ann, bot+"four")
	if heard := w.bot.Messages(); !slices.Equal(heard[len(heard)-1].Collections, []string{"handbook", "runbooks"}) {
		t.Errorf("the last message may be answered from %q", heard[len(heard)-1].Collections)
	}
	if w.Offered(w.ann, w.general, "cairn-admin") {
		t.Error("people without the permission are offered /cairn-admin")
	}
	w.clean(t)
	golden(t, "admin", w.Show(w.general))
}

func TestForumPosts(t *testing.T) {
	forum := ""
	w := newTeam(t, func(options *Options) {
		options.Default = func(_, channel string) settings.Setting {
			if channel == forum {
				return settings.Setting{Mode: settings.ModeThread}
			}
			return settings.Setting{}
		}
	})
	forum = w.guild.Forum("help")
	other := w.guild.Forum("ideas")
	w.settle(t)
	asked := w.OpenPost(w.ann, forum, "How do I roll back?", discordtest.Posting{Text: "The deploy failed."})
	w.wait(t)
	w.Say(w.ben, asked, "who else has this problem?")
	w.wait(t)
	w.OpenPost(w.ann, other, "More cake?", discordtest.Posting{Text: "Yes?"})
	w.wait(t)
	w.clean(t)
	golden(t, "forum", w.Show(asked))
	if got := len(w.bot.Messages()); got != 2 {
		t.Errorf("%d messages reached the bot: %+v", got, w.bot.Messages())
	}
}

func TestACommandOnAMessage(t *testing.T) {
	w := newTeam(t, nil)
	for _, style := range []settings.ReplyStyle{settings.ReplyInThread, settings.ReplyInPlace} {
		if err := w.store.Put(t.Context(), settings.NewSpace(Name, w.guild.ID), w.general, settings.Setting{Style: style}); err != nil {
			t.Fatal(err)
		}
		w.wait(t)
		w.Menu(w.ben, w.Say(w.ann, w.general, "The deploy failed again, what now").ID, "Ask Cairn about this")
		w.wait(t)
	}
	w.clean(t)
	golden(t, "about", w.Show(w.general))
}

// TestARunThatOutlivesItsCommand answers a command after Discord took the right to do so
// back: by ordinary messages, and directly where one person alone was to see it.
func TestARunThatOutlivesItsCommand(t *testing.T) {
	w := newTeam(t, nil)
	slow := func(ctx context.Context, message chat.Message, conversation chat.Conversation) error {
		w.clock.Advance(20 * time.Minute)
		return conversation.Reply(ctx, chat.Reply{Run: "run-1", Outcome: chat.Answered, Text: "At last: " + message.Text})
	}
	w.bot.On("/cairn ask slowly", slow)
	question := discordtest.Option{Name: "question", Value: "slowly"}
	w.Slash(w.ann, w.general, "cairn ask", question)
	w.wait(t)
	w.Slash(w.ann, w.general, "cairn ask", question, discordtest.Option{Name: "private", Value: "true"})
	w.wait(t)
	w.clean(t)
	golden(t, "outlived", w.Show(w.general)+w.Show(w.DM(w.ann)))
}

func TestMoreThanFiveChoicesAreAMenu(t *testing.T) {
	w := newTeam(t, nil)
	question := chat.Question{ID: "q-many", Run: "run-1", Text: "Which one?"}
	for i := range 10 {
		question.Choices = append(question.Choices, chat.Choice{ID: strings.Repeat("long id ", 30) + strconv.Itoa(i), Label: "Number " + strconv.Itoa(i)})
	}
	w.bot.On("which?", chattest.Asks(question))
	asked := w.Say(w.ann, w.general, bot+"which?")
	w.wait(t)
	shown, _ := w.Last(asked.ID)
	w.Select(w.ann, shown.ID, "Number 7")
	w.wait(t)
	w.clean(t)
	heard := w.bot.Messages()
	if press := heard[len(heard)-1].Answers; press == nil || press.Choice != question.Choices[7].ID || press.Question != "q-many" {
		t.Errorf("heard %+v", press)
	}
}

func TestALongAnswerIsSeveralMessagesOrAFile(t *testing.T) {
	w := newTeam(t, nil)
	w.bot.On("long", chattest.Says(chat.Reply{Run: "run-1", Outcome: chat.Answered, Text: chattest.Long(4000)}))
	w.bot.On("longer", chattest.Says(chat.Reply{Run: "run-1", Outcome: chat.Answered, Text: chattest.Long(20000)}))
	long := w.Say(w.ann, w.general, bot+"long")
	w.wait(t)
	longer := w.Say(w.ann, w.general, bot+"longer")
	w.wait(t)
	w.clean(t)
	if got := len(w.Messages(long.ID)); got < 3 {
		t.Errorf("the long answer is %d messages", got)
	}
	last, _ := w.Last(longer.ID)
	if len(last.Attachments) != 1 || string(w.Content(last.Attachments[0].ID)) != chattest.Long(20000) {
		t.Errorf("the longer answer is %+v", last.Attachments)
	}
}

// changing is a bot that notes changes of messages.
type changing struct {
	*posttest.Bot
	mu  sync.Mutex
	log []string
}

func (c *changing) note(line string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.log = append(c.log, line)
	return nil
}

func (c *changing) Edited(_ context.Context, message chat.Message) error {
	return c.note("edited " + string(message.ID) + " in " + string(message.Thread) + " to " + message.Text)
}

func (c *changing) Deleted(_ context.Context, thread chat.ThreadID, message chat.MessageID) error {
	return c.note("deleted " + string(message) + " in " + string(thread))
}

func TestChangedMessages(t *testing.T) {
	var bot1 *changing
	w := newTeam(t, nil)
	bot1 = &changing{Bot: w.bot}
	w.adapter.running.Fill(&interact.Handler{Bot: w.bot, Changes: bot1})
	asked := w.Say(w.ann, w.general, bot+"one")
	w.wait(t)
	follow := w.Say(w.ann, asked.ID, "what about two?")
	w.wait(t)
	other := w.Say(w.ben, w.general, "three?")
	w.wait(t)
	w.Edit(w.ann, asked.ID, bot+"eins")
	w.Edit(w.ann, follow.ID, "what about zwei?")
	w.Edit(w.ben, other.ID, "drei?")
	w.wait(t)
	w.Unfurl(asked.ID, `[{"title":"a link"}]`)
	w.Edit(w.ben, other.ID, bot+"drei?")
	w.wait(t)
	w.Delete(w.ann, follow.ID)
	w.Delete(w.ann, asked.ID)
	w.wait(t)
	w.clean(t)
	in := "discord:" + w.guild.ID + ":" + asked.ID
	want := []string{
		"edited " + w.general + "." + asked.ID + " in " + in + " to eins",
		"edited " + asked.ID + "." + follow.ID + " in " + in + " to what about zwei?",
		"deleted " + asked.ID + "." + follow.ID + " in " + in,
		"deleted " + w.general + "." + asked.ID + " in " + in,
	}
	if !slices.Equal(bot1.log, want) {
		t.Errorf("the bot heard\n%s\nwant\n%s", strings.Join(bot1.log, "\n"), strings.Join(want, "\n"))
	}
	heard := w.bot.Messages()
	if got := heard[len(heard)-1].Text; got != "drei?" || len(heard) != 3 {
		t.Errorf("heard last: %q, of %d", got, len(heard))
	}
}

// TestInteractionsOverHTTP has the app hear by an endpoint alone.
func TestInteractionsOverHTTP(t *testing.T) {
	w := newTeam(t, nil)
	options := w.adapter.options
	options.Gateway, options.PublicKey = nil, w.PublicKey()
	over := w.process(t, options)
	w.bot.Through(over)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- over.Run(ctx, w.bot) }()
	<-over.Ready()
	app := httptest.NewServer(over.Handler())
	t.Cleanup(func() {
		app.Close()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	if err := w.Endpoint(app.URL); err != nil {
		t.Fatal(err)
	}
	w.bot.On("/cairn ask how do I roll back a release?", chattest.Says(chattest.Answer()))
	asked := w.Slash(w.ann, w.general, "cairn ask", discordtest.Option{Name: "question", Value: "how do I roll back a release?"})
	answer, ok := asked.Original()
	if !ok || asked.Failed() || asked.Problem() != "" {
		t.Fatalf("the command failed: %s", asked.Problem())
	}
	if press := w.Press(w.ann, answer.ID, "Not helpful"); press.Modal() == nil {
		t.Errorf("no form: %s", press.Problem())
	}
	for name, test := range map[string]struct {
		body   string
		header http.Header
		want   int
	}{
		"unsigned": {`{"type":1}`, http.Header{}, 401},
		"of another": {`{"type":1}`, http.Header{
			"X-Signature-Ed25519": {strings.Repeat("00", 64)}, "X-Signature-Timestamp": {strconv.FormatInt(w.clock.Now().Unix(), 10)},
		}, 401},
		"not JSON":  {`{`, nil, 400},
		"too large": {`"` + strings.Repeat("x", webhook.MaxBody) + `"`, nil, 413},
		"unknown":   {`{"type":9}`, nil, 202},
		"again":     {string(asked.Payload), nil, 202},
	} {
		if got, err := w.Redeliver(app.URL, []byte(test.body), test.header); got != test.want || err != nil {
			t.Errorf("%s: status %d, %v, want %d", name, got, err, test.want)
		}
	}
	for range 50 {
		if got, err := w.Redeliver(app.URL, []byte(`{"type":1}`), http.Header{}); got != 401 || err != nil {
			t.Errorf("unsigned again: status %d, %v", got, err)
		}
	}
	if got := strings.Count(w.log.String(), `reason="no signature"`) + strings.Count(w.log.String(), `reason="no timestamp"`); got != 1 {
		t.Errorf("51 unsigned deliveries made %d lines of the log", got)
	}
	old := w.Sign([]byte(`{"type":1}`))
	w.clock.Advance(6 * time.Minute)
	if got, err := w.Redeliver(app.URL, []byte(`{"type":1}`), old); got != 401 || err != nil {
		t.Errorf("an old signature: status %d, %v", got, err)
	}
	if got := len(w.bot.Messages()); got != 1 {
		t.Errorf("%d messages reached the bot", got)
	}
}

func TestFieldsAreCompleted(t *testing.T) {
	w := newTeam(t, func(options *Options) { options.Catalog = catalog{"handbook", "runbooks", "Hand outs", "日本"} })
	for typed, want := range map[string]string{"": "handbook|runbooks|Hand outs|日本", "hand": "handbook|Hand outs", "book": "handbook|runbooks", "x": "", "@日": "日本"} {
		asked := w.Complete(w.ann, w.general, "cairn analyze", discordtest.Option{Name: "collection", Value: typed})
		w.wait(t)
		var names []string
		for _, choice := range asked.Choices() {
			names = append(names, choice.Name)
		}
		if got := strings.Join(names, "|"); got != want {
			t.Errorf("%q offers %s, want %s", typed, got, want)
		}
	}
	w.clean(t)
}

type catalog []string

func (c catalog) Collections(context.Context) ([]chat.Collection, error) {
	var known []chat.Collection
	for _, name := range c {
		known = append(known, chat.Collection{Name: name})
	}
	return known, nil
}

// TestAThreadThatMayNotBeStarted has Cairn lack the permission, and say so.
func TestAThreadThatMayNotBeStarted(t *testing.T) {
	w := newTeam(t, nil)
	w.Overwrite(w.general, w.guild.ID, 0, discordtest.Permissions(discordgo.PermissionCreatePublicThreads))
	asked := w.Say(w.ann, w.general, bot+"one")
	w.settle(t)
	golden(t, "no-threads", w.Show(w.general))
	thread := place{guild: w.guild.ID, channel: asked.ID}.threadID()
	_, err := w.adapter.Post(t.Context(), thread, "k1", chat.Post{To: source{channel: w.general, message: asked.ID}.messageID(), Reply: &chat.Reply{Text: "x"}})
	if !errors.Is(err, chat.ErrGone) {
		t.Errorf("the error is %v", err)
	}
}
