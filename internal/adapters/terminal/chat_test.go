package terminal

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/chattest"
)

// screen keeps what was written, for those who wait for it.
type screen struct {
	mu      sync.Mutex
	changed *sync.Cond
	shown   bytes.Buffer
	seen    int
}

func newScreen() *screen {
	s := &screen{}
	s.changed = sync.NewCond(&s.mu)
	return s
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changed.Broadcast()
	return s.shown.Write(p)
}

// until waits for text that was not there before, and gives what was shown up to it.
func (s *screen) until(text string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		rest := s.shown.String()[s.seen:]
		if at := strings.Index(rest, text); at >= 0 {
			s.seen += at + len(text)
			return rest[:at+len(text)]
		}
		s.changed.Wait()
	}
}

// piper is a person at the other end of a pipe.
type piper struct {
	in     *os.File
	screen *screen
}

func (p piper) Send(t *testing.T, text string) {
	t.Helper()
	if _, err := fmt.Fprintln(p.in, text); err != nil {
		t.Fatal(err)
	}
}

// Say ends with a command, whose answer shows that the message is done with.
func (p piper) Say(t *testing.T, text string) string {
	t.Helper()
	const end = "There is no command /end."
	p.Send(t, text)
	p.Send(t, "/end")
	return p.screen.until(end)
}

func (p piper) Choose(t *testing.T, number int) string {
	t.Helper()
	return p.Say(t, fmt.Sprint(number))
}

func openPiped(t *testing.T, bot *chattest.Bot) (*Chat, piper) {
	t.Helper()
	c, person, _ := openInterruptible(t, bot)
	return c, person
}

func openInterruptible(t *testing.T, bot *chattest.Bot) (*Chat, piper, chan os.Signal) {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { write.Close(); read.Close() })
	screen := newScreen()
	r := Renderer{Out: screen, Width: 200, Now: func() time.Time { return chattest.Now }}
	interrupts := make(chan os.Signal)
	c := NewChat(Options{In: read, Renderer: r, Author: "ada", Controls: bot, Interrupts: interrupts})
	return c, piper{write, screen}, interrupts
}

func TestAdapter(t *testing.T) {
	chattest.TestAdapter(t, func(t *testing.T, _ chat.Transcripts) (chat.Adapter, chattest.Client) {
		return openPiped(t, &chattest.Bot{})
	})
}

// commander is a piper who knows the commands, and Ctrl-C for what works.
type commander struct {
	piper
	interrupts chan os.Signal
	working    bool // the last message was not waited for
}

func (c *commander) Send(t *testing.T, text string) {
	t.Helper()
	c.working = true
	c.piper.Send(t, text)
}

func (c *commander) Stop(t *testing.T) string {
	t.Helper()
	if !c.working {
		return c.Say(t, "/stop")
	}
	c.working = false
	c.interrupts <- os.Interrupt
	return c.Say(t, "/help")
}

func (c *commander) Retry(t *testing.T) string {
	t.Helper()
	return c.Say(t, "/retry")
}

func (c *commander) Rate(t *testing.T, verdict chat.Verdict) {
	t.Helper()
	c.Say(t, "/"+string(verdict))
}

func (c *commander) Why(t *testing.T) string {
	t.Helper()
	return c.Say(t, "/why")
}

func TestControls(t *testing.T) {
	chattest.TestControls(t, func(t *testing.T, bot *chattest.Bot) (chat.Adapter, chattest.Client, chattest.Controller) {
		chat, person, interrupts := openInterruptible(t, bot)
		client := &commander{piper: person, interrupts: interrupts}
		return chat, client, client
	})
}

// begin runs a chat; ended gives what Run returned.
func begin(c *Chat, bot *chattest.Bot) (ended chan error) {
	ended = make(chan error, 1)
	go func() { ended <- c.Run(context.Background(), bot) }()
	return ended
}

func TestCommands(t *testing.T) {
	bot := &chattest.Bot{}
	bot.On("how?", chattest.Says(chattest.Answer()))
	c, person := openPiped(t, bot)
	ended := begin(c, bot)
	for _, step := range []struct{ write, want string }{
		{"/why", "There is no answer yet"},
		{"/up", "There is no answer yet to rate"},
		{"/retry", "did not fail"},
		{"/stop", "nothing to stop"},
		{"/help", "/depth [DEPTH]"},
		{"/depth", "as deep as configured"},
		{"/depth shallow", `"shallow" is no depth`},
		{"/depth Brief", "Answers will be brief."},
		{"/depth", "Answers are brief."},
		{"how?", "Deploying the API"},
		{"/why", "FAQ — Can I roll forward?"},
		{"/new", "new conversation"},
		{"/why", "There is no answer yet"},
		{"/nonsense \x1b[2J", "There is no command /nonsense."},
		{"again", "You said: again"},
	} {
		if shown := person.Say(t, step.write); !strings.Contains(shown, step.want) {
			t.Errorf("%s shows %q, want %q", step.write, shown, step.want)
		}
	}
	person.Send(t, "/quit")
	if err := <-ended; err != nil {
		t.Errorf("Run = %v, want nil", err)
	}
	messages := bot.Messages()
	if len(messages) != 2 || messages[0].Depth != chat.Brief || messages[0].Thread == messages[1].Thread {
		t.Errorf("messages are %+v, want two brief ones of two threads", messages)
	}
}

