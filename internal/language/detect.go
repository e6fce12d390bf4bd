package language

import (
	"math"
	"strings"
	"unicode"

	"github.com/cairn-bot/cairn/internal/shorten"

	"golang.org/x/text/unicode/norm"
)

const (
	maxDetected = 8 << 10 // bytes of a text that are looked at
	// minEvidence is the score that a language must have: that of a letter which no other
	// language has.
	minEvidence = 0.5
	// minLead is how much the best language must score in relation to the next.
	minLead = 1.1
	// wideShare is the share of letters in Chinese characters or kana that makes a text
	// Chinese or Japanese: such texts have names and code in Latin letters.
	wideShare = 0.15
	// kanaShare is the share of kana among them that makes it Japanese: Chinese texts have none.
	kanaShare = 0.05
)

// What is seen of a language counts for it, shared with the others that have it too: a
// word whole, an ending or a letter less.
const (
	wordWeight   = 1
	endingWeight = 0.3
	letterWeight = 0.5
)

// evidence is what a word, an ending or a letter counts for each language.
type evidence map[Tag]float64

var wordEvidence, endingEvidence, letterEvidence = collectEvidence()

func collectEvidence() (words, endings, letters map[string]evidence) {
	words, endings, letters = make(map[string]evidence), make(map[string]evidence), make(map[string]evidence)
	for _, tag := range all {
		table := tables[tag]
		note(words, tag, table.function)
		note(words, tag, table.question)
		note(words, tag, table.shared)
		note(endings, tag, table.endings)
		note(letters, tag, table.letters)
	}
	weigh(words, wordWeight)
	weigh(endings, endingWeight)
	weigh(letters, letterWeight)
	return words, endings, letters
}

func note(noted map[string]evidence, tag Tag, entries []string) {
	for _, entry := range entries {
		if noted[entry] == nil {
			noted[entry] = make(evidence)
		}
		noted[entry][tag] = 1
	}
}

// weigh gives each language its share: what many languages have tells little.
func weigh(noted map[string]evidence, weight float64) {
	for _, languages := range noted {
		share := weight / math.Pow(float64(len(languages)), 1.5)
		for tag := range languages {
			languages[tag] = share
		}
	}
}

// Detect gives the language of a text, or Unknown where the text does not tell or mixes
// languages. Code blocks, links and identifiers are left out.
func Detect(text string) Tag {
	text = norm.NFC.String(strings.ToLower(prose(shorten.Bytes(text, maxDetected))))
	if wide := detectWide(text); wide != Unknown {
		return wide
	}
	scores := scoreWords(text)
	best, next := Unknown, 0.0
	for _, tag := range all {
		switch score := scores[tag]; {
		case best == Unknown || score > scores[best]:
			if best != Unknown {
				next = scores[best]
			}
			best = tag
		case score > next:
			next = score
		}
	}
	if scores[best] < minEvidence || scores[best] < minLead*next {
		return Unknown
	}
	return best
}

// prose leaves out fenced code, inline code and addresses, which are English in every
// language.
func prose(text string) string {
	var b strings.Builder
	fenced := false
	for line := range strings.Lines(text) {
		if trimmed := strings.TrimSpace(line); strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~") {
			fenced = !fenced
			continue
		}
		if fenced {
			continue
		}
		for i, part := range strings.Split(line, "`") {
			if i%2 == 0 {
				b.WriteString(part)
			}
			b.WriteByte(' ')
		}
	}
	return b.String()
}

func detectWide(text string) Tag {
	letters, han, kana := 0, 0, 0
	for _, r := range text {
		switch {
		case unicode.In(r, unicode.Hiragana, unicode.Katakana):
			kana++
		case unicode.Is(unicode.Han, r):
			han++
		}
		if unicode.IsLetter(r) {
			letters++
		}
	}
	wide := float64(han + kana)
	switch {
	case wide == 0 || wide < wideShare*float64(letters):
		return Unknown
	case float64(kana) >= kanaShare*wide:
		return Japanese
	default:
		return Chinese
	}
}

func scoreWords(text string) evidence {
	scores := make(evidence)
	add := func(found evidence) {
		for tag, weight := range found {
			scores[tag] += weight
		}
	}
	for field := range strings.FieldsSeq(text) {
		add(scoreSigns(field))
		word := strings.ReplaceAll(strings.TrimFunc(field, func(r rune) bool { return !unicode.IsLetter(r) }), "’", "'")
		if !isWord(word) {
			continue
		}
		if known, ok := wordEvidence[word]; ok {
			add(known)
			continue
		}
		// "l'image", "dell'utente": the article is a word of its own.
		if article, rest, ok := strings.Cut(word, "'"); ok && len(article) <= 4 && len(rest) > 2 {
			add(evidence{French: 0.4, Italian: 0.3})
		}
		for ending, known := range endingEvidence {
			if strings.HasSuffix(word, ending) && len(word) >= len(ending)+3 {
				add(known)
			}
		}
	}
	return scores
}

// scoreSigns counts each letter once a word.
func scoreSigns(word string) evidence {
	scores := make(evidence)
	for letter, known := range letterEvidence {
		if strings.Contains(word, letter) {
			for tag, weight := range known {
				scores[tag] += weight
			}
		}
	}
	return scores
}

// isWord says whether a field is a word of prose, not an identifier, a path or a number.
func isWord(word string) bool {
	return word != "" && !strings.ContainsFunc(word, func(r rune) bool {
		return !unicode.IsLetter(r) && r != '\'' && r != '-'
	})
}
