package answer

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/cairn-bot/cairn/internal/graph/flows/answer/words"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/knowledge/lexical"
	"github.com/cairn-bot/cairn/internal/language"
)

const (
	// minSpelled is the length in letters from which a word is corrected; shorter words have
	// too many neighbours. From minSubstituted on any letter may be another one, below only
	// one that is easily mistaken for it.
	minSpelled     = 4
	minTransposed  = 3 // of a function word with two letters in the wrong order: "hwo"
	minSubstituted = 6
	// maxSpelled bounds the words of a question that are corrected: a pasted log has many
	// that no document holds.
	maxSpelled = 8
	// minTwice is the length of terms in which two letters may be wrong; those with one wrong
	// letter are corrected in the text.
	minTwice = 8
)

// What speaks against a correction, against the logarithm of how common the word is.
const (
	substitutedCost = 1.0
	lengthCost      = 0.5 // a letter too many, or one that is missing
	firstLetterCost = 2.0
)

// spelling is a word that may have been meant.
type spelling struct {
	word string
	cost float64
}

// correctSpelling writes the words of an English text that the documents hold in another
// spelling alone as the documents have them. A word that is one slip away from a function
// word is that one.
func (r *inquiry) correctSpelling(ctx context.Context) error {
	if tag := language.Detect(r.text); tag != language.English && tag != language.Unknown {
		r.minMisspelled = minSpelled
		return nil
	}
	r.minMisspelled = minTwice
	unknown, err := r.unknownWords(ctx)
	if err != nil {
		return err
	}
	if len(unknown) == 0 {
		return nil
	}
	size, err := r.index.Stats(ctx)
	if err != nil {
		return fmt.Errorf("look up the size of the index: %w", err)
	}
	corrected := make(map[string]string, len(unknown))
	for _, word := range unknown {
		if corrected[word], err = r.likeliestSpelling(ctx, word, size.Passages); err != nil {
			return err
		}
		if right := corrected[word]; right != "" && !lexical.IsFiller(right) {
			r.remarks = append(r.remarks, fmt.Sprintf("%q is not in the documents, %q is", word, right))
		}
	}
	r.text = replaceWords(r.text, corrected)
	return nil
}

// isCommonWord says whether a word in lower case is a common one as it is spelled: "dark" is not
// "dart", however many documents tell of that.
func (r *inquiry) isCommonWord(word string) bool {
	return r.common != nil && word != "" && (r.common.IsWord(word) || r.common.IsWord(strings.TrimSuffix(word, "s")))
}

// unknownWords gives the words of the text that the index does not hold and that could be
// misspelled: neither common words, names in capital letters nor identifiers, nor chat.
func (r *inquiry) unknownWords(ctx context.Context) ([]string, error) {
	var found []string
	var stems []string
	seen := make(map[string]bool)
	for _, word := range lexical.Words(r.text) {
		lower := strings.ToLower(word.Text)
		stem := lexical.Stem(lower)
		_, short := words.Expand(lower)
		if len(lower) < minSpelled && transposedFiller(lower) == "" || strings.ToLower(word.Text[1:]) != word.Text[1:] || !isLatin(lower) ||
			seen[lower] || short || r.isCommonWord(lower) || isFiller(stem) || isFiller(lower) || len(words.Related(stem)) > 0 || len(found) == maxTelling {
			continue
		}
		seen[lower] = true
		found, stems = append(found, lower), append(stems, stem)
	}
	stats, err := r.index.Terms(ctx, stems)
	if err != nil {
		return nil, fmt.Errorf("look up words to be spelled: %w", err)
	}
	var unknown []string
	for i, stat := range stats {
		if stat.Passages == 0 && len(unknown) < maxSpelled {
			unknown = append(unknown, found[i])
		}
	}
	return unknown, nil
}

// transposedFiller gives the function word that a short word is with two neighbouring letters in
// the wrong order, "" for none.
func transposedFiller(word string) string {
	if len(word) < minTransposed {
		return ""
	}
	for i := len(word) - 2; i >= 0; i-- { // the first letter is wrong most seldom
		if swapped := word[:i] + word[i+1:i+2] + word[i:i+1] + word[i+2:]; swapped != word && lexical.IsFiller(swapped) {
			return swapped
		}
	}
	return ""
}

func isLatin(word string) bool {
	return !strings.ContainsFunc(word, func(r rune) bool { return r < 'a' || r > 'z' })
}

