package curated

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/cairn-bot/cairn/internal/chat/markup"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/knowledge"
)

// findTime bounds the search for a pinned answer: without one the flow answers.
const findTime = 2 * time.Second

// answering is a flow whose questions are answered by what experts pinned to them.
type answering struct {
	flows.Flow
	finder *Finder
	logger *slog.Logger
}

// NewFlow has questions to a flow answered by pinned answers, where there are any.
func NewFlow(flow flows.Flow, finder *Finder, logger *slog.Logger) flows.Flow {
	return &answering{flow, finder, logger}
}

// Start implements flows.Flow. What brings files, or messages of others, or a question to its asker
// is left to the flow, and so is what asks for all that was found.
func (a *answering) Start(ctx context.Context, request flows.Request, runtime flows.Runtime) (flows.Outcome, error) {
	if len(request.Attachments)+len(request.Before) > 0 || request.Asks != nil || request.Depth == flows.Comprehensive {
		return a.Flow.Start(ctx, request, runtime)
	}
	begun := a.finder.now()
	limited, cancel := context.WithTimeout(ctx, findTime)
	defer cancel()
	match, ok, err := a.finder.Find(limited, Question{Text: request.Text, FollowsUp: len(request.History) > 0, Sources: request.Filter.Sources})
	if err != nil && ctx.Err() == nil {
		a.logger.WarnContext(ctx, "look for a pinned answer", "run", request.Run, "error", err)
	}
	if err != nil || !ok {
		return a.Flow.Start(ctx, request, runtime)
	}
	return a.give(match, begun), nil
}

// give makes the outcome of a pinned answer.
func (a *answering) give(match Match, begun time.Time) flows.Outcome {
	answer, now := match.Answer, a.finder.now()
	return flows.Outcome{
		Kind: flows.Answered, Text: answer.Text, Note: Describe(answer, now), Groups: describeSources(match),
		Trace: flows.Trace{
			Evidence: describeEvidence(match), Took: now.Sub(begun),
			Notes: []string{fmt.Sprintf("pinned: this answer is pinned to the question %q (words %.2f, meaning %.2f)", answer.Question, match.Words, match.Meaning)},
		},
	}
}

// Describe says whose answer it is, how old, and until when it is given: "Pinned by Ada, 12 days
// ago; expires 2027-05-02."
func Describe(answer Answer, now time.Time) string {
	by := ""
	if answer.Name != "" {
		by = " by " + answer.Name
	}
	return fmt.Sprintf("📌 Pinned%s, %s; expires %s.", by, markup.Age(now, answer.Pinned), answer.Expires.Format(time.DateOnly))
}

// describeSources gives the sources of an answer as their documents are now.
func describeSources(match Match) []flows.SourceGroup {
	documents := make(map[knowledge.DocumentID]knowledge.Document)
	for _, found := range match.Passages {
		documents[found.Document.ID] = found.Document
	}
	groups := make([]flows.SourceGroup, len(match.Answer.Groups))
	for i, group := range match.Answer.Groups {
		groups[i] = flows.SourceGroup{Kind: group.Kind, Sources: slices.Clone(group.Sources)}
		for j := range groups[i].Sources {
			source := &groups[i].Sources[j]
			if document, ok := documents[source.Document]; ok {
				source.Title, source.Path, source.Owner, source.Modified, source.State = document.Title, document.Path, document.Owner, document.Modified, document.State
				if document.Modified.After(match.Answer.Pinned) {
					source.State = knowledge.StateChanged
				}
			}
		}
	}
	return groups
}

// describeEvidence gives the passages that an answer rests on. They have no hashes: a change of them
// takes nothing from what an expert stands for.
func describeEvidence(match Match) []flows.Candidate {
	evidence := make([]flows.Candidate, len(match.Passages))
	for i, found := range match.Passages {
		evidence[i] = flows.Candidate{
			Passage: found.Passage.ID, Title: found.Document.Title, Path: found.Document.Path, Section: found.Passage.Section(), Anchor: found.Passage.Anchor,
			Score: 1, Kept: true, Audience: found.Document.Audience.OrPublic(),
		}
	}
	return evidence
}
