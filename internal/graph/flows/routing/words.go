package routing

import (
	"regexp"
	"strings"
)

// The flows, by their names.
const (
	Answer  = "answer"
	Analyze = "analyze"
	Context = "context"
	Repo    = "repo"
	Inspect = "inspect"
	Page    = "page"
	Echo    = "echo"
)

// flowOf are the words that stand for a flow in a command or before a colon.
var flowOf = map[string]string{
	"ask": "", "answer": "",
	"analyze": Analyze, "analyse": Analyze, "analysis": Analyze,
	"context": Context, "build_context": Context, "build-context": Context,
	"repo": Repo, "repository": Repo,
	"inspect": Inspect, "page": Page, "echo": Echo,
}

// Known tells whether a word, in small letters, stands for a flow in a command.
func Known(word string) bool {
	_, known := flowOf[word]
	return known
}

// Found is a word that says which flow a message is for.
type Found struct {
	Word string // as it was written
	Flow string // "" is the one that answers
	Rest string // of the text
}

var (
	slashed  = regexp.MustCompile(`^/(\S+)\s*`)
	bare     = regexp.MustCompile(`^([\p{L}_-]+)\s+`)
	prefixed = regexp.MustCompile(`^([\p{L}_-]+)\s?:\s*`)
	// place is what only a command is followed by: a collection, a folder, an address.
	place = regexp.MustCompile(`^(@[\p{L}\p{N}]|\.{1,2}(/|\s|$)|/\S|"\.{0,2}/|https?://|git@)`)
)

// Command reads "/cairn analyze @handbook …", "/cairn how do I …", "/analyze …", and the
// same words without a slash where what follows can only be meant for them: "echo hello",
// "analyze ./docs".
func Command(text string) (Found, bool) {
	text = strings.TrimSpace(text)
	if found := slashed.FindStringSubmatch(text); found != nil {
		word, rest := strings.ToLower(found[1]), strings.TrimSpace(text[len(found[0]):])
		if word == "cairn" {
			if within, ok := parseLeading(rest, true); ok {
				return within, true
			}
			return Found{Word: "/cairn", Rest: rest}, true
		}
		return parseLeading(text[1:], true)
	}
	return parseLeading(text, false)
}

// parseLeading reads a text that begins with a flow's word. Where it is not certain that the
// word is a command, what follows it must show that.
func parseLeading(text string, certain bool) (Found, bool) {
	found := bare.FindStringSubmatch(text + " ")
	if found == nil {
		return Found{}, false
	}
	flow, known := flowOf[strings.ToLower(found[1])]
	if !known {
		return Found{}, false
	}
	rest := strings.TrimSpace(text[min(len(text), len(found[0])):])
	if !certain && flow != Echo && !place.MatchString(rest) {
		return Found{}, false
	}
	return Found{Word: found[1], Flow: flow, Rest: rest}, true
}

// Prefix reads "analyze: what are the risks?".
func Prefix(text string) (Found, bool) {
	text = strings.TrimSpace(text)
	found := prefixed.FindStringSubmatch(text)
	if found == nil || strings.HasPrefix(text[len(found[0]):], "//") { // an address
		return Found{}, false
	}
	flow, known := flowOf[strings.ToLower(found[1])]
	if !known {
		return Found{}, false
	}
	return Found{Word: strings.TrimSpace(found[0]), Flow: flow, Rest: text[len(found[0]):]}, true
}