// likeliestSpelling gives the word one slip away that is likeliest meant, "" for none. A
// word that stands only in documents that the asker may not see is none; a function word is
// taken to stand in all passages of the index.
func (r *inquiry) likeliestSpelling(ctx context.Context, word string, passages int) (string, error) {
	if len(word) < minSpelled {
		return transposedFiller(word), nil
	}
	slips := slipsOf(word)
	stems := make([]string, len(slips))
	for i, slip := range slips {
		stems[i] = lexical.Stem(slip.word)
	}
	stats, err := r.index.Terms(ctx, stems)
	if err != nil {
		return "", fmt.Errorf("look up a word's spelling: %w", err)
	}
	for range spellingsTried {
		best, most := -1, math.Inf(-1)
		for i, slip := range slips {
			common := stats[i].Passages
			if lexical.IsFiller(slip.word) && slip.cost < firstLetterCost {
				common = max(passages, 1)
			}
			if likely := math.Log(float64(common)) - slip.cost; common > 0 && likely > most {
				best, most = i, likely
			}
		}
		if best < 0 || lexical.IsFiller(slips[best].word) {
			return wordAt(slips, best), nil
		}
		visible, err := r.index.Search(ctx, index.Query{Terms: []index.Term{{Text: stems[best], Weight: 1}}, Limit: 1})
		if err != nil {
			return "", fmt.Errorf("look for a word's spelling: %w", err)
		}
		if len(visible.Lexical) > 0 {
			return slips[best].word, nil
		}
		stats[best].Passages = 0
	}
	return "", nil
}

// spellingsTried is how many spellings are looked for among what the asker may see.
const spellingsTried = 3

func wordAt(slips []spelling, at int) string {
	if at < 0 {
		return ""
	}
	return slips[at].word
}

// slipsOf gives what was meant where one slip of the fingers made a word: neighbouring
// letters in the wrong order, a letter missing, too many, or mistaken for another. Of the shortest
// words only the order and doubled letters, and what makes a function word. A letter is
// not taken off, or mistaken, to leave a short stem, which has too many neighbours: "spamming"
// is not "samming", of which there would be "Sam".
func slipsOf(word string) []spelling {
	var slips []spelling
	add := func(slip string, cost float64) {
		short := len(word) <= minSpelled || len(slip) <= len(word) && len(lexical.Stem(slip)) < minSpelled
		if cost > 0 && short && !lexical.IsFiller(slip) {
			return
		}
		if slip[0] != word[0] {
			cost += firstLetterCost
		}
		slips = append(slips, spelling{slip, cost})
	}
	for i := range len(word) {
		before, at, after := word[:i], word[i], word[i+1:]
		if after != "" && after[0] != at {
			add(before+after[:1]+word[i:i+1]+after[1:], 0)
		}
		add(before+after, costOfLength(after != "" && after[0] == at || before != "" && before[i-1] == at))
		for letter := byte('a'); letter <= 'z'; letter++ {
			add(before+string(letter)+word[i:], costOfLength(letter == at || before != "" && before[i-1] == letter))
			if letter != at && (len(word) >= minSubstituted || areMistaken(letter, at)) {
				add(before+string(letter)+after, substitutedCost)
			}
		}
	}
	for letter := byte('a'); letter <= 'z'; letter++ {
		add(word+string(letter), costOfLength(letter == word[len(word)-1]))
	}
	return slips
}

// costOfLength is less where the letter is doubled, or should be.
func costOfLength(doubled bool) float64 {
	if doubled {
		return 0
	}
	return lengthCost
}

// keyRows are the rows of a keyboard; letters side by side are easily mistaken.
var keyRows = []string{"qwertyuiop", "asdfghjkl", "zxcvbnm"}

const vowels = "aeiouy"

func areMistaken(a, b byte) bool {
	if strings.IndexByte(vowels, a) >= 0 && strings.IndexByte(vowels, b) >= 0 {
		return true
	}
	for _, row := range keyRows {
		first, second := strings.IndexByte(row, a), strings.IndexByte(row, b)
		if first >= 0 && second >= 0 && (first-second == 1 || second-first == 1) {
			return true
		}
	}
	return false
}

// replaceWords writes words of a text as others; those replaced by "" stay.
func replaceWords(text string, by map[string]string) string {
	var written strings.Builder
	end := 0
	for _, word := range lexical.Words(text) {
		if right := by[strings.ToLower(word.Text)]; right != "" {
			written.WriteString(text[end:word.Start])
			written.WriteString(right)
			end = word.End
		}
	}
	written.WriteString(text[end:])
	return written.String()
}
