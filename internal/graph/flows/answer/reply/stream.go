package reply

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cairn-bot/cairn/internal/knowledge/sentence"
	"github.com/cairn-bot/cairn/internal/llm"
)

// Stream shows a reply while it is written: without what the model thinks aloud, and with the
// numbers that its sources have when it is written out, so that nothing changes at the end.
// The first piece is held back until it is a sentence, or firstPiece characters.
type Stream struct {
	reader  reader
	number  func(source int) int
	out     func(text string)
	refusal string // what a reply begins with that must not be shown

	text  string // all that came
	sent  string // what of its shown form was let out
	begun bool
}

// firstPiece is how many characters are held back at the beginning, where no sentence ends.
const firstPiece = 80

// NewStream gives what may be shown to out, in order. A reply that begins with the refusal is
// not shown. number is asked as in Write.
func NewStream(sources int, refusal string, number func(source int) int, out func(text string)) *Stream {
	return &Stream{reader: reader{sources: sources}, number: number, out: out, refusal: refusal}
}

// Write takes the next piece.
func (s *Stream) Write(text string) {
	s.text += text
	visible, ok := s.visibleText()
	if !ok {
		return
	}
	s.sendText(visible[:settledLength(visible)])
}

// Close lets out what is left.
func (s *Stream) Close() {
	s.begun = true
	visible := strings.TrimLeftFunc(llm.WithoutThoughts(s.text), unicode.IsSpace)
	if !strings.HasPrefix(visible, s.refusal) {
		s.sendText(visible)
	}
}

var (
	firstSentence = regexp.MustCompile(`(?s)^.*?[^\s.][.!?:。！？](?:\s|$)|^.*?\n`)
	thinks        = regexp.MustCompile(`(?i)^\s*<(?:think|thinking|thought|reasoning|reflection|scratchpad)>`)
)

// visibleText gives what of the text may be shown; ok is false while that is not known.
func (s *Stream) visibleText() (text string, ok bool) {
	text = strings.TrimLeftFunc(llm.WithoutThoughts(s.text), unicode.IsSpace)
	if s.begun {
		return text, true
	}
	start := strings.TrimSpace(s.text)
	if text == "" || strings.HasPrefix(text, s.refusal) || strings.HasPrefix(s.refusal, text) || thinks.MatchString(start) && text == start {
		return "", false
	}
	if strings.HasPrefix(start, "<") && !strings.Contains(start, ">") && len(start) < firstPiece {
		return "", false
	}
	s.begun = firstSentence.MatchString(text) || utf8.RuneCountInString(text) >= firstPiece
	return text, s.begun
}

// sendText lets out what of a beginning was not yet. Where its shown form turned out to be another,
// nothing more follows before the whole answer does.
func (s *Stream) sendText(beginning string) {
	shown := s.reader.renumberMarks(beginning, s.number)
	if rest, goesOn := strings.CutPrefix(shown, s.sent); goesOn && rest != "" {
		s.sent = shown
		s.out(rest)
	}
}

// longestMark is about how many bytes a mark may have.
const longestMark = 60

// settledLength is how much of a text reads the same whatever follows: a mark may still be open at
// its end, or a code span.
func settledLength(text string) int {
	end := len(text)
	for r, size := utf8.DecodeLastRuneInString(text[:end]); r == utf8.RuneError && size == 1; r, size = utf8.DecodeLastRuneInString(text[:end]) {
		end-- // a character that has not come whole
	}
	text = text[:end]
	end = min(end, openSpan(text))
	for _, open := range []string{"[", "【", "(", "<"} {
		at := strings.LastIndex(text, open)
		if at < 0 || at < len(text)-longestMark {
			continue
		}
		closing := map[string]string{"[": "]", "【": "】", "(": ")", "<": ">"}[open]
		if inside := strings.Index(text[at+len(open):], closing); inside >= 0 && at+len(open)+inside+len(closing) < len(text) {
			continue
		}
		end = min(end, at)
	}
	return end - (len(text[:end]) - len(strings.TrimRight(text[:end], " \t")))
}

// openSpan is where the code span begins that the last line of a text leaves open, or the end
// of the text.
func openSpan(text string) int {
	for at := strings.LastIndexByte(text, '\n') + 1; at < len(text); at++ {
		if text[at] != '`' {
			continue
		}
		run := len(text[at:]) - len(strings.TrimLeft(text[at:], "`"))
		end := sentence.CodeSpanEnd(text, at)
		if end == at+run || end == len(text) {
			return at
		}
		at = end - 1
	}
	return len(text)
}

// renumberMarks writes the marks of a text in place, outside of code, with the numbers that their
// sources have.
func (r reader) renumberMarks(text string, number func(source int) int) string {
	var b strings.Builder
	fence := ""
	for line := range strings.Lines(text) {
		mark := strings.TrimLeft(line, " \t>")
		run := mark[:len(mark)-len(strings.TrimLeft(mark, "`~"))]
		switch {
		case fence == "" && len(run) >= 3:
			fence = run[:3]
		case fence != "" && strings.HasPrefix(run, fence):
			fence = ""
		case fence == "":
			line = r.renumberedLine(line, number)
		}
		b.WriteString(line)
	}
	return b.String()
}

func (r reader) renumberedLine(line string, number func(source int) int) string {
	clean, found := r.withoutMarks(line)
	w := writer{number: number}
	return w.withMarks(clean, found)
}