func TestNumberIsTextWithoutAQuestion(t *testing.T) {
	bot := &chattest.Bot{}
	bot.On("roll back", chattest.Asks(chattest.Question()))
	c, person := openPiped(t, bot)
	ended := begin(c, bot)
	person.Say(t, "2")
	person.Say(t, "roll back")
	person.Say(t, "5") // there are four
	person.in.Close()
	if err := <-ended; err != nil {
		t.Errorf("Run = %v at the end of the input, want nil", err)
	}
	for _, m := range bot.Messages() {
		if m.Answers != nil {
			t.Errorf("%q arrived as a press", m.Text)
		}
	}
}

func TestLineOverTheLimitIsRefused(t *testing.T) {
	bot := &chattest.Bot{}
	c, person := openPiped(t, bot)
	ended := begin(c, bot)
	go func() {
		//nolint:errcheck // the chat may end before it has read all of it
		person.in.WriteString(chattest.Long(longestLine + 1))
	}()
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "break it up") {
		t.Errorf("Run = %v, want an error that tells what to do", err)
	}
}

func TestInputFromAFile(t *testing.T) {
	path := t.TempDir() + "/questions.txt"
	if err := os.WriteFile(path, []byte("one\n\ntwo"), 0o644); err != nil {
		t.Fatal(err)
	}
	in, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	bot := &chattest.Bot{}
	c := NewChat(Options{In: in, Renderer: Renderer{Out: newScreen(), Width: 80}, Author: "ada", Controls: bot})
	if err := c.Run(t.Context(), bot); err != nil {
		t.Fatal(err)
	}
	if got := len(bot.Messages()); got != 2 {
		t.Errorf("%d messages arrived, want 2", got)
	}
}

// openTerminal puts a chat into a pseudo terminal, as a person sits before it.
func openTerminal(t *testing.T, bot *chattest.Bot) (person piper, interrupts chan os.Signal, ended chan error) {
	t.Helper()
	master, terminal, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := pty.Setsize(master, &pty.Winsize{Rows: 24, Cols: 60}); err != nil {
		t.Fatal(err)
	}
	screen := newScreen()
	var copying sync.WaitGroup
	copying.Go(func() {
		buffer := make([]byte, 4096)
		for {
			n, err := master.Read(buffer)
			if _, err := screen.Write(buffer[:n]); err != nil {
				t.Error(err)
			}
			if err != nil { // the other end is closed
				return
			}
		}
	})
	interrupts = make(chan os.Signal)
	r := Detect(terminal, func(name string) string { return map[string]string{"TERM": "xterm-256color"}[name] })
	c := NewChat(Options{In: terminal, Renderer: r, Live: true, Author: "ada", Controls: bot, Interrupts: interrupts, Welcome: "Ask away."})
	ended = begin(c, bot)
	t.Cleanup(func() {
		terminal.Close()
		copying.Wait()
		master.Close()
	})
	return piper{master, screen}, interrupts, ended
}

// press types keys.
func (p piper) press(t *testing.T, keys string) {
	t.Helper()
	if _, err := p.in.WriteString(keys); err != nil {
		t.Fatal(err)
	}
}

