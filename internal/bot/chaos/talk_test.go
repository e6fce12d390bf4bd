package chaos

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
)

// person talks in one thread, and knows what is to be posted there.
type person struct {
	*town
	thread chat.ThreadID
	sent   []chat.Message
	// want are the texts that are to be posted. Those of one entry answer messages that
	// were sent at the same time: they may come in any order.
	want [][]string
}

// talk is a person's part in the thread.
func (p *person) talk(ctx context.Context) {
	for i := 0; i < *messages; i++ {
		switch p.roll(3) {
		case 0:
			p.tell(ctx, fmt.Sprint("dig ", i))
		case 1: // they overtake each other
			p.tell(ctx, fmt.Sprint("dig ", i), fmt.Sprint("dig ", i, " too"))
			i++
		default:
			if !p.ask(ctx, fmt.Sprint(asks, " ", i)) {
				return
			}
		}
	}
	p.posted(ctx)
}

// tell sends messages at the same time.
func (p *person) tell(ctx context.Context, texts ...string) {
	var sending sync.WaitGroup
	var answers []string
	for _, text := range texts {
		message := p.message(text)
		sending.Go(func() { p.send(ctx, message) })
		answers = append(answers, text+" by splitabc")
	}
	sending.Wait()
	p.expect(answers...)
	if old := p.roll(10 * len(p.sent)); old < len(p.sent) && !p.forgetful() { // it was under way for long
		p.count("old delivery repeated")
		p.send(ctx, p.sent[old])
	}
}

// ask sends a message that is asked back about, and answers. false: it was not asked.
func (p *person) ask(ctx context.Context, text string) bool {
	p.send(ctx, p.message(text))
	p.expect("Which color for " + text + "?")
	if !p.posted(ctx) {
		return false
	}
	p.send(ctx, p.message("red"))
	p.expect(text + " red by splitabc")
	return true
}

func (p *person) message(text string) chat.Message {
	message := chat.Message{
		ID: chat.MessageID(fmt.Sprint("m", len(p.sent)+1)), Thread: p.thread, Author: "ann", Text: text, At: time.Now(),
	}
	p.sent = append(p.sent, message)
	return message
}

func (p *person) expect(texts ...string) { p.want = append(p.want, texts) }

// patience is how long a person waits where Redis may have forgotten the question.
const patience = 30 * time.Second

// posted waits until what is expected last was posted; false: it never was.
func (p *person) posted(ctx context.Context) bool {
	since, before := time.Now(), 0
	for {
		seen := p.seen()
		if !slices.ContainsFunc(p.want[len(p.want)-1], func(text string) bool { return !slices.Contains(seen, text) }) {
			return true
		}
		if len(seen) > before {
			since, before = time.Now(), len(seen)
		}
		if p.forgetful() && time.Since(since) > patience || ctx.Err() != nil {
			return false
		}
		wait(ctx, 100*time.Millisecond)
	}
}

// failure begins the line that a run failed.
const failure = "Something went wrong on my side"

// check compares what people see in the end with what they are to see. Where Redis may
// forget what it confirmed, answers may be missing, or refused, but none is there twice
// or out of order.
func (p *person) check() {
	seen := p.seen()
	if p.forgetful() {
		answers := slices.DeleteFunc(slices.Clone(seen), func(text string) bool { return strings.HasPrefix(text, failure) })
		for range len(seen) - len(answers) {
			p.count("answer refused")
		}
		seen = answers
	}
	missing, at := 0, 0
	for _, step := range p.want {
		before := at
		for at < len(seen) && slices.Contains(step, seen[at]) && !slices.Contains(seen[before:at], seen[at]) {
			at++
		}
		missing += len(step) - (at - before)
	}
	if at < len(seen) || missing > 0 && !p.forgetful() {
		p.t.Errorf("in thread %s people see:\n%s\nwant:\n%s\nlogged:\n%s", p.thread, strings.Join(seen, "\n"), p.wanted(), p.logged(string(p.thread)))
		return
	}
	for range missing {
		p.count("answer missing")
	}
}

func (p *person) wanted() string {
	var lines []string
	for _, step := range p.want {
		lines = append(lines, strings.Join(step, " / "))
	}
	return strings.Join(lines, "\n")
}

func (p *person) seen() []string {
	var seen []string
	for _, posted := range p.platform.Posted(p.thread) {
		if posted.Post.Question != nil {
			seen = append(seen, posted.Post.Question.Text)
		} else {
			seen = append(seen, posted.Post.Reply.Text)
		}
	}
	return seen
}

// send delivers a message as platforms do: again until it is taken, and sometimes twice.
func (tn *town) send(ctx context.Context, message chat.Message) {
	times := 1 + tn.roll(4)/3
	for taken := 0; taken < times && ctx.Err() == nil; {
		if tn.deliver(ctx, message) {
			taken++
			continue
		}
		wait(ctx, 50*time.Millisecond)
	}
}

func (tn *town) deliver(ctx context.Context, message chat.Message) bool {
	intake := tn.intakes[tn.roll(len(tn.intakes))]
	intake.mu.Lock()
	address := intake.address
	intake.mu.Unlock()
	body, err := json.Marshal(message)
	if err != nil {
		tn.t.Error(err)
		return true
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		tn.t.Error(err)
		return true
	}
	response, err := tn.client.Do(request)
	if err != nil {
		return false
	}
	if err := response.Body.Close(); err != nil {
		tn.t.Error(err)
	}
	return response.StatusCode == http.StatusOK
}
