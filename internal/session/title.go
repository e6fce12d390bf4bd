package session

import (
	"strings"
	"unicode"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/language/smalltalk"
)

// titleOf gives what a message of a thread is about, as a title: the question that a long message
// asks, else its beginning, without a greeting; of a message without words its files. "" for none.
func titleOf(turn chat.Turn) string {
	if turn.Role != chat.Person {
		return ""
	}
	text := dropGreeting(strings.TrimSpace(turn.Text))
	if question := findQuestion(text); question != "" && len(text) > MaxTitle {
		text = dropGreeting(question)
	}
	if text == "" {
		var names []string
		for _, file := range turn.Files {
			names = append(names, file.Name)
		}
		text = strings.Join(names, ", ")
	}
	return shortenLine(text, MaxTitle)
}

// isSocial reports whether a title is that of a message that asks nothing, such as a greeting.
func isSocial(title string) bool {
	_, ok := smalltalk.Read(title)
	return ok
}

// dropGreeting takes a greeting from the beginning of a text, where more follows: "Hi all, how …".
func dropGreeting(text string) string {
	end := strings.IndexAny(text, ",.!\n—")
	if end <= 0 || !strings.ContainsFunc(text[:end], unicode.IsLetter) || !isSocial(text[:end]) {
		return text
	}
	rest := strings.TrimLeftFunc(text[end:], func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsPunct(r) && !strings.ContainsRune("¿¡\"'“„«(`", r)
	})
	if rest == "" {
		return text
	}
	return rest
}

// findQuestion gives the first sentence of a text that asks something, "" for none. What stands in
// fences is no sentence of the person's.
func findQuestion(text string) string {
	fenced := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		if fenced || strings.HasPrefix(line, "```") {
			continue
		}
		for sentence := range splitSentences(line) {
			if asks := strings.TrimRight(sentence, "\"'”»)"); strings.HasSuffix(asks, "?") && strings.Contains(sentence, " ") || strings.HasSuffix(asks, "？") {
				return sentence
			}
		}
	}
	return ""
}

// splitSentences yields the sentences of a line, without the space around them.
func splitSentences(line string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		start := 0
		for at, r := range line {
			wide := strings.ContainsRune("。！？", r)
			next := at + len(string(r))
			if !wide && (!strings.ContainsRune(".!?", r) || next < len(line) && line[next] != ' ') {
				continue
			}
			if !yield(strings.TrimSpace(line[start:next])) {
				return
			}
			start = next
		}
		if rest := strings.TrimSpace(line[start:]); rest != "" {
			yield(rest)
		}
	}
}
