package llm

import (
	"regexp"
	"strings"
	"unicode"
)

// thoughtTags are the tags between which models think aloud.
const thoughtTags = `(?:think|thinking|thought|reasoning|reflection|scratchpad)`

var (
	thoughts      = regexp.MustCompile(`(?is)<` + thoughtTags + `>.*?</` + thoughtTags + `>\s*`)
	thoughtsOpen  = regexp.MustCompile(`(?is)^\s*<` + thoughtTags + `>.*$`)
	thoughtsEnd   = regexp.MustCompile(`(?is)^.*</` + thoughtTags + `>\s*`)
	thoughtBegin  = regexp.MustCompile(`(?i)<` + thoughtTags + `>`)
	thoughtEnd    = regexp.MustCompile(`(?i)</` + thoughtTags + `>`)
	thoughtTagCut = regexp.MustCompile(`(?i)</?[a-z]{0,10}$`)
)

// longestTag is how many bytes a tag of thoughts has at most.
const longestTag = len("</reflection>")

// WithoutThoughts takes out what a model thought aloud in front of its reply, or in it. Of a
// text that never stops thinking nothing is left.
func WithoutThoughts(text string) string {
	text = thoughts.ReplaceAllString(text, "")
	text = thoughtsOpen.ReplaceAllString(text, "")
	return thoughtsEnd.ReplaceAllString(text, "")
}

// Thoughts takes out of a streamed reply what its model thinks aloud, also where a tag comes
// in pieces. The zero value is of use, for one reply.
type Thoughts struct {
	// Unopened says that the reply begins in a thought of which only the end has a tag, as
	// with chat templates that open it in the prompt.
	Unopened bool

	held   string // not let out yet
	read   int    // bytes of held in which no thought ends
	begun  bool   // text was let out
	inside bool   // held begins with a thought
	after  bool   // white space that follows belongs to a thought
	opened bool   // the thought that a template opened was begun
	seen   bool
	bare   bool // a thought ended that no tag had opened
}

// Write takes the next piece, and gives what of the reply can be shown by now.
func (t *Thoughts) Write(piece string) string {
	t.held += piece
	if t.Unopened && !t.opened {
		t.opened, t.inside = true, true
	}
	var shown strings.Builder
	for t.step(&shown) {
	}
	t.begun = t.begun || strings.TrimSpace(shown.String()) != ""
	return shown.String()
}

// step reads on to the next tag, and says whether there was one.
func (t *Thoughts) step(shown *strings.Builder) bool {
	if t.after {
		t.held = strings.TrimLeftFunc(t.held, unicode.IsSpace)
		t.after = t.held == ""
	}
	if t.inside && !thoughtEnd.MatchString(t.held[t.read:]) {
		t.read = max(0, len(t.held)-longestTag)
		return false
	}
	t.read = 0
	begin, end := thoughtBegin.FindStringIndex(t.held), thoughtEnd.FindStringIndex(t.held)
	switch {
	case t.inside, end != nil && (begin == nil || end[0] < begin[0]):
		t.bare = t.bare || begin == nil || end[0] < begin[0]
		t.held, t.inside, t.after, t.seen = t.held[end[1]:], false, true, true
		return true
	case begin != nil:
		shown.WriteString(t.held[:begin[0]])
		t.held, t.inside, t.seen = t.held[begin[0]:], true, true
		return true
	}
	settled := len(t.held)
	if cut := thoughtTagCut.FindStringIndex(t.held); cut != nil {
		settled = cut[0]
	}
	shown.WriteString(t.held[:settled])
	t.held = t.held[settled:]
	return false
}

// Close gives what is left to be shown at the end. A thought that does not end is one where the
// reply begins with it, and text elsewhere.
func (t *Thoughts) Close() string {
	if t.inside && !t.begun && thoughtsOpen.MatchString(t.held) {
		return ""
	}
	return t.held
}

// Seen says whether the reply held a thought.
func (t *Thoughts) Seen() bool { return t.seen }

// EndedUnopened says whether a thought ended that no tag had opened: what was let out before
// it was no part of the reply, unless Unopened held it back.
func (t *Thoughts) EndedUnopened() bool { return t.bare }
