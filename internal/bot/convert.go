package bot

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/language"
	"github.com/cairn-bot/cairn/internal/phrases"
)

// categories are the headings over groups of sources.
var categories = map[knowledge.Kind]string{
	knowledge.KindDocumentation: "Documentation",
	knowledge.KindCode:          "Code",
	knowledge.KindDrive:         "Drive files",
	knowledge.KindPage:          "Pages",
	knowledge.KindConversation:  "Conversations",
	knowledge.KindWeb:           "Web",
	flows.KindAttachment:        "Attached files",
}

var outcomes = map[flows.Kind]chat.Outcome{
	flows.Answered:  chat.Answered,
	flows.Abstained: chat.Abstained,
}

// convertHistory gives a flow what was said in the thread. Questions and what was answered
// to them count as turns; failure lines, reminders, what was dropped, small talk, and words
// to stop do not.
func convertHistory(turns []chat.Turn) []flows.Turn {
	aside := make(map[chat.MessageID]bool)
	for i, t := range turns {
		switch {
		case t.Question != nil:
			aside[t.Message] = t.Answer == cancelled
		case t.Reply != nil && (t.Reply.Outcome == chat.Social || t.Reply.Outcome == chat.Dropped):
			aside[t.Message] = true
		case t.Role == chat.Person && chat.IsStop(t.Text):
			aside[t.Message] = true
		case isWordless(t): // but for a press, which answers the question before it
			aside[t.Message] = i == 0 || turns[i-1].Question == nil || turns[i-1].Answer == ""
		}
	}
	var said []flows.Turn
	for _, t := range turns {
		switch {
		case aside[t.Message], isWordless(t):
		case t.Role == chat.Person:
			said = append(said, flows.Turn{Role: flows.User, Text: t.Text})
		case t.Reply != nil && t.Reply.Outcome != chat.Failure && t.Reply.Outcome != chat.Noticed:
			said = append(said, flows.Turn{Role: flows.Assistant, Text: t.Reply.Text, Cited: citedPassages(*t.Reply)})
		case t.Question != nil:
			said = append(said, flows.Turn{Role: flows.Assistant, Text: t.Question.Text})
		}
	}
	return said
}

// citedPassages gives the passages that a reply cites, in the order of their numbers.
func citedPassages(reply chat.Reply) []knowledge.PassageID {
	byNumber := make(map[int]knowledge.PassageID)
	for _, group := range reply.Sources {
		for _, source := range group.Sources {
			for _, section := range source.Sections {
				position, _, ok := knowledge.ParseReference(section.Passage)
				if ok && section.Number > 0 && source.Document != "" {
					byNumber[section.Number] = knowledge.MakePassageID(knowledge.DocumentID(source.Document), position)
				}
			}
		}
	}
	var cited []knowledge.PassageID
	for _, number := range slices.Sorted(maps.Keys(byNumber)) {
		cited = append(cited, byNumber[number])
	}
	return cited
}

// isWordless reports whether a person sent no words: files alone, or a press where the platform
// shows none for it.
func isWordless(t chat.Turn) bool {
	return t.Role == chat.Person && strings.TrimSpace(t.Text) == ""
}

func questionOf(run chat.RunID, asker chat.UserID, asked graph.Question) chat.Question {
	question := chat.Question{ID: asked.ID, Run: run, Text: asked.Text, FreeText: asked.FreeText}
	if asked.Who != graph.Thread {
		question.Asker = asker
	}
	for _, choice := range asked.Choices {
		question.Choices = append(question.Choices, chat.Choice{ID: choice.ID, Label: choice.Label, Detail: choice.Detail})
	}
	return question
}

