package chattest

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/interact"
	"github.com/cairn-bot/cairn/internal/chat/render"
	"github.com/cairn-bot/cairn/internal/chat/settings"
)

// TextAdapter is the adapter of a third platform, as small as one can be, and an example of how
// one is written: everything that a platform's adapter has to say for itself is here. Its
// platform is a Platform, which posts; what happens there comes by Receive.
type TextAdapter struct {
	*Platform
	control *interact.Controller
	slot    *interact.Slot

	mu    sync.Mutex
	shown []Shown // what the adapter showed by itself
}

// Shown is a message that the adapter shows beside the bot's posts: a call for help, or what one
// person alone sees.
type Shown struct {
	Thread  chat.ThreadID
	Only    chat.UserID // "" is everybody
	Key     chat.PostKey
	Text    string
	Buttons []interact.Button
	Form    *interact.Press // that waits for the person's words
}

// Event is what a platform tells its adapter.
type Event struct {
	Kind    EventKind
	By      chat.UserID
	Thread  chat.ThreadID
	ID      chat.MessageID
	Text    string
	Mention bool // the message mentions the bot
	Reply   bool // the message is not the first of its thread
	Manager bool // the person may change settings
	Press   interact.Press
}

func (e Event) isHere(thread chat.ThreadID) bool { return thread == e.Thread }

// EventKind is what an event is about.
type EventKind int

// The kinds.
const (
	MessageWritten EventKind = iota
	MessageEdited
	MessageDeleted
	CommandGiven  // asks so that one person alone sees the answer
	ButtonPressed // also a form that was sent
	ReactionAdded // its text is the emoji, and its id the message's
	ReactionRemoved
)

// textFormat is what the platform can show of an answer.
var textFormat = render.Format{MaxAddress: 500, MaxTitle: 120, Deepest: 2, EmptyItem: "…"}

// textTerms are the platform's words for who manages it, and textSyntax is its command for them.
var (
	textTerms  = interact.Terms{Managers: "Who manages this place", AdminCommand: "/cairn admin", NotAsker: "You may not ask me here.", NotManager: "that takes a manager"}
	textSyntax = settings.Syntax{Command: "/cairn admin", Space: "team", Askers: strings.Fields}
	textSpace  = settings.Space("platform:team")
)

// NewTextAdapter makes an adapter that keeps its settings in a store.
func NewTextAdapter(platform *Platform, store settings.Store, logger *slog.Logger) *TextAdapter {
	return &TextAdapter{
		Platform: platform, slot: interact.NewSlot(),
		control: interact.NewController(interact.Options{Platform: platform.Name(), Settings: store, Logger: logger, Now: time.Now}),
	}
}

// Run implements chat.Adapter.
func (a *TextAdapter) Run(ctx context.Context, handler chat.Handler) error {
	bot, err := interact.NewHandler("text", handler)
	if err != nil {
		return err
	}
	a.slot.Fill(bot)
	defer a.slot.Empty()
	<-ctx.Done()
	return nil
}

// Ready is closed once Run takes events.
func (a *TextAdapter) Ready() <-chan struct{} { return a.slot.Ready() }

// Receive does what an event asks for; it returns once that is durable or done.
func (a *TextAdapter) Receive(ctx context.Context, event Event) error {
	bot := a.slot.Handler()
	if bot == nil {
		return fmt.Errorf("receive an event: the adapter does not run")
	}
	incoming, err := a.translate(ctx, event)
	if err != nil {
		return err
	}
	switch event.Kind {
	case MessageWritten:
		return a.control.Hear(ctx, bot, incoming)
	case MessageEdited:
		return a.control.Edit(ctx, bot, incoming, interact.WasAsked)
	case MessageDeleted:
		return a.control.Retract(ctx, bot, event.Thread, event.ID, interact.WasAsked)
	case CommandGiven:
		return a.giveCommand(ctx, bot, event, incoming)
	case ReactionAdded, ReactionRemoved:
		return a.handleReaction(ctx, bot, event)
	}
	press := event.Press
	press.By, press.Message, press.IsHere = event.By, incoming.Message, event.isHere
	press.To, press.In = &textSurface{a, event}, &textSurface{a, event}
	return a.control.Press(ctx, bot, press)
}

// translate makes of an event what the bot is to know of a message.
func (a *TextAdapter) translate(ctx context.Context, event Event) (interact.Incoming, error) {
	setting, err := a.control.Effective(ctx, textSpace, "general", settings.Setting{Mode: settings.ModeMention})
	if err != nil {
		return interact.Incoming{}, err
	}
	message := chat.Message{ID: event.ID, Thread: event.Thread, Author: event.By, Text: event.Text, At: time.Now()}
	if event.Kind == ButtonPressed && event.Press.Verb == interact.Choose {
		message.Answers = &chat.Press{Question: event.Press.About, Choice: event.Press.Value}
	}
	return interact.Incoming{
		Message: message, Mode: setting.Mode, Called: event.Mention, InThread: event.Reply, To: &textSurface{a, event},
		NoticeKey: "platform " + string(event.By),
		Admit: func(context.Context) (interact.Admission, error) {
			return textTerms.Admit(setting, nil, setting.Admits([]string{string(event.By)})), nil
		},
	}, nil
}

