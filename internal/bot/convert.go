package bot

import (
	"context"
	"strings"

	"cairn/internal/chat"
	"cairn/internal/graph"
	"cairn/internal/graph/flows"
	"cairn/internal/knowledge"
)

// categories are the headings over groups of sources.
var categories = map[knowledge.Kind]string{
	knowledge.KindDocumentation: "Documentation",
	knowledge.KindCode:          "Code",
	knowledge.KindDrive:         "Drive files",
	knowledge.KindPage:          "Pages",
	knowledge.KindConversation:  "Conversations",
	knowledge.KindWeb:           "Web",
}

var outcomes = map[flows.Kind]chat.Outcome{
	flows.Answered:  chat.Answered,
	flows.Abstained: chat.Abstained,
}

// history gives a flow what was said in the thread. Questions and what was answered
// to them count as turns.
func history(turns []chat.Turn) []flows.Turn {
	var said []flows.Turn
	for _, t := range turns {
		switch {
		case t.Role == chat.Person:
			said = append(said, flows.Turn{Role: flows.User, Text: t.Text})
		case t.Reply != nil:
			said = append(said, flows.Turn{Role: flows.Assistant, Text: t.Reply.Text})
		case t.Question != nil:
			said = append(said, flows.Turn{Role: flows.Assistant, Text: t.Question.Text})
		}
	}
	return said
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

func replyOf(run chat.RunID, outcome flows.Outcome) chat.Reply {
	reply := chat.Reply{Run: run, Outcome: outcomes[outcome.Kind], Text: outcome.Text, Note: outcome.Note, Trace: traceOf(outcome.Trace)}
	for _, group := range outcome.Groups {
		converted := chat.SourceGroup{Category: categories[group.Kind]}
		for _, source := range group.Sources {
			converted.Sources = append(converted.Sources, sourceOf(source))
		}
		reply.Sources = append(reply.Sources, converted)
	}
	return reply
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
			Number: section.Number, Heading: section.Heading, Anchor: section.Anchor, URL: section.URL,
		})
	}
	return converted
}

func traceOf(trace flows.Trace) chat.Trace {
	converted := chat.Trace{Notes: trace.Notes, Took: trace.Took}
	for _, step := range trace.Steps {
		converted.Steps = append(converted.Steps, chat.TraceStep{Node: step.Node, Took: step.Took})
	}
	for _, q := range trace.Queries {
		converted.Queries = append(converted.Queries, chat.TraceQuery{
			Text: q.Text, Used: q.Used, Pruned: q.Pruned, Lexical: q.Lexical, Dense: q.Dense, Took: q.Took,
		})
	}
	for _, c := range trace.Evidence {
		converted.Evidence = append(converted.Evidence, chat.TraceEvidence{
			Passage: string(c.Passage), Title: c.Title, Section: c.Section,
			Score: c.Score, Lexical: c.Lexical, Dense: c.Dense, Kept: c.Kept,
		})
	}
	return converted
}

func joinNotes(notes ...string) string {
	return strings.Join(notes, " ")
}

// runtime gives a run the checkpoint store and passes its steps on to the thread.
func (t *turn) runtime(ctx context.Context) flows.Runtime {
	return flows.Runtime{Store: t.bot.checkpoints, Observe: func(event graph.Event) {
		progress, shown := progressOf(event)
		if !shown {
			return
		}
		if err := t.conversation.Progress(ctx, progress); err != nil {
			t.bot.logger.WarnContext(ctx, "progress not shown", "run", event.Run, "error", err)
		}
	}}
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
		progress.Status = chat.Completed
		if event.Err != nil {
			progress.Status = chat.Failed
		}
	default:
		return chat.Progress{}, false
	}
	return progress, true
}
