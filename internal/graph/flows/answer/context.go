package answer

import (
	"regexp"
	"slices"
	"strings"

	"cairn/internal/graph/flows/answer/prompts"
	"cairn/internal/knowledge/retrieve"
	"cairn/internal/knowledge/sentence"
	"cairn/internal/llm"
)

// sizeOfContext bounds what a model is shown.
type sizeOfContext struct {
	passages int
	tokens   int
	all      bool // also what is hardly worth showing
}

// sourceTokens is about what the tags and the title of a source take.
const sourceTokens = 24

// shown gives the passages that a model is shown, best first, and their positions in
// the evidence. A passage that does not fit whole is cut at the end of a sentence, and
// what comes after it is left out.
func (f *Flow) shown(model llm.Model, evidence []retrieve.Evidence, size sizeOfContext) (shown []prompts.Source, positions []int) {
	left := size.tokens
	worth := slices.ContainsFunc(evidence, func(e retrieve.Evidence) bool { return isWorthShowing(e, evidence[0]) })
	for i, e := range evidence {
		if len(shown) == size.passages {
			break
		}
		if worth && !size.all && !isWorthShowing(e, evidence[0]) {
			continue
		}
		left -= sourceTokens + model.Tokens(e.Document.Title+e.Passage.Section())
		text, took, whole := fitting(model, e.Passage.Text, left)
		if text == "" {
			break
		}
		left -= took
		source := prompts.Source{Number: len(shown) + 1, Title: e.Document.Title, Section: e.Passage.Section(), Text: text}
		if !e.Document.Modified.IsZero() {
			source.Modified = e.Document.Modified.Format("2006-01-02")
		}
		shown = append(shown, source)
		positions = append(positions, i)
		if !whole {
			break
		}
	}
	return shown, positions
}

const (
	// leastWords is how many words a passage has at least that a model is shown.
	leastWords = 12
	// shortFloor is the part of the best passage's score from which a shorter one is shown.
	shortFloor = 0.5
)

// seeAlso are headings over lists of links.
var seeAlso = regexp.MustCompile(`(?i)^(?:see also|related(?: (?:links|pages|topics|articles))?|further reading|next steps|what'?s next|siehe auch|voir aussi|véase también|vedi anche|zie ook)\W*$`)

// isWorthShowing says whether a passage may answer anything: lists of links don't, nor do a few
// words, unless they define something, score nearly as the best one, or are all that there is
// of a file.
func isWorthShowing(e, best retrieve.Evidence) bool {
	if isAttached(e) || len(e.Passage.Definitions) > 0 {
		return true
	}
	short := len(strings.Fields(e.Passage.Text)) < leastWords && e.Score < shortFloor*best.Score
	return !short && !seeAlso.MatchString(e.Passage.Section())
}

// fitting gives as many whole sentences of a text, from its beginning, as have no more
// tokens than are left.
func fitting(model llm.Model, text string, left int) (fits string, took int, whole bool) {
	if took = model.Tokens(text); took <= left {
		return text, took, true
	}
	end, sum := 0, 0
	for _, part := range sentence.Split(text) {
		tokens := model.Tokens(text[end:part.End])
		if sum+tokens > left {
			break
		}
		end, sum = part.End, sum+tokens
	}
	return strings.TrimSpace(text[:end]), sum, false
}
