package answer

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/graph/flows/answer/prompts"
	"github.com/cairn-bot/cairn/internal/llm"
	"github.com/cairn-bot/cairn/internal/shorten"
)

// Models are the language models of the flow by role; nil where there is none.
type Models struct {
	Understand llm.Model // reads questions, and says what to search for next
	Answer     llm.Model // writes answers
	Verify     llm.Model // judges what words alone can't
}

// The roles, as the trace names them.
const (
	roleUnderstand = "understand"
	roleAnswer     = "answer"
)

// How much of a thread a model is shown.
const (
	shownTurns      = 6
	shownTurnLength = 600 // characters
)

func shownHistory(turns []flows.Turn) []prompts.Turn {
	turns = turns[max(0, len(turns)-shownTurns):]
	shown := make([]prompts.Turn, len(turns))
	for i, turn := range turns {
		text := turn.Text
		if turn.Role == flows.Assistant { // its numbers are those of other sources
			text = oldMarks.ReplaceAllString(text, "")
		}
		shown[i] = prompts.Turn{Role: turn.Role, Text: shorten.Text(text, shownTurnLength)}
	}
	return shown
}

var oldMarks = regexp.MustCompile(`[ \t]*\[\d{1,3}\]`)

// turnsOf gives what others said as turns.
func turnsOf(before []flows.Said) []flows.Turn {
	var turns []flows.Turn
	for _, said := range before {
		turns = append(turns, flows.Turn{Role: flows.User, Text: said.Author + ": " + said.Text})
	}
	return turns
}

// What a model's understanding is bounded to.
const (
	maxSearches      = 4
	maxKeywords      = 8
	maxSearchLength  = 300 // characters
	maxUnclearLength = 300
	maxOffered       = 5 // choices
	maxChoiceLength  = 75
	keywordWeight    = 0.3
)

// understandTimeout is how long a model may take to read a question. Rules read it then: a
// question that they read is answered sooner than a better reading comes.
const understandTimeout = 5 * time.Second

// readByModel lets a model put the question in whole words, and reads those by the
// rules, which know the index. It is asked once: rules serve where it fails.
func (q *queryUnderstander) readByModel(ctx context.Context, request analysisRequest) (understanding, error) {
	messages, err := prompts.Understand{
		History: shownHistory(append(turnsOf(request.Before), request.History...)), Question: request.Question, Attachments: excerpts(request.Attachments),
	}.Messages()
	if err != nil {
		return understanding{}, err
	}
	type reply struct {
		Question string   `json:"question"`
		Intent   Intent   `json:"intent"`
		Searches []string `json:"searches"`
		Relation Relation `json:"relation"`
		Keywords []string `json:"keywords"`
		Unclear  string   `json:"unclear"`
		Choices  []string `json:"choices"`
	}
	waiting, stop := context.WithTimeout(ctx, understandTimeout)
	told, use := flows.ConsultFor[reply](waiting, roleUnderstand, q.model, llm.Request{Run: request.Run, Messages: messages, Schema: &prompts.UnderstandSchema, Once: true})
	stop()
	if use.Failure != "" {
		return understanding{Failed: true, Uses: []flows.ModelUse{use}, Remarks: []string{"understood by rules, for the model failed: " + use.Failure}}, nil
	}
	if isSocial(told.Intent) {
		return understanding{Query: request.Question, Intent: told.Intent, Relation: One, Uses: []flows.ModelUse{use}}, nil
	}
	whole := bounded(told.Question)
	if strings.TrimSpace(whole) == "" {
		whole = request.Question
	}
	reader := &inquiry{index: q.index, speller: q.speller, common: q.words, text: whole}
	if err := reader.read(ctx, nil); err != nil {
		return understanding{}, err
	}
	reader.extend(told.Keywords)
	meant := reader.understanding()
	meant.Intent, meant.Relation = told.Intent, told.Relation
	meant.Parts = nil
	for _, search := range told.Searches[:min(len(told.Searches), maxSearches)] {
		if search = strings.TrimSpace(search); search != "" {
			meant.Parts = append(meant.Parts, shorten.Text(search, maxSearchLength))
		}
	}
	meant.FollowUp = len(request.History)+len(request.Before) > 0 && whole != request.Question
	if meant.FollowUp {
		meant.Unresolved = ""
		meant.Remarks = append(meant.Remarks, "read as: "+whole)
	}
	meant.Unclear = shorten.Text(strings.TrimSpace(told.Unclear), maxUnclearLength)
	meant.Choices = offeredChoices(told.Choices)
	meant.Uses = append(meant.Uses, use)
	return meant, nil
}

// offeredChoices are the choices of a model, bounded and each once.
func offeredChoices(told []string) []string {
	var choices []string
	for _, choice := range told {
		choice = shorten.Line(choice, maxChoiceLength-1)
		if choice != "" && !slices.Contains(choices, choice) && len(choices) < maxOffered {
			choices = append(choices, choice)
		}
	}
	return choices
}

// extend adds words that a model thinks documents may use.
func (r *inquiry) extend(keywords []string) {
	weights := newWeights()
	for _, term := range r.searched {
		weights.raise(term.Text, term.Weight)
	}
	known := len(weights.order)
	for _, keyword := range keywords[:min(len(keywords), maxKeywords)] {
		for _, word := range tellingTerms(shorten.Text(keyword, maxSearchLength), isFiller) {
			for _, term := range word.terms {
				weights.raise(term.Text, keywordWeight)
			}
		}
	}
	r.searched = weights.terms()
	for _, term := range r.searched[known:] {
		r.expanded = append(r.expanded, term.Text)
	}
}

// nextSources is how many passages a model sees when it says what to search for next.
const nextSources = 6

// nextByModel has the model say what to search for after what was found; where it fails, rules do.
func (q *queryUnderstander) nextByModel(ctx context.Context, request analysisRequest) (understanding, error) {
	shown := shownSources(q.model, request.Found, sizeOfContext{passages: nextSources, tokens: nextTokens})
	messages, err := prompts.Next{Sources: shown.sources, Searched: request.Searched, Question: request.Question}.Messages()
	if err != nil {
		return understanding{}, err
	}
	type reply struct {
		Enough bool   `json:"enough"`
		Search string `json:"search"`
	}
	told, use := flows.ConsultFor[reply](ctx, roleUnderstand, q.model, llm.Request{Run: request.Run, Messages: messages, Schema: &prompts.NextSchema})
	if use.Failure != "" {
		meant, err := q.nextByRules(ctx, request)
		meant.Uses = append(meant.Uses, use)
		return meant, err
	}
	meant := understanding{Uses: []flows.ModelUse{use}}
	search := shorten.Text(strings.TrimSpace(told.Search), maxSearchLength)
	if !told.Enough && !slices.Contains(request.Searched, search) {
		meant.Next = search
	}
	return meant, nil
}

// nextTokens is how much of the sources a model sees when it says what to search next.
const nextTokens = 3000
