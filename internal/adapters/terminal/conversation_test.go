package terminal

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/chattest"
)

// show gives what stands on a terminal after it was written to: it knows line ends,
// "\r", going up and clearing downwards.
func show(written string) string {
	rows := []string{""}
	row, column := 0, 0
	for rest := written; rest != ""; {
		var up int
		switch {
		case strings.HasPrefix(rest, "\x1b[J"):
			rows = append(rows[:row], string([]rune(rows[row])[:column]))
			rest = rest[len("\x1b[J"):]
			continue
		case strings.HasPrefix(rest, "\x1b["):
			if _, err := fmt.Sscanf(rest, "\x1b[%dA", &up); err != nil {
				return "unknown escape sequence in " + rest
			}
			row -= up
			rest = rest[strings.IndexByte(rest, 'A')+1:]
			continue
		}
		r, size := utf8.DecodeRuneInString(rest)
		rest = rest[size:]
		switch r {
		case '\r':
			column = 0
		case '\n':
			row, column = row+1, 0
			if row == len(rows) {
				rows = append(rows, "")
			}
		default:
			rows[row] = string([]rune(rows[row])[:column]) + string(r)
			column++
		}
	}
	return strings.Join(rows, "\n")
}

func TestDraftsAreShownLiveAndReplaced(t *testing.T) {
	var out, final bytes.Buffer
	c := &Conversation{Renderer: renderer(&out, 24), Live: true}
	stream := func(token chat.Token) {
		t.Helper()
		check(t, c.Stream(t.Context(), token))
	}
	check(t, c.Progress(t.Context(), chat.Progress{Description: "Writing the answer", Status: chat.Running}))
	for _, test := range []struct {
		token chat.Token
		want  string
	}{
		{chat.Token{Text: "A release is ro"}, "A release is ro\n… Writing the answer"},
		{chat.Token{Text: "lled back by hand"}, "A release is rolled\nback by hand\n… Writing the answer"},
		{chat.Token{Restart: true}, "… Writing the answer"},
		{chat.Token{Text: "On \x1b]0;t\xe5"}, "On ]0;t\uFFFD\n… Writing the answer"},
		{chat.Token{Text: "\x9b\x9e"}, "On ]0;t回\n… Writing the answer"},
		{chat.Token{Restart: true, Text: "One"}, "One\n… Writing the answer"},
	} {
		stream(test.token)
		if got := show(out.String()); got != test.want {
			t.Errorf("after %+v the screen shows %q, want %q", test.token, got, test.want)
		}
	}
	for i := range 700 {
		stream(chat.Token{Text: fmt.Sprintf("%d\n", i)})
	}
	rows := strings.Split(show(out.String()), "\n")
	if len(rows) != draftRows+1 || rows[draftRows-1] != "699" || len(c.draft) > c.longestDraft() {
		t.Errorf("%d rows of a draft of %d bytes are shown: %q", len(rows), len(c.draft), rows)
	}
	check(t, c.Reply(t.Context(), chattest.Answer()))
	check(t, renderer(&final, 24).Reply(chattest.Answer()))
	if got := show(out.String()); got != final.String() {
		t.Errorf("the screen shows %q, want the answer alone: %q", got, final.String())
	}
}

func TestDraftsAreNotPrintedWhereNobodyWatches(t *testing.T) {
	var out bytes.Buffer
	c := &Conversation{Renderer: renderer(&out, 24)}
	check(t, c.Stream(t.Context(), chat.Token{Text: "A release"}))
	check(t, c.Done())
	if out.Len() > 0 {
		t.Errorf("printed %q", out.String())
	}
}

func FuzzStream(f *testing.F) {
	f.Add(chattest.Evil, 40, 7)
	f.Add("回滚👩‍👩‍👧‍👦\n\n- a", 20, 1)
	f.Fuzz(func(t *testing.T, text string, width, size int) {
		text = text[:min(len(text), 500)]
		var out bytes.Buffer
		c := &Conversation{Renderer: renderer(&out, 20+max(width, -width)%60), Live: true}
		size = 1 + max(size, -size)%16
		for rest := text; rest != ""; rest = rest[min(size, len(rest)):] {
			check(t, c.Stream(t.Context(), chat.Token{Text: rest[:min(size, len(rest))]}))
		}
		check(t, c.Done())
		if got := show(out.String()); got != "" {
			t.Errorf("after the end the screen shows %q", got)
		}
	})
}
