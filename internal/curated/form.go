package curated

import (
	"slices"
	"strings"
	"unicode"

	"github.com/cairn-bot/cairn/internal/knowledge/lexical"
)

// aspect is what a question wants to know of what it is about.
type aspect int

const (
	anything aspect = iota // "what", "which", or no word that asks
	person
	date
	place
	manner
	amount
	cause
)

// asking are the words that tell the aspect, in the languages that have them.
var asking = map[string]aspect{
	"who": person, "whom": person, "whose": person, "wer": person, "wem": person, "wen": person, "qui": person, "quién": person, "quien": person, "quem": person, "chi": person,
	"when": date, "wann": date, "quand": date, "cuándo": date, "cuando": date, "quando": date, "wanneer": date,
	"where": place, "wo": place, "wohin": place, "où": place, "dónde": place, "donde": place, "onde": place, "dove": place, "waar": place,
	"how": manner, "comment": manner, "cómo": manner, "como": manner, "come": manner, "hoe": manner,
	"why": cause, "warum": cause, "wieso": cause, "weshalb": cause, "pourquoi": cause, "perché": cause, "waarom": cause,
	"wieviel": amount, "wieviele": amount, "combien": amount, "cuánto": amount, "cuántos": amount, "cuántas": amount, "quanto": amount, "quantos": amount, "quanti": amount, "hoeveel": amount, //nolint:misspell // Italian and Portuguese
}

// afterHow are the words behind "how" and "what" that tell the aspect.
var afterHow = map[string]aspect{
	"many": amount, "much": amount, "often": amount, "old": amount, "long": amount, "large": amount, "big": amount, "far": amount, "number": amount,
	"time": date, "year": date, "day": date, "date": date, "month": date, "person": person, "people": person, "causes": cause, "reason": cause,
}

// generic are words that a question may have or not and ask the same, as they are searched for.
var generic = lexical.Analyze("step steps procedure process way method number person somebody someone anybody anyone please time reason cause causes instructions guide work works working")

// negations turn a question round.
var negations = []string{
	"not", "no", "never", "without", "cannot", "don", "doesn", "isn", "cant", "disable", "remove", "stop", "off",
	"nicht", "kein", "keine", "keinen", "ohne", "pas", "sans", "sin", "não", "sem", "non", "senza", "niet", "geen", "zonder", "ない", "不", "没",
}

// form is how a question asks.
type form struct {
	aspect aspect
	strict []string // its numbers and what negates, in order
}

// readForm reads how a question asks: its first word that asks tells.
func readForm(text string) form {
	var read form
	words := strings.Fields(plainText(text))
	for i, word := range words {
		if strings.ContainsFunc(word, unicode.IsDigit) || slices.Contains(negations, word) {
			read.strict = append(read.strict, word)
		}
		if read.aspect != anything {
			continue
		}
		next := anything
		for _, behind := range words[i+1 : min(len(words), i+4)] {
			if next == anything {
				next = afterHow[behind]
			}
		}
		switch {
		case word == "what" || word == "which":
			read.aspect = next
		case word == "how" && i+1 < len(words) && afterHow[words[i+1]] != anything:
			read.aspect = afterHow[words[i+1]]
		default:
			read.aspect = asking[word]
		}
	}
	slices.Sort(read.strict)
	read.strict = slices.Compact(read.strict)
	return read
}

// fits reports whether two questions may want to know the same. How something is done and where are
// often the same answer; "what" asks for anything but a person, a date or an amount.
func (f form) fits(other form) bool {
	if !slices.Equal(f.strict, other.strict) {
		return false
	}
	a, b := min(f.aspect, other.aspect), max(f.aspect, other.aspect)
	switch {
	case a == b, a == place && b == manner:
		return true
	case a == anything:
		return b == manner || b == cause || b == place
	}
	return false
}

// plainText is a question without what does not tell: letter case, punctuation and white space.
func plainText(text string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }), " ")
}
