package terminal

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/clipperhouse/displaywidth"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/chattest"
)

// ownEscape is a style or a link as the renderer writes them.
var ownEscape = regexp.MustCompile(`\x1b\[[0-9;]*m|\x1b\]8;;[!-~]*\x1b\\`)

var update = flag.Bool("update", false, "rewrite the golden files")

func renderer(out *bytes.Buffer, width int) Renderer {
	return Renderer{Out: out, Width: width, Now: func() time.Time { return chattest.Now }}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; run go test -update and look at the change. got:\n%s", name, got)
	}
}

func TestRenderGolden(t *testing.T) {
	for _, width := range []int{40, 80} {
		for _, look := range []string{"plain", "colour"} {
			t.Run(fmt.Sprintf("%s %d", look, width), func(t *testing.T) {
				var out bytes.Buffer
				r := renderer(&out, width)
				r.Color, r.Hyperlinks = look == "colour", look == "colour"
				for _, step := range chattest.Steps() {
					check(t, r.Progress(step))
				}
				for _, reply := range []chat.Reply{chattest.Answer(), chattest.Abstained(), chattest.Failed(), chattest.Worldly()} {
					fmt.Fprintln(&out, strings.Repeat("=", width))
					check(t, r.Reply(reply))
				}
				fmt.Fprintln(&out, strings.Repeat("=", width))
				check(t, r.Question(chattest.Question()))
				fmt.Fprintln(&out, strings.Repeat("=", width))
				check(t, r.Trace(chattest.Answer().Trace))
				golden(t, fmt.Sprintf("%s-%d.golden", look, width), out.String())
				if look == "plain" {
					fits(t, out.String(), width)
				}
			})
		}
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// unbroken is what a test's answer has to copy: code and addresses.
var unbroken = regexp.MustCompile(`cairnctl|https://|docs/`)

func fits(t *testing.T, shown string, width int) {
	t.Helper()
	for _, l := range strings.Split(shown, "\n") {
		if got := displaywidth.String(l); got > width && !unbroken.MatchString(l) {
			t.Errorf("line is %d columns wide, more than %d: %q", got, width, l)
		}
	}
}

// harmless reports whether a terminal would only print the text.
func harmless(shown string) error {
	for i, r := range shown {
		if r != '\n' && (unicode.IsControl(r) || r >= '\u202A' && r <= '\u202E' || r >= '\u2066' && r <= '\u2069') {
			return fmt.Errorf("%U at byte %d", r, i)
		}
	}
	return nil
}

func renderAll(t *testing.T, r Renderer, reply chat.Reply, question chat.Question, step chat.Progress) {
	t.Helper()
	check(t, r.Reply(reply))
	check(t, r.Question(question))
	check(t, r.Trace(reply.Trace))
	check(t, r.Progress(step))
}

func TestHostileTextIsPrintedAsText(t *testing.T) {
	var out bytes.Buffer
	renderAll(t, renderer(&out, 72), chattest.Hostile(), chattest.HostileQuestion(),
		chat.Progress{Status: chat.Failed, Description: chattest.Evil})
	if err := harmless(out.String()); err != nil {
		t.Errorf("printed %v", err)
	}
	golden(t, "hostile.golden", out.String())
}

func TestOnlyOwnEscapesAreWritten(t *testing.T) {
	var out bytes.Buffer
	r := renderer(&out, 72)
	r.Color, r.Hyperlinks = true, true
	renderAll(t, r, chattest.Hostile(), chattest.HostileQuestion(), chat.Progress{Status: chat.Failed, Description: chattest.Evil})
	rest := ownEscape.ReplaceAllString(out.String(), "")
	if err := harmless(rest); err != nil {
		t.Errorf("printed %v besides styles and links", err)
	}
	if !strings.Contains(out.String(), "\x1b[") {
		t.Error("no style was printed")
	}
}

func FuzzRender(f *testing.F) {
	f.Add(chattest.Answer().Text, 80)
	f.Add(chattest.Hostile().Text, 40)
	f.Add(chattest.Worldly().Text, 20)
	f.Add("&#27;[2J &#x202e; &#10; `\x1b`", 33)
	f.Fuzz(func(t *testing.T, text string, width int) {
		var out bytes.Buffer
		width = 20 + max(width, -width)%100
		reply := chat.Reply{Run: chat.RunID(text), Outcome: chat.Failure, Text: text, Note: text, Sources: []chat.SourceGroup{{Category: text, Sources: []chat.Source{{
			Numbers: []int{1}, Title: text, Path: text, State: text, Sections: []chat.Section{{Number: 1, Heading: text, Anchor: text, URL: text}},
		}}}}, Trace: chat.Trace{Queries: []chat.TraceQuery{{Text: text}}, Evidence: []chat.TraceEvidence{{Title: text, Section: text}}, Notes: []string{text}}}
		renderAll(t, renderer(&out, width), reply, chat.Question{Text: text, Choices: []chat.Choice{{Label: text, Detail: text}}}, chat.Progress{Status: chat.Failed, Description: text})
		if err := harmless(out.String()); err != nil {
			t.Fatalf("printed %v", err)
		}
		for _, l := range renderMarkdown(text, nil, width) {
			whole := slices.ContainsFunc(l, func(s span) bool { return s.style.whole })
			if got := l.width(); got > width && !whole {
				t.Fatalf("line is %d columns wide, more than %d: %q", got, width, spansText(l))
			}
		}
	})
}

// TestWhatIsCopiedIsNotBroken has code and addresses on one line each, whatever the width, and
// nothing broken where no terminal has a width.
func TestWhatIsCopiedIsNotBroken(t *testing.T) {
	const command, address = "kubectl -n cairn logs job/cairn-migration --tail 20", "https://docs.example.org/a/page/of/some/depth.html#part"
	text := "Look with `" + command + "` at what (" + address + ") says of it.\n\n" +
		"| Step | Command |\n|---|---|\n| look at the log of the migration first | `" + command + "` |\n\n```\n" + command + " | grep failed\n```"
	for _, width := range []int{20, 40, 80, 0} {
		var out bytes.Buffer
		check(t, renderer(&out, width).Reply(chat.Reply{Outcome: chat.Answered, Text: text}))
		for _, want := range []string{command, address, command + " | grep failed"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%d columns: %q is broken in\n%s", width, want, out.String())
			}
		}
		if sentence := "Look with " + command + " at what (" + address + ") says of it.\n"; width == 0 && !strings.Contains(out.String(), sentence) {
			t.Errorf("without a width lines are broken:\n%s", out.String())
		}
	}
}