func TestTerminal(t *testing.T) {
	bot := &chattest.Bot{}
	bot.On("how?", chattest.InTurn(chattest.Reports(chattest.Steps()...), chattest.Says(chattest.Answer())))
	bot.On("roll back", chattest.Asks(chattest.Question()))
	person, _, ended := openTerminal(t, bot)
	person.screen.until("Ask away.")
	person.screen.until(prompt)
	person.press(t, "hox\x7fw?\r") // with a slip, taken back
	shown := person.screen.until(prompt)
	for _, want := range []string{"… Searching 3 collections", eraseRows(1), "\x1b[1mone command\x1b[0m", "Deploying"} {
		if !strings.Contains(shown, want) {
			t.Errorf("%q is not shown in %q", want, shown)
		}
	}
	person.press(t, "roll back\r")
	person.screen.until("Type a number")
	person.screen.until(prompt)
	person.press(t, "1\r")
	person.screen.until("You chose api")
	person.screen.until(prompt)
	person.press(t, "\x1b[A\x1b[A\x1b[A\r") // the first one, from the history
	person.screen.until("one command")
	person.screen.until(prompt)
	person.press(t, "\x1b[200~one\rtwo\rthree\x1b[201~\r") // pasted
	person.screen.until("You said: one two three")
	person.screen.until(prompt)
	person.press(t, "four\\\r")
	person.screen.until(promptMore)
	person.press(t, "five\r") // typed in two lines
	person.screen.until("You said: four five")
	person.screen.until(prompt)
	person.press(t, "\x1b[A\x1b[A\r") // the first of the two again, which goes on as before
	person.screen.until(promptMore)
	person.press(t, "six\r")
	person.screen.until("You said: four six")
	person.screen.until(prompt)
	person.press(t, "\x04")
	if err := <-ended; err != nil {
		t.Errorf("Run = %v after Ctrl-D, want nil", err)
	}
	messages := bot.Messages()
	messages = messages[:len(messages)-2]
	if last := messages[len(messages)-1].Text; last != "one\ntwo\nthree" {
		t.Errorf("what was pasted arrived as %q", last)
	}
}

func TestInterruptCancelsTheRunThenEndsTheChat(t *testing.T) {
	bot := &chattest.Bot{}
	begun := make(chan struct{})
	bot.On("forever", chattest.InTurn(func(context.Context, chat.Message, chat.Conversation) error {
		close(begun)
		return nil
	}, chattest.Until(nil)))
	person, interrupts, ended := openTerminal(t, bot)
	person.screen.until(prompt)
	person.press(t, "forever\r")
	<-begun
	interrupts <- syscall.SIGINT
	person.screen.until("Stopped.")
	person.screen.until(prompt)
	person.press(t, "still here?\r")
	person.screen.until("You said: still here?")
	person.screen.until(prompt)
	interrupts <- syscall.SIGINT
	if err := <-ended; err != nil {
		t.Errorf("Run = %v, want nil", err)
	}
}

func TestControlCAtThePromptEnds(t *testing.T) {
	person, _, ended := openTerminal(t, &chattest.Bot{})
	person.screen.until(prompt)
	person.press(t, "half a question\x03")
	if err := <-ended; err != nil {
		t.Errorf("Run = %v, want nil", err)
	}
}

func TestTypedLineOverTheLimitIsRefused(t *testing.T) {
	bot := &chattest.Bot{}
	person, _, ended := openTerminal(t, bot)
	person.screen.until(prompt)
	person.press(t, chattest.Long(longestTyped+10)+"\r")
	person.screen.until("can't be typed here")
	person.screen.until(prompt)
	person.press(t, "\x04")
	if err := <-ended; err != nil {
		t.Errorf("Run = %v, want nil", err)
	}
	if len(bot.Messages()) != 0 {
		t.Error("a cut message was handed over")
	}
}

func TestDetect(t *testing.T) {
	_, terminal, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	file, err := os.Create(t.TempDir() + "/out")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, test := range []struct {
		name        string
		out         *os.File
		env         map[string]string
		color, link bool
	}{
		{"terminal", terminal, map[string]string{"TERM": "xterm"}, true, false},
		{"NO_COLOR", terminal, map[string]string{"TERM": "xterm", "NO_COLOR": "1"}, false, false},
		{"dumb", terminal, map[string]string{"TERM": "dumb", "VTE_VERSION": "7200"}, false, false},
		{"VTE", terminal, map[string]string{"TERM": "xterm-256color", "VTE_VERSION": "7200"}, true, true},
		{"old VTE", terminal, map[string]string{"TERM": "xterm-256color", "VTE_VERSION": "4600"}, true, false},
		{"VTE in tmux", terminal, map[string]string{"TERM": "tmux", "VTE_VERSION": "7200", "TMUX": "/tmp/x"}, true, false},
		{"forced", terminal, map[string]string{"TERM": "xterm", "FORCE_HYPERLINK": "1"}, true, true},
		{"refused", terminal, map[string]string{"TERM": "xterm-kitty", "FORCE_HYPERLINK": "0"}, true, false},
		{"file", file, map[string]string{"TERM": "xterm-kitty"}, false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := Detect(test.out, func(name string) string { return test.env[name] })
			if r.Color != test.color || r.Hyperlinks != test.link {
				t.Errorf("colour %v, links %v; want %v, %v", r.Color, r.Hyperlinks, test.color, test.link)
			}
		})
	}
}
