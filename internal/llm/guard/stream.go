package guard

import (
	"regexp"
	"strings"
)

// Stream cleans Markdown while it comes: what can still become a link or a mention is
// held back until it can't. The zero Stream is not ready; make one with NewStream.
type Stream struct {
	guard Guard
	out   func(text string)
	// block is the text since the last empty line outside of fenced code; what came
	// before it can't change any more. sent is what of its cleaned form was let out.
	block string
	sent  string
	begun bool
}

// NewStream gives what is clean to out, in order.
func NewStream(g Guard, out func(text string)) *Stream {
	return &Stream{guard: g, out: out}
}

// Write takes the next piece.
func (s *Stream) Write(text string) {
	s.block += text
	s.finishBlocks()
	s.send(s.block[:s.settled()])
}

// Close lets out what is left.
func (s *Stream) Close() { s.send(s.block) }

// finishBlocks lets whole blocks out and forgets them.
func (s *Stream) finishBlocks() {
	cut := blocks(s.block)
	for _, part := range cut[:max(len(cut)-1, 0)] {
		s.send(part.text)
		s.block = s.block[len(part.text):]
		s.sent = ""
	}
}

// send lets out what of a block's beginning was not yet. Should its cleaned form turn
// out to be another than what was let out already, nothing more of the block follows
// before the whole answer does.
func (s *Stream) send(beginning string) {
	cleaned := s.guard.Clean(beginning)
	if rest, goesOn := strings.CutPrefix(cleaned, s.sent); goesOn && rest != "" {
		s.sent = cleaned
		s.begun = true
		s.out(rest)
	}
}

// settled is how much of a block's beginning reads the same whatever follows. The last
// word may grow into an address or a host's name; only the first one of an answer is
// not waited for, unless it looks like that already.
func (s *Stream) settled() int {
	at := len(s.block)
	start := lastWord(s.block)
	if s.begun || start > 0 || suspect.MatchString(s.block) {
		at = start
	}
	if fenceOf(s.block) != "" {
		return at
	}
	return min(at, opening(s.block))
}

// suspect is a beginning that addresses, mentions, hosts' names and fences have.
var suspect = regexp.MustCompile("(?i)[:/.@<>&!`~\\\\]|^[^a-z0-9]*(?:h|ht|htt|https?|w|ww|www|ftp|file|data|javascript|mailto|vbscript|tel|sms)$")

func lastWord(text string) int { return strings.LastIndexAny(text, " \n\t") + 1 }

// opening gives where the first construct begins that nothing closes yet.
func opening(block string) int {
	for i := 0; i < len(block); {
		switch block[i] {
		case '\\':
			i += 2
		case '`':
			run := len(block[i:]) - len(strings.TrimLeft(block[i:], "`"))
			closing := strings.Index(block[i+run:], block[i:i+run])
			if closing < 0 || i+run+closing+run == len(block) {
				return i
			}
			i += run + closing + run
		case '[':
			length := bracketed(block[i:])
			if length < 0 {
				return i
			}
			i += length
		default:
			i++
		}
	}
	return len(block)
}

// bracketed gives the length of a bracket with the parentheses after it, less than 0
// where more must be seen.
func bracketed(text string) int {
	end := closingBracket(text)
	switch {
	case end < 0 || end+1 == len(text):
		return -1
	case text[end+1] == '(':
		if _, after, closed := destinationOf(text[end+2:]); closed {
			return end + 2 + after
		}
		return -1
	}
	return end + 1
}
