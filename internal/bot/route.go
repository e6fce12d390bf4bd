package bot

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/graph/flows/routing"
	recording "github.com/cairn-bot/cairn/internal/inspect/session"
	"github.com/cairn-bot/cairn/internal/knowledge/lexical"
	"github.com/cairn-bot/cairn/internal/language/smalltalk"
	"github.com/cairn-bot/cairn/internal/session"
)

type planKind int

const (
	asks       planKind = iota + 1 // a new request for a flow
	answers                        // a reply to the waiting question
	cancels                        // ends the waiting run
	unoffered                      // a reply to the waiting question that it does not offer
	idle                           // a word to stop what does not work or wait
	stale                          // a press on a question that no longer waits
	empty                          // nothing was said
	spent                          // a word to stop that has stopped a run already
	socializes                     // asks the documents nothing: a greeting, thanks
	repeats                        // did not understand the question that waits
)

// plan is what is done about a message.
type plan struct {
	kind   planKind
	text   string     // for asks and for answers in free text
	choice string     // for answers by a choice
	run    chat.RunID // for cancels
	// social is what a message is that asks nothing, or how one that is about the waiting
	// question is worded.
	social smalltalk.Message
}

// answerText is the answer in words, as the thread shows it.
func (p plan) answerText(question chat.Question) string {
	for _, choice := range question.Choices {
		if choice.ID == p.choice {
			return choice.Label
		}
	}
	return p.text
}

// planMessage decides what a message is: the first rule that fits. A question that waits for the
// flow of plain messages is passed over by another question; other flows have every reply.
func planMessage(message chat.Message, waiting *session.Waiting, first string) plan {
	text := strings.TrimSpace(message.Text)
	switch {
	case message.Answers != nil && (waiting == nil || message.Answers.Question != waiting.Question.ID):
		return plan{kind: stale}
	case message.Answers != nil && !hasChoice(waiting.Question, message.Answers.Choice):
		return plan{kind: unoffered}
	case message.Answers != nil:
		return plan{kind: answers, choice: message.Answers.Choice}
	case chat.IsStop(text) && waiting != nil:
		return plan{kind: cancels, run: waiting.Run, social: smalltalk.Message{Language: smalltalk.English}}
	case chat.IsStop(text):
		return plan{kind: idle}
	}
	command, isCommand := routing.Command(text)
	switch {
	case isCommand && command.Flow == "" && command.Rest == "":
		return plan{kind: empty}
	case isCommand:
		return plan{kind: asks, text: text}
	case waiting != nil && text == "" && len(message.Files) > 0:
		return plan{kind: asks} // it is asked what to do with them
	case waiting != nil && waiting.Flow == first:
		return routeReply(text, waiting)
	case waiting != nil && text != "":
		return answerTo(waiting.Question, text)
	}
	return routePlain(message, text)
}

// routePlain decides what a message is that no question waits for. What only points at
// something asks about what others said, where the message brings that.
func routePlain(message chat.Message, text string) plan {
	brings := len(message.Before)+len(message.Shared)+len(message.Files) > 0
	if brings && smalltalk.Points(text) {
		return plan{kind: asks, text: text}
	}
	if social, ok := smalltalk.Read(text); ok && len(message.Files)+len(message.Shared) == 0 {
		return plan{kind: socializes, social: social}
	}
	if strings.Trim(text, "?¿？!.… ") == "" && !brings {
		return plan{kind: empty}
	}
	return plan{kind: asks, text: text}
}

// routeReply decides what a message is while a question of the flow of plain messages
// waits: an answer to it, the end of it, or something else.
func routeReply(text string, waiting *session.Waiting) plan {
	if answer := answerTo(waiting.Question, text); answer.choice != "" {
		return answer
	}
	if dropped, ok := smalltalk.Drops(text); ok {
		return plan{kind: cancels, run: waiting.Run, social: dropped}
	}
	if again, ok := smalltalk.AsksAgain(text); ok || text == "" {
		return plan{kind: repeats, social: again}
	}
	if social, ok := smalltalk.Read(text); ok {
		return plan{kind: socializes, social: social}
	}
	if rest, ok := smalltalk.Other(text); ok {
		return plan{kind: asks, text: rest}
	}
	if isNewQuestion(text, waiting) {
		return plan{kind: asks, text: text}
	}
	if choice := matchParaphrase(waiting.Question, text); choice != "" {
		return plan{kind: answers, choice: choice}
	}
	return answerTo(waiting.Question, text)
}

// chooseFlow decides which flow a message goes to that answers no question. A stop of the job,
// by which held ends, is seen to when the flow is to run.
func (t *turn) chooseFlow(held context.Context, text string) (flows.Choice, error) {
	files := t.job.message.Files
	choice, err := t.bot.options.Router.Route(held, flows.Message{
		Text: text, Attached: len(files) > 0, Running: t.conversation.session.Flow,
		Recorded: slices.ContainsFunc(files, func(file chat.File) bool { return recording.IsName(file.Name) }),
	})
	if err != nil && context.Cause(held) == nil {
		return flows.Choice{}, err
	}
	if err != nil {
		choice = flows.Choice{Flow: t.bot.first, Text: text, Rule: "stop", Reason: "it was stopped before that was found out"}
	}
	if t.bot.flows[choice.Flow] == nil {
		return flows.Choice{}, fmt.Errorf("route message %s: there is no flow %q", t.job.message.ID, choice.Flow)
	}
	return choice, nil
}

// routed begins the note of a trace that says why its flow was chosen.
const routed = "routed by "

// answerTo takes a plain reply as one of the choices where it names it, or its place among
// them, else as text.
func answerTo(question chat.Question, text string) plan {
	offered := len(question.Choices)
	if place, ok := smalltalk.Place(text); ok && place <= offered && offered > 0 {
		if place < 0 {
			place = offered
		}
		return plan{kind: answers, choice: question.Choices[place-1].ID}
	}
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

// matchParaphrase gives the choice that a reply names in other words, "" where it is none or
// there are several: it has most of the reply's telling words that only some choices have.
func matchParaphrase(question chat.Question, text string) string {
	said := make(map[string]bool)
	for _, term := range lexical.Analyze(text) {
		if !lexical.IsFiller(term) {
			said[term] = true
		}
	}
	best, most, next := "", 0, 0
	for _, choice := range question.Choices {
		held := make(map[string]bool)
		for _, term := range lexical.Analyze(choice.Label + " " + choice.Detail) {
			if said[term] {
				held[term] = true
			}
		}
		switch count := len(held); {
		case count > most:
			best, most, next = choice.ID, count, most
		case count > next:
			next = count
		}
	}
	if most == next {
		return ""
	}
	return best
}

func hasChoice(question chat.Question, choice string) bool {
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
