package eval

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

const (
	leadLength = 400 // characters in which the first fact must stand
	maxChoices = 4
)

// forbidden are marks of a source page, or of a broken answer, that nobody should see.
var forbidden = []string{"(link removed)", "{{<", "{{%", "](", "<a ", "| ---"}

const (
	openFence    = "open ```"
	loneCitation = "lone [1]"
)

var loneMark = regexp.MustCompile(`^` + white + `*\[\p{Nd}+\]` + white + `*$`)

// fragments are the forbidden marks in a text that is shown, each once.
func fragments(text string) []string {
	var found []string
	for _, mark := range forbidden {
		if strings.Contains(text, mark) {
			found = append(found, mark)
		}
	}
	fences, lone := 0, false
	for _, line := range splitLines(text) {
		if strings.HasPrefix(strings.TrimLeftFunc(line, isSpace), "```") {
			fences++
		}
		lone = lone || loneMark.MatchString(line)
	}
	if fences%2 == 1 {
		found = append(found, openFence)
	}
	if lone {
		found = append(found, loneCitation)
	}
	return found
}

// The measures of a talk set beside those of an answer set.
const (
	rightOutcome      = "outcome"
	needlessAsk       = "needless ask"
	falseAbstention   = "false abstention"
	otherMiss         = "other miss"
	answeredUnknown   = "answered unanswerable"
	answeredAmbiguous = "answered ambiguous"
	leadFact          = "lead fact"
	talkSources       = "sources on talk"
	forbiddenShown    = "forbidden"
	tooManyChoices    = "too many choices"
	answerLength      = "length"
	talkLength        = "talk length"
	talkLatency       = "latency"
	sectionHit3       = "section hit@3"
	pageHit1          = "page hit@1"
	pageHit3          = "page hit@3"
)

// TalkScore is what was measured of one message.
type TalkScore struct {
	Item     TalkItem
	Answer   TalkAnswer
	Outcome  Outcome // outcomeMissing where there is no answer, or an unknown outcome
	Measures map[string]float64
}

// ScoreTalk measures answers against their items, in the order of the items. stray are
// the ids of answers to no item, sorted.
func ScoreTalk(items []TalkItem, answers []TalkAnswer, pages *Pages) (scores []TalkScore, stray []string, err error) {
	byID, err := indexAnswers(answers, func(a TalkAnswer) string { return a.ID })
	if err != nil {
		return nil, nil, fmt.Errorf("score messages: %w", err)
	}
	scored := make(map[string]bool, len(items))
	for _, item := range items {
		if err := newID(scored, item.ID, "message id"); err != nil {
			return nil, nil, fmt.Errorf("score messages: %w", err)
		}
		answer, ok := byID[item.ID]
		delete(byID, item.ID)
		if err := loadPages(pages, Question{Gold: item.Gold}, Answer{Sources: answer.Sources}); err != nil {
			return nil, nil, fmt.Errorf("score message %q: %w", item.ID, err)
		}
		score := TalkScore{Item: item, Answer: answer, Outcome: answer.Outcome}
		if !ok || answer.Outcome.reaction() == "" {
			score.Outcome = outcomeMissing
		}
		score.Measures = measureTalk(item, answer, pages)
		scores = append(scores, score)
	}
	return scores, slices.Sorted(maps.Keys(byID)), nil
}

// measureTalk gives the measures of one answer; one that does not apply is absent.
func measureTalk(item TalkItem, answer TalkAnswer, pages *Pages) map[string]float64 {
	did := answer.Outcome.reaction()
	m := map[string]float64{rightOutcome: share(did != "" && (did == item.Expect || slices.Contains(item.Also, did)))}
	if answer.LatencyMS != nil {
		m[talkLatency] = *answer.LatencyMS
	}
	measureShown(m, did, answer)
	switch item.Expect {
	case ReactTalk, ReactQuiet, ReactDrop:
		m[talkSources] = share(len(answer.Sources) > 0)
	case ReactAbstain:
		m[answeredUnknown] = share(did == ReactAnswer)
	case ReactAsk:
		m[answeredAmbiguous] = share(did == ReactAnswer)
		if did == ReactAsk && len(item.Readings) > 0 {
			said := norm(strings.Join(append([]string{answer.Answer}, answer.Choices...), " "))
			m[readingsNamed] = shareHeld(item.Readings, said)
		}
	}
	if len(item.MustNot) > 0 && did == ReactAnswer {
		m[saidMustNot] = share(len(told(item.MustNot, norm(answer.Answer))) > 0)
	}
	if item.Expect == ReactAnswer {
		measureAnswerable(m, item, answer, pages)
	}
	return m
}

// measureShown sets the measures of the text as people see it.
func measureShown(m map[string]float64, did Reaction, answer TalkAnswer) {
	if answer.Answer != "" || len(answer.Choices) > 0 {
		shown := append([]string{answer.Answer}, answer.Choices...)
		m[forbiddenShown] = share(slices.ContainsFunc(shown, func(text string) bool { return len(fragments(text)) > 0 }))
	}
	length := float64(len([]rune(answer.Answer)))
	switch did {
	case ReactAsk:
		m[tooManyChoices] = share(len(answer.Choices) > maxChoices)
	case ReactAnswer:
		m[answerLength] = length
	case ReactTalk:
		m[talkLength] = length
	}
}

// measureAnswerable sets the measures of a message that has an answer.
func measureAnswerable(m map[string]float64, item TalkItem, answer TalkAnswer, pages *Pages) {
	did := answer.Outcome.reaction()
	m[needlessAsk], m[falseAbstention] = share(did == ReactAsk), share(did == ReactAbstain)
	m[otherMiss] = share(did != ReactAnswer && did != ReactAsk && did != ReactAbstain)
	found := make(map[string]float64)
	cited := citedPlaces(answer.Sources)
	measurePages(found, item.Gold, cited)
	measureSections(found, item.Gold, cited, pages)
	m[pageHit1], m[pageHit3], m[sectionHit3] = found[pageHit1], found[pageHit3], found[sectionHit3]
	said, lead := "", ""
	if did == ReactAnswer {
		said = norm(answer.Answer)
		runes := []rune(answer.Answer)
		lead = norm(string(runes[:min(len(runes), leadLength)]))
	}
	m[factRecall] = shareHeld(item.Facts, said)
	m[leadFact] = share(holds(item.Facts[0], lead))
}
