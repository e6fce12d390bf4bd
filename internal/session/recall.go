package session

import (
	"regexp"
	"strings"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/knowledge/lexical"
)

var (
	// goesBack is how people say, in English, that they come back to something.
	goesBack = regexp.MustCompile(`(?i)\b(earlier|previously|mentioned|discussed|talked about|(?:you|we|i) (?:said|told|asked)|back to|as for)\b`)

	pointingWords = map[string]bool{"this": true, "that": true, "these": true, "those": true}
	// leadingWords go before what a text comes back to.
	leadingWords = map[string]bool{"the": true, "to": true, "about": true, "for": true}
	pronounWords = map[string]bool{
		"it": true, "its": true, "they": true, "them": true, "their": true, "he": true, "him": true, "his": true, "she": true, "her": true,
	}
)

// maxNamed is how many words of a thing's name are read.
const maxNamed = 4

// Recall returns the topic that a text takes up again although another one came after it:
// the last of those that share most words with what the text points at ("that permit",
// "back to the permit"). There is none where the text points at nothing that has a name,
// or where the latest topic shares as much.
func (s *Session) Recall(text string) (topic Topic, found bool) {
	named := referredTerms(text)
	topics := s.Topics()
	if len(named) == 0 || len(topics) < 2 {
		return Topic{}, false
	}
	best, latest := 0, len(topics)-1
	for i, candidate := range topics {
		words := []string{candidate.Asked, candidate.Answered, strings.Join(candidate.Documents, " ")}
		if i == latest {
			words = append(words, lastExchange(s.Turns)...)
		}
		if shared := countShared(named, words); shared > 0 && shared >= best {
			best, topic, found = shared, candidate, i < latest
		}
	}
	if !found {
		return Topic{}, false
	}
	return topic, true
}

// referredTerms returns the terms of the things that a text speaks of as known. A pronoun means
// what was said last, and so does what comes after it.
func referredTerms(text string) []string {
	text = lexical.Fold(text)
	back := goesBack.MatchString(text)
	words := lexical.Words(text)
	var named []string
	for i := 0; i < len(words) && !pronounWords[strings.ToLower(words[i].Text)]; i++ {
		from := i + 1
		switch word := strings.ToLower(words[i].Text); {
		case word == "that" && i > 0 && !isFiller(words[i-1]): // "a tool that parses"
			continue
		case pointingWords[word] && (from == len(words) || isFiller(words[from])): // "is that so"
			return named
		case !pointingWords[word] && (!back || !leadingWords[word]):
			continue
		}
		for ; i+1 < len(words) && i+1 < from+maxNamed && !isFiller(words[i+1]); i++ {
			named = append(named, lexical.Analyze(words[i+1].Text)...)
		}
	}
	return named
}

func isFiller(word lexical.Word) bool { return lexical.IsFiller(strings.ToLower(word.Text)) }

// lastExchange returns the texts of the last exchange in full.
func lastExchange(turns []chat.Turn) []string {
	var said []string
	for i := len(turns) - 1; i >= 0; i-- {
		turn := turns[i]
		switch {
		case turn.Role == chat.Person:
			return append(said, turn.Text)
		case turn.Reply != nil:
			said = append(said, turn.Reply.Text)
		case turn.Question != nil:
			said = append(said, turn.Question.Text)
		}
	}
	return said
}

// countShared counts the terms that the texts hold.
func countShared(terms, texts []string) int {
	held := make(map[string]bool)
	for _, text := range texts {
		for _, term := range lexical.Analyze(text) {
			held[term] = true
		}
	}
	shared := 0
	for _, term := range terms {
		if held[term] {
			shared++
		}
	}
	return shared
}
