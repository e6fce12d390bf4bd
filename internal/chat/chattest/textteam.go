package chattest

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/interact"
)

// TextTeam is a Team on the platform of a TextAdapter. Make one with NewTextTeam.
type TextTeam struct {
	adapter *TextAdapter

	mu     sync.Mutex
	events int              // how many there were: ids are made of it
	thread chat.ThreadID    // of the conversation that goes on
	last   map[Person]Event // messages
	press  map[Person]Event // buttons
}

var _ Team = (*TextTeam)(nil)

// newID makes an id that nothing else has.
func (w *TextTeam) newID() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events++
	return "e" + strconv.Itoa(w.events)
}

// NewTextTeam makes a team whose adapter runs.
func NewTextTeam(adapter *TextAdapter) *TextTeam {
	return &TextTeam{adapter: adapter, last: map[Person]Event{}, press: map[Person]Event{}}
}

// receive hands an event to the adapter.
func (w *TextTeam) receive(t *testing.T, who Person, event Event) {
	t.Helper()
	event.By, event.Manager = chat.UserID(who), who == Ben
	if event.ID == "" {
		event.ID = chat.MessageID(w.newID())
	}
	if event.Kind == MessageWritten {
		w.mu.Lock()
		if event.Mention {
			w.thread = chat.NewThreadID("platform", string(event.ID))
		}
		event.Thread = w.thread
		w.last[who] = event
		w.mu.Unlock()
	}
	if err := w.adapter.Receive(t.Context(), event); err != nil {
		t.Errorf("%s: %v", who, err)
	}
}

// Mention implements Team.
func (w *TextTeam) Mention(t *testing.T, who Person, text string) {
	t.Helper()
	w.receive(t, who, Event{Text: text, Mention: true})
}

// Say implements Team.
func (w *TextTeam) Say(t *testing.T, who Person, text string) {
	t.Helper()
	w.receive(t, who, Event{Text: text, Reply: true})
}

// Command implements Team: its thread is the person's own.
func (w *TextTeam) Command(t *testing.T, who Person, text string) {
	t.Helper()
	w.receive(t, who, Event{Kind: CommandGiven, Text: text, Thread: chat.NewThreadID("platform", "@"+string(who)+"/"+w.newID())})
}

// Edit implements Team.
func (w *TextTeam) Edit(t *testing.T, who Person, text string) {
	t.Helper()
	w.mu.Lock()
	event := w.last[who]
	w.mu.Unlock()
	event.Kind, event.Text = MessageEdited, text
	if text == "" {
		event.Kind = MessageDeleted
	}
	w.receive(t, who, event)
}

// PressAgain implements Team.
func (w *TextTeam) PressAgain(t *testing.T, who Person) {
	t.Helper()
	w.mu.Lock()
	event := w.press[who]
	w.mu.Unlock()
	w.receive(t, who, event)
}

// React implements Team.
func (w *TextTeam) React(t *testing.T, who Person, emoji string, on bool) {
	t.Helper()
	w.mu.Lock()
	thread := w.thread
	w.mu.Unlock()
	posted := w.adapter.Posted(thread)
	if len(posted) == 0 {
		t.Fatalf("%s sees nothing to react to", who)
	}
	kind := ReactionAdded
	if !on {
		kind = ReactionRemoved
	}
	w.receive(t, who, Event{Kind: kind, Thread: thread, ID: posted[len(posted)-1].ID, Text: emoji})
}

// Press implements Team.
func (w *TextTeam) Press(t *testing.T, who Person, label string) bool {
	t.Helper()
	seen := w.visible(who)
	for i := len(seen) - 1; i >= 0; i-- {
		for _, button := range seen[i].buttons {
			if button.label == label {
				event := Event{Kind: ButtonPressed, Thread: seen[i].thread, Text: label, Press: button.press}
				w.mu.Lock()
				w.press[who] = event
				w.mu.Unlock()
				w.receive(t, who, event)
				return true
			}
		}
	}
	return false
}