// giveCommand asks what a command says, or does what a manager wants.
func (a *TextAdapter) giveCommand(ctx context.Context, bot *interact.Handler, event Event, incoming interact.Incoming) error {
	if wishes, ok := textSyntax.Parse(event.Text, "general"); ok {
		line := textSyntax.Help()
		if len(wishes) > 0 {
			done, err := a.control.Manage(ctx, textTerms, wishes, settings.Change{By: event.By, Space: textSpace, Allowed: event.Manager}, settings.Setting{Mode: settings.ModeMention})
			if err != nil {
				return err
			}
			plain := func(text string) string { return text }
			if line = done.Refusal; line == "" {
				line = strings.Join(settings.Description{Put: done.Put, Holds: done.Holds, Escape: plain, Asker: plain}.Lines(), "\n")
			}
		}
		return incoming.To.Tell(ctx, line)
	}
	given, err := incoming.Admit(ctx)
	if err != nil {
		return err
	}
	if given.Refusal != "" {
		return incoming.To.Tell(ctx, given.Refusal)
	}
	return a.control.Submit(ctx, bot, incoming.Message, incoming.To)
}

// handleReaction keeps what a reaction to an answer says of it.
func (a *TextAdapter) handleReaction(ctx context.Context, bot *interact.Handler, event Event) error {
	verdict := interact.ReadReaction(event.Text)
	for _, posted := range a.Posted(event.Thread) {
		if posted.ID == event.ID && posted.Post.Reply != nil && verdict != chat.Unrated {
			return a.control.React(ctx, bot, interact.Reaction{
				Run: chat.RunID(interact.ReplyControls(*posted.Post.Reply, interact.Offer{}).Rating), By: event.By, Verdict: verdict,
				Removed: event.Kind == ReactionRemoved, IsHere: event.isHere, To: &textSurface{a, event},
			})
		}
	}
	return nil
}

// show shows a message beside the bot's posts.
func (a *TextAdapter) show(shown Shown) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.shown = append(a.shown, shown)
	a.signalChange()
}

// Shown returns what was shown beside the bot's posts, in order.
func (a *TextAdapter) Shown() []Shown {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.shown)
}

// textSurface is where the person of an event is answered, and where all see what comes of it.
type textSurface struct {
	*TextAdapter
	event Event
}

// Tell implements interact.Teller.
func (s *textSurface) Tell(_ context.Context, line string) error {
	s.show(Shown{Thread: s.event.Thread, Only: s.event.By, Text: line})
	return nil
}

// Acknowledge implements interact.Surface: the platform wants nothing.
func (*textSurface) Acknowledge(context.Context, interact.Next) error { return nil }

// Confirm implements interact.Surface.
func (s *textSurface) Confirm(ctx context.Context, line string) error { return s.Tell(ctx, line) }

// OfferReason implements interact.ReasonOfferer.
func (s *textSurface) OfferReason(_ context.Context, _ chat.RunID, line string, button interact.Button) error {
	s.show(Shown{Thread: s.event.Thread, Only: s.event.By, Text: line, Buttons: []interact.Button{button}})
	return nil
}

// AskReason implements interact.Surface.
func (s *textSurface) AskReason(_ context.Context, run chat.RunID) error {
	s.show(Shown{Thread: s.event.Thread, Only: s.event.By, Text: "What was wrong with this answer?", Form: &interact.Press{Verb: interact.Reason, About: string(run)}})
	return nil
}

// ShowExplanation implements interact.Surface: the platform has no pictures.
func (s *textSurface) ShowExplanation(ctx context.Context, shown interact.Explanation) error {
	lines := []string{render.TraceTitle}
	for _, section := range render.TraceSections(shown.Trace, render.TraceRoom{Lines: 8, Length: 90}) {
		lines = append(append(lines, section.Heading), section.Lines...)
	}
	return s.Tell(ctx, strings.Join(append(lines, render.TraceFooter(shown.Run, shown.Trace)), "\n"))
}

// ShowSources implements interact.Surface.
func (s *textSurface) ShowSources(ctx context.Context, groups []chat.SourceGroup) error {
	pieces, _ := textFormat.Sources(groups, time.Now(), render.Room{Rows: 60, Budget: 4000, Cost: func(p render.Piece) int { return len(render.Plain(p.Runs)) }})
	return s.Tell(ctx, plainText(pieces))
}

// Humans implements interact.Board.
func (s *textSurface) Humans(context.Context) ([]string, error) { return []string{string(Ben)}, nil }

// PostHelp implements interact.Board.
func (s *textSurface) PostHelp(_ context.Context, key chat.PostKey, request interact.HelpRequest) (already bool, err error) {
	if slices.ContainsFunc(s.Shown(), func(shown Shown) bool { return shown.Key == key }) {
		return true, nil
	}
	s.show(Shown{Thread: s.event.Thread, Key: key, Text: helpText(request), Buttons: request.Buttons()})
	return false, nil
}

// UpdateHelp implements interact.Board.
func (s *textSurface) UpdateHelp(_ context.Context, key chat.PostKey, request interact.HelpRequest) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.shown {
		if s.shown[i].Key == key {
			s.shown[i].Text, s.shown[i].Buttons = helpText(request), request.Buttons()
		}
	}
	s.signalChange()
	return nil
}

// ShareReply implements interact.Board.
func (s *textSurface) ShareReply(ctx context.Context, key chat.PostKey, reply chat.Reply) (already bool, err error) {
	const channel chat.ThreadID = "platform:general"
	if _, already, err = s.Find(ctx, channel, key); err == nil && !already {
		_, err = s.Post(ctx, channel, key, chat.Post{Reply: &reply})
	}
	return already, err
}

func helpText(request interact.HelpRequest) string {
	var line strings.Builder
	for _, run := range request.Headline() {
		line.WriteString(run.User + run.Text)
	}
	return strings.Join([]string{line.String(), request.Question, request.Reason}, "\n")
}

// plainText shows pieces line by line.
func plainText(pieces []render.Piece) string {
	var out strings.Builder
	for _, piece := range pieces {
		out.WriteString(render.Plain(piece.Runs) + "\n")
	}
	return out.String()
}