// replyOf gives the outcome as people read it; whose run it is, and its trace, are the
// caller's to add.
func replyOf(outcome flows.Outcome) chat.Reply {
	reply := chat.Reply{Outcome: outcomes[outcome.Kind], Text: outcome.Text, Note: outcome.Note}
	for _, group := range outcome.Groups {
		converted := chat.SourceGroup{Category: categories[group.Kind]}
		for _, source := range group.Sources {
			shown := sourceOf(source)
			if group.Kind == knowledge.KindConversation {
				shown.Title = phrases.In(language.Detect(outcome.Text)).Text(phrases.PeopleSaid, shown.Title)
			}
			converted.Sources = append(converted.Sources, shown)
		}
		reply.Sources = append(reply.Sources, converted)
	}
	documents, left := documentsOf(outcome.Files)
	reply.Documents, reply.Note = documents, joinNotes(reply.Note, left)
	return reply
}

// oldAfter is how long a document stays unchanged until people are told.
const oldAfter = 365 * 24 * time.Hour

// markOld marks a source that was not changed for long.
func markOld(source *chat.Source, now time.Time) {
	if source.State == string(knowledge.StateLive) && !source.Modified.IsZero() && now.Sub(source.Modified) >= oldAfter {
		source.State = "old"
	}
}

func sourceOf(source flows.Source) chat.Source {
	converted := chat.Source{
		Title: source.Title, Path: source.Path, Owner: source.Owner,
		Modified: source.Modified, State: string(source.State),
	}
	for _, section := range source.Sections {
		if section.Number > 0 {
			converted.Numbers = append(converted.Numbers, section.Number)
		}
		converted.Sections = append(converted.Sections, chat.Section{
			Number: section.Number, Heading: section.Heading, Anchor: section.Anchor, URL: section.URL, Passage: section.Passage,
		})
	}
	return converted
}

// traceOf gives what a flow tells of how its outcome came about, but for the steps and
// the time: the bot knows those of all parts of a run.
func traceOf(trace flows.Trace) chat.Trace {
	converted := chat.Trace{Notes: trace.Notes}
	for _, q := range trace.Queries {
		converted.Queries = append(converted.Queries, chat.TraceQuery{
			Text: q.Text, Used: q.Used, Pruned: q.Pruned, Lexical: q.Lexical, Dense: q.Dense, Took: q.Took,
		})
	}
	for _, c := range trace.Evidence {
		converted.Evidence = append(converted.Evidence, chat.TraceEvidence{
			Passage: string(c.Passage), Title: c.Title, Section: c.Section, Path: c.Path, Anchor: c.Anchor,
			Score: c.Score, Lexical: c.Lexical, Dense: c.Dense, Kept: c.Kept,
		})
	}
	for _, agent := range trace.Agents {
		converted.Agents = append(converted.Agents, chat.TraceAgent(agent))
	}
	for _, model := range trace.Models {
		converted.Models = append(converted.Models, chat.TraceModel(model))
	}
	for _, input := range trace.Inputs {
		converted.Inputs = append(converted.Inputs, chat.TraceInput(input))
	}
	return converted
}

// progressOf gives an event as people see it; shown is false for the others.
func progressOf(event graph.Event) (progress chat.Progress, shown bool) {
	progress = chat.Progress{
		Run: chat.RunID(event.Run), Step: event.Node, Description: event.Description, Took: event.Duration,
	}
	switch event.Kind {
	case graph.StepStarted:
		progress.Status = chat.Running
	case graph.Detail:
		progress.Status, progress.Description = chat.Running, event.Text
	case graph.StepFinished:
		progress.Status = endStatus(event.Err)
	default:
		return chat.Progress{}, false
	}
	return progress, true
}

// stepOf gives an event as a step of the trace; over is false where it ends none.
func stepOf(event graph.Event) (step chat.TraceStep, over bool) {
	step = chat.TraceStep{Node: event.Node, Took: event.Duration}
	switch event.Kind {
	case graph.StepFinished:
		step.Status = endStatus(event.Err)
	case graph.QuestionAsked:
		step.Status = chat.Pending
	default:
		return chat.TraceStep{}, false
	}
	return step, true
}

// endStatus is how a step ended; one that was stopped in its work, by a person or since
// another one failed, counts as skipped.
func endStatus(err error) chat.StepStatus {
	switch {
	case err == nil:
		return chat.Completed
	case errors.Is(err, context.Canceled):
		return chat.Skipped
	}
	return chat.Failed
}
