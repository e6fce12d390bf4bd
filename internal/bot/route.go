package bot

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"cairn/internal/chat"
	"cairn/internal/graph/flows"
	"cairn/internal/graph/flows/routing/words"
	"cairn/internal/knowledge/lexical"
	"cairn/internal/session"
)

type planKind int

const (
	asks      planKind = iota + 1 // a new request for a flow
	answers                       // a reply to the waiting question
	cancels                       // ends the waiting run
	unoffered                     // a reply to the waiting question that it does not offer
	idle                          // a word to stop what does not work or wait
	stale                         // a press on a question that no longer waits
	empty                         // nothing was said
	spent                         // a word to stop that has stopped a run already
)

// forAsker tells whether only those who may answer the waiting question may do this.
func (k planKind) forAsker() bool { return k == answers || k == cancels || k == unoffered }

// plan is what is done about a message.
type plan struct {
	kind   planKind
	text   string     // for asks and for answers in free text
	choice string     // for answers by a choice
	run    chat.RunID // for cancels
}

// said is the answer in words, as the thread shows it.
func (p plan) said(question chat.Question) string {
	for _, choice := range question.Choices {
		if choice.ID == p.choice {
			return choice.Label
		}
	}
	return p.text
}

// route decides what a message is: the first rule that fits. A question that waits for the
// flow of plain messages is passed over by another question; other flows have every reply.
func route(message chat.Message, waiting *session.Waiting, first string) plan {
	text := strings.TrimSpace(message.Text)
	switch {
	case message.Answers != nil && (waiting == nil || message.Answers.Question != waiting.Question.ID):
		return plan{kind: stale}
	case message.Answers != nil && !offers(waiting.Question, message.Answers.Choice):
		return plan{kind: unoffered}
	case message.Answers != nil:
		return plan{kind: answers, choice: message.Answers.Choice}
	case text == "":
		return plan{kind: empty}
	case chat.IsStop(text) && waiting != nil:
		return plan{kind: cancels, run: waiting.Run}
	case chat.IsStop(text):
		return plan{kind: idle}
	}
	command, isCommand := words.Command(text)
	switch {
	case isCommand && command.Flow == "" && command.Rest == "":
		return plan{kind: empty}
	case !isCommand && waiting != nil && (waiting.Flow != first || !isNewQuestion(text, waiting)):
		return answerTo(waiting.Question, text)
	}
	return plan{kind: asks, text: text}
}

// choose decides which flow a message goes to that answers no question. A stop of the job,
// by which held ends, is seen to when the flow is to run.
func (t *turn) choose(held context.Context, text string) (flows.Choice, error) {
	choice, err := t.options.Router.Route(held, flows.Message{Text: text, Attached: len(t.message.Files) > 0, Running: t.session.Flow})
	if err != nil && context.Cause(held) == nil {
		return flows.Choice{}, err
	}
	if err != nil {
		choice = flows.Choice{Flow: t.first, Text: text, Rule: "stop", Reason: "it was stopped before that was found out"}
	}
	if t.flows[choice.Flow] == nil {
		return flows.Choice{}, fmt.Errorf("route message %s: there is no flow %q", t.message.ID, choice.Flow)
	}
	return choice, nil
}

// routed begins the note of a trace that says why its flow was chosen.
const routed = "routed by "

// answerTo takes a plain reply as one of the choices where it names it, else as text.
func answerTo(question chat.Question, text string) plan {
	for _, choice := range question.Choices {
		if strings.EqualFold(choice.Label, text) || choice.ID == text {
			return plan{kind: answers, choice: choice.ID}
		}
	}
	if !question.FreeText {
		return plan{kind: unoffered}
	}
	return plan{kind: answers, text: text}
}

func offers(question chat.Question, choice string) bool {
	return slices.ContainsFunc(question.Choices, func(offered chat.Choice) bool { return offered.ID == choice })
}

// isNewQuestion says whether a reply is plainly no answer: a question of its own that
// has no word in common with what it was asked or offered.
func isNewQuestion(text string, waiting *session.Waiting) bool {
	if !strings.HasSuffix(text, "?") {
		return false
	}
	offered := make(map[string]bool)
	add := func(text string) {
		for _, term := range lexical.Analyze(text) {
			offered[term] = true
		}
	}
	add(waiting.Request)
	for _, choice := range waiting.Question.Choices {
		add(choice.Label)
		add(choice.Detail)
	}
	telling := 0
	for _, term := range lexical.Analyze(text) {
		if lexical.IsFiller(term) {
			continue
		}
		if offered[term] {
			return false
		}
		telling++
	}
	return telling >= 2
}
