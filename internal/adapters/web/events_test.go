package web

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/chattest"
)

// listener follows a conversation's stream and puts its parts together as the page's
// script does.
type listener struct {
	*testing.T
	lines  *bufio.Scanner
	mark   string
	count  int // of updates
	drafts map[string][]string
	said   map[string]string
	list   string
}

func (v visitor) listen(t *testing.T, mark string) *listener {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, v.page+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Last-Event-ID", mark)
	response, err := v.client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { response.Body.Close() })
	if kind := response.Header.Get("Content-Type"); response.StatusCode != http.StatusOK || kind != "text/event-stream" {
		t.Fatalf("the stream answers %d, %s", response.StatusCode, kind)
	}
	l := &listener{T: t, lines: bufio.NewScanner(response.Body), mark: mark, drafts: make(map[string][]string), said: make(map[string]string)}
	l.lines.Buffer(nil, 1<<22)
	return l
}

// until reads events up to the first after which done holds.
func (l *listener) until(what string, done func() bool) {
	l.Helper()
	kind := ""
	for !done() {
		if !l.lines.Scan() {
			l.Fatalf("the stream ends before %s: %v", what, l.lines.Err())
		}
		field, value, _ := strings.Cut(l.lines.Text(), ": ")
		switch field {
		case "id":
			l.mark = value
		case "event":
			kind = value
		case "data":
			if kind == "threads" {
				l.decode(value, &l.list)
			} else {
				l.apply(value)
			}
			kind = ""
		}
	}
}

func (l *listener) decode(data string, into any) {
	l.Helper()
	if err := json.Unmarshal([]byte(data), into); err != nil {
		l.Fatal(err)
	}
}

func (l *listener) apply(data string) {
	l.Helper()
	var u update
	l.decode(data, &u)
	l.count++
	if u.Exchange != nil {
		l.drafts[u.ID] = nil
		if _, draft, ok := strings.Cut(*u.Exchange, `<div class="block">`); ok {
			l.drafts[u.ID] = []string{draft}
		}
		l.said[u.ID] = after(*u.Exchange, `class="part-said"`)
	}
	if u.Draft != nil {
		if u.Draft.From > len(l.drafts[u.ID]) {
			l.Fatalf("blocks from %d on, of %d", u.Draft.From, len(l.drafts[u.ID]))
		}
		l.drafts[u.ID] = l.drafts[u.ID][:u.Draft.From]
		for _, block := range u.Draft.Blocks {
			l.drafts[u.ID] = append(l.drafts[u.ID], string(block))
		}
	}
	if u.Said != nil {
		l.said[u.ID] = *u.Said
	}
}

func (l *listener) shows(texts map[string]string, part string) func() bool {
	return func() bool {
		for _, text := range texts {
			if strings.Contains(text, part) {
				return true
			}
		}
		return false
	}
}

func (l *listener) drafted(part string) func() bool {
	return func() bool {
		for _, blocks := range l.drafts {
			if strings.Contains(strings.Join(blocks, ""), part) {
				return true
			}
		}
		return false
	}
}

func token(text string) chattest.Script {
	return chattest.Streams(chat.Token{Run: "run-1", Text: text})
}

func TestTheFirstTokenIsShownBeforeTheReply(t *testing.T) {
	bot := &chattest.Bot{}
	first, second := make(chan struct{}), make(chan struct{})
	bot.On("write", chattest.InTurn(token("On **one"), chattest.Until(first), token(" command** [1].\n\nThen wait."), chattest.Until(second),
		chattest.Says(chat.Reply{Run: "run-1", Outcome: chat.Answered, Text: "In the end."})))
	v := newVisitor(t, serve(t, bot))
	l := v.listen(t, "")
	v.Send(t, "write")
	l.until("the first token", l.drafted("<p>On <strong>one</strong></p>"))
	close(first)
	l.until("the second", l.drafted(`<strong>one command</strong> <span class="cite">1</span>.</p>`+"\n<p>Then wait.</p>"))
	close(second)
	l.until("the reply", l.shows(l.said, "In the end."))
	for id, blocks := range l.drafts {
		if len(blocks) > 0 {
			t.Errorf("the draft of %s still stands: %q", id, blocks)
		}
	}
}

func TestARestartTakesTheDraftBack(t *testing.T) {
	bot := &chattest.Bot{}
	gate := make(chan struct{})
	bot.On("write", chattest.InTurn(token("Wrong.\n\nAll of it."), chattest.Until(gate),
		chattest.Streams(chat.Token{Run: "run-1", Restart: true, Text: "Right."}), chattest.Until(nil)))
	v := newVisitor(t, serve(t, bot))
	l := v.listen(t, "")
	v.Send(t, "write")
	l.until("the draft", l.drafted("All of it."))
	close(gate)
	l.until("the new draft", l.drafted("Right."))
	if l.drafted("Wrong.")() || l.drafted("All of it.")() {
		t.Errorf("the draft is %q", l.drafts)
	}
}