// Fill implements Team.
func (w *TextTeam) Fill(t *testing.T, who Person, text string) {
	t.Helper()
	for _, shown := range w.adapter.Shown() {
		if shown.Form != nil && shown.Only == chat.UserID(who) {
			press := *shown.Form
			press.Value = text
			w.receive(t, who, Event{Kind: ButtonPressed, Thread: shown.Thread, Text: text, Press: press})
			return
		}
	}
	t.Errorf("no form is open to %s", who)
}

// Seen implements Team.
func (w *TextTeam) Seen(_ *testing.T, who Person) string {
	var out strings.Builder
	for _, message := range w.visible(who) {
		out.WriteString(message.text + "\n")
		for _, button := range message.buttons {
			out.WriteString("[" + button.label + "] ")
		}
		out.WriteString("\n")
	}
	return out.String()
}

// Await implements Team.
func (w *TextTeam) Await(ctx context.Context, holds func() bool) error {
	return w.adapter.Await(ctx, holds)
}

// visibleMessage is a message as a person sees it.
type visibleMessage struct {
	thread  chat.ThreadID
	text    string
	buttons []visibleButton
}

type visibleButton struct {
	label string
	press interact.Press
}

// visible returns what a person sees: posts, drafts, and what the adapter shows by itself.
func (w *TextTeam) visible(who Person) []visibleMessage {
	var seen []visibleMessage
	for _, posted := range w.adapter.Posted("") {
		owner, private := strings.CutPrefix(string(posted.Thread), "platform:@")
		owner, _, _ = strings.Cut(owner, "/")
		if private && owner != string(who) || posted.Post.Only != "" && posted.Post.Only != chat.UserID(who) {
			continue
		}
		message := showPost(posted.Post, private)
		message.thread = posted.Thread
		seen = append(seen, message)
	}
	for _, draft := range w.adapter.Drafts("") {
		stop := visibleButton{"Stop", interact.Press{Verb: interact.Stop, About: string(draft.Work.Run)}}
		seen = append(seen, visibleMessage{draft.Work.Thread, draft.Text, []visibleButton{stop}})
	}
	for _, shown := range w.adapter.Shown() {
		if shown.Only == "" || shown.Only == chat.UserID(who) {
			seen = append(seen, visibleMessage{shown.Thread, shown.Text, visibleButtons(shown.Buttons)})
		}
	}
	return seen
}

func visibleButtons(buttons []interact.Button) []visibleButton {
	var shown []visibleButton
	for _, button := range buttons {
		shown = append(shown, visibleButton{button.Label, interact.Press{Verb: button.Verb, About: button.About}})
	}
	return shown
}

// showPost shows a post of the bot's.
func showPost(post chat.Post, private bool) visibleMessage {
	if question := post.Question; question != nil {
		shown := visibleMessage{text: plainText(textFormat.Read(question.Text, nil)) + post.Answer}
		for _, choice := range question.Choices {
			if post.Answer == "" {
				press := interact.Press{Verb: interact.Choose, About: question.ID, Value: choice.ID}
				shown.buttons = append(shown.buttons, visibleButton{choice.Label, press})
			}
		}
		return shown
	}
	reply := *post.Reply
	sources, _ := textFormat.SourceLine(reply.Sources)
	shown := visibleMessage{text: plainText(append(textFormat.Read(reply.Text, reply.Sources), sources)) + reply.Note}
	controls := interact.ReplyControls(reply, interact.Offer{Human: true, Private: private})
	if controls.Rating != "" {
		for _, thumb := range []struct {
			label   string
			verdict chat.Verdict
		}{{"Helpful", chat.Up}, {"Not helpful", chat.Down}} {
			press := interact.Press{Verb: interact.Rate, About: controls.Rating, Value: string(thumb.verdict)}
			shown.buttons = append(shown.buttons, visibleButton{thumb.label, press})
		}
	}
	shown.buttons = append(shown.buttons, visibleButtons(controls.Buttons)...)
	shown.buttons = append(shown.buttons, visibleButtons(controls.Menu)...)
	return shown
}
