package bot

import (
	"strings"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/graph/flows/routing"
)

// The words that the bot itself answers, beside those that start a flow and those that
// stop.
const (
	helpWord    = "help"
	statusWord  = "status"
	sourcesWord = "sources"
)

// command is a text read as a command: "/cairn ask …", "/ask …", "echo …", "status".
type command struct {
	word string // in small letters
	rest string // behind it
	// slashed tells that the text begins with a slash, cairn that it is "/cairn …": nobody
	// writes that without meaning a command.
	slashed, cairn bool
}

// commandOf reads a text as a command; its word is any word.
func commandOf(text string) command {
	var read command
	text, read.slashed = strings.CutPrefix(strings.TrimSpace(text), "/")
	first, rest := firstWord(text)
	if first == "cairn" {
		first, rest = firstWord(rest)
		read.cairn = read.slashed
	}
	read.word, read.rest = first, rest
	return read
}

// firstWord cuts a text behind its first word, which a colon may end.
func firstWord(text string) (word, rest string) {
	word, rest = text, ""
	if end := strings.IndexFunc(text, func(r rune) bool { return r == ':' || r == ' ' || r == '\t' || r == '\n' || r == '\r' || r == '\u00A0' }); end >= 0 {
		word, rest = text[:end], text[end:]
	}
	return strings.ToLower(word), strings.TrimLeft(rest, ": \t\r\n\u00A0")
}

// isAside tells the commands that are answered beside what the thread does: at once, also
// while a run works.
func (c command) isAside() bool {
	if strings.Trim(c.rest, ".!?… ") != "" {
		return false
	}
	switch strings.TrimRight(c.word, ".!") {
	case helpWord, statusWord, sourcesWord:
		return true
	}
	return c.isUnknown()
}

// isUnknown tells a command that there is none of. More words than one are a question, as
// people ask it with "/cairn how do I …".
func (c command) isUnknown() bool {
	switch c.word {
	case "", helpWord, statusWord, sourcesWord:
		return false
	}
	return c.cairn && c.rest == "" && !routing.Known(c.word) && !strings.HasSuffix(c.word, "?") && !chat.IsStop(c.word)
}