// TestAStreamGoesOnWhereItBroke cuts the stream again and again, and goes on from what
// was seen: in the end all is there, once.
func TestAStreamGoesOnWhereItBroke(t *testing.T) {
	const pieces = 12
	bot := &chattest.Bot{}
	gates := make([]chan struct{}, pieces)
	var scripts []chattest.Script
	for i := range gates {
		gates[i] = make(chan struct{})
		scripts = append(scripts, token(fmt.Sprintf("Piece %d.\n\n", i)), chattest.Until(gates[i]))
	}
	bot.On("write", chattest.InTurn(append(scripts, chattest.Says(chat.Reply{Run: "run-1", Outcome: chat.Answered, Text: "In the end."}))...))
	v := newVisitor(t, serve(t, bot))
	v.Send(t, "write")
	mark := ""
	for i := range gates {
		l := v.listen(t, mark)
		l.until(fmt.Sprintf("piece %d", i), l.drafted(fmt.Sprintf("Piece %d.", i)))
		for _, blocks := range l.drafts {
			if joined := strings.Join(blocks, ""); strings.Count(joined, "Piece 0.") != 1 || strings.Count(joined, "Piece") != i+1 {
				t.Fatalf("after %d cuts the draft is %q", i, joined)
			}
		}
		mark = l.mark
		close(gates[i])
	}
	l := v.listen(t, mark)
	l.until("the reply", l.shows(l.said, "In the end."))
	again := v.listen(t, l.mark)
	again.until("the list", func() bool { return again.list != "" })
	v.Send(t, "more")
	again.until("the next answer", again.shows(again.said, "You said: more"))
	if len(again.said) != 1 {
		t.Errorf("what was seen comes again: %q", again.said)
	}
}

func TestTheListIsLive(t *testing.T) {
	bot := sampleBot()
	w := serve(t, bot)
	v := newVisitor(t, w)
	l := v.listen(t, "")
	l.until("the empty list", func() bool { return strings.Contains(l.list, "is listed here") })
	other := v
	other.page = w.URL() + "t/" + newThreadID()
	other.Send(t, "Roll it back")
	l.until("the question", func() bool { return strings.Contains(l.list, "Waits for your answer") })
	other.Choose(t, 1)
	l.until("the answer", func() bool {
		return strings.Contains(l.list, "Roll it back") && !strings.Contains(l.list, "Waits") && !strings.Contains(l.list, "Working")
	})
}

func TestAStopIsNotKeptWaiting(t *testing.T) {
	bot := &chattest.Bot{}
	begun := make(chan struct{})
	bot.On("forever", chattest.InTurn(func(context.Context, chat.Message, chat.Conversation) error {
		close(begun)
		return nil
	}, chattest.Until(nil)))
	v := newVisitor(t, serve(t, bot))
	v.Send(t, "forever")
	<-begun
	if shown := v.Say(t, "stop"); !strings.Contains(shown, "All right, I stopped.") {
		t.Errorf("stop shows %q", shown)
	}
	v.Say(t, "next")
	if page := v.get(t); !strings.Contains(page, ">Stopped.<") && !strings.Contains(page, "<p>Stopped.</p>") {
		t.Error("the page does not tell that the run was stopped")
	}
}

func TestARatingIsShownUntilItIsTakenBack(t *testing.T) {
	bot := sampleBot()
	v := newVisitor(t, serve(t, bot))
	v.Say(t, "How do I roll back a release?")
	for _, verdict := range []chat.Verdict{chat.Up, chat.Down, chat.Unrated} {
		v.Rate(t, verdict)
		page := v.get(t)
		if up, down := strings.Contains(page, `aria-label="Helpful" aria-pressed="true"`), strings.Contains(page, `aria-label="Not helpful" aria-pressed="true"`); up != (verdict == chat.Up) || down != (verdict == chat.Down) {
			t.Errorf("after %q the page shows up %v, down %v", verdict, up, down)
		}
	}
	if left := bot.Ratings(chattest.Answer().Run); len(left) != 0 {
		t.Errorf("left are %+v", left)
	}
}

func BenchmarkDraft(b *testing.B) {
	text := strings.Repeat(chattest.Answer().Text+"\n\n", 8)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := draftBlocks(text); err != nil {
			b.Fatal(err)
		}
	}
}
