package page

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/pages"
	"github.com/cairn-bot/cairn/internal/pages/merge"
	"github.com/cairn-bot/cairn/internal/shorten"
)

// Decision is what a person wants done with a proposal.
type Decision string

// The decisions, and choices of the question.
const (
	Apply   Decision = "apply"
	Discard Decision = "discard"
)

// The keys of the questions.
const (
	reviewKey   = "review"
	conflictKey = "conflict"
)

// review shows a change and waits for what the person decides.
func (f *Flow) review(ctx context.Context, step graph.Step[State]) (graph.Result[State], error) {
	s := step.State
	answer, answered := step.Answer(reviewKey)
	if answered {
		decided := Discard
		if Decision(answer.Choice) == Apply {
			decided = Apply
		}
		return graph.Update(decision.Set(decided)), nil
	}
	if s.Proposal.Verb == Merge {
		return graph.Ask[State](graph.Question{
			Key: reviewKey, Text: s.Proposal.Text, Who: graph.Thread, Deadline: reviewTime,
			Choices: []graph.Choice{
				{ID: string(Apply), Label: "Open a merge request"},
				{ID: string(Discard), Label: "Discard", Detail: "leave the documents as they are"},
			},
		}), nil
	}
	text := fmt.Sprintf("Delete **%s** (`%s`) and its history? It can't be taken back.", escape(s.Proposal.Title), s.Proposal.Page)
	if s.Proposal.Verb != Delete {
		shown, err := f.describe(ctx, s, *s.Proposal)
		if err != nil {
			return endForError(err)
		}
		text = fmt.Sprintf("A change of **%s** (`%s`, version %d):%s\n\n%s", escape(s.Proposal.Title), s.Proposal.Page, s.Proposal.Base, f.linkPage(s.Proposal.Page), shown)
	}
	question := graph.Question{
		Key: reviewKey, Text: text,
		Choices: []graph.Choice{
			{ID: string(Apply), Label: "Apply", Detail: "make the change"},
			{ID: string(Discard), Label: "Discard", Detail: "leave the page as it is"},
		},
	}
	if s.Proposal.Verb == Correct { // it is for the page's owner, not for who happened to say it
		question.Who, question.Deadline = graph.Thread, reviewTime
		if owner := strings.ReplaceAll(s.Proposal.Owner, "`", ""); owner != "" {
			question.Text = fmt.Sprintf("For `%s`, who made the page. ", owner) + question.Text
		}
	}
	return graph.Ask[State](question), nil
}

// apply makes the change, merged with what came in between. What others changed in the same
// words is left to the person.
func (f *Flow) apply(ctx context.Context, step graph.Step[State]) (graph.Result[State], error) {
	s := step.State
	p := *s.Proposal
	switch {
	case s.Output != "": // it was refused when it was to be shown
		return graph.Update(output.Set(s.Output)), nil
	case p.Verb != Undo && s.Decision != Apply:
		return endWith("Discarded: **%s** is as it was.", escape(p.Title))
	case p.Verb == Merge:
		return openMerge(ctx, f, s)
	case p.Verb == Delete:
		if err := f.library.Delete(ctx, s.findPlace(), p.Page); err != nil && !errors.Is(err, pages.ErrNotFound) {
			return graph.Result[State]{}, err
		}
		return endWith("**%s** is deleted, with its history.", escape(p.Title))
	}
	edit, err := f.buildEdit(ctx, s, p)
	if err != nil {
		return endForError(err)
	}
	edit.Resolve = s.Resolve
	saved := pages.Page{Title: p.Title, Version: p.Base}
	if edit.Root != nil || edit.Title != "" { // else it is about snapshots alone
		saved, err = f.library.Save(ctx, s.findPlace(), edit)
	}
	if clash, ok := errors.AsType[*pages.ConflictError](err); ok {
		return graph.Update(conflicts.Set(clash.Conflicts)), nil
	}
	if err == nil && p.Verb == Free {
		err = f.nameVersions(ctx, s)
	}
	if err != nil {
		return endForError(err)
	}
	if p.Verb == Correct { // so that `page: undo` is about it
		if err := f.library.Activate(ctx, s.findPlace(), p.Page); err != nil {
			return graph.Result[State]{}, err
		}
	}
	text := fmt.Sprintf("Done: **%s** has version %d now.", escape(saved.Title), saved.Version)
	if p.Verb == Undo {
		text = fmt.Sprintf("Taken back: **%s** is as in version %d, as version %d.", escape(saved.Title), p.Number, saved.Version)
	}
	if saved.Version > p.Base+1 {
		text += fmt.Sprintf(" It was merged with %d changes that others made meanwhile.", saved.Version-p.Base-1)
	}
	if p.Verb != Undo {
		text += " `page: undo` takes it back, within a day."
	}
	return graph.Update(output.Set(text+f.linkPage(p.Page)), undoable.Set(p.Verb != Undo)), nil
}

// nameVersions makes the snapshots of the model's work, and gives up those that it deleted.
func (f *Flow) nameVersions(ctx context.Context, s State) error {
	for _, naming := range s.Names {
		if err := f.library.NameVersion(ctx, s.findPlace(), s.Proposal.Page, naming.Version, naming.Name); err != nil {
			return err
		}
	}
	return nil
}

// maxConflicts is how many conflicts a question shows.
const maxConflicts = 4

// askConflict shows what both changed, and waits for which of it holds.
func (f *Flow) askConflict(_ context.Context, step graph.Step[State]) (graph.Result[State], error) {
	s := step.State
	answer, answered := step.Answer(conflictKey)
	if !answered {
		return graph.Ask[State](graph.Question{
			Key: conflictKey, Text: describeConflicts(s),
			Choices: []graph.Choice{
				{ID: string(merge.KeepOurs), Label: "Keep what is there"},
				{ID: string(merge.TakeTheirs), Label: "Take the new text"},
				{ID: string(merge.KeepBoth), Label: "Keep both"},
				{ID: string(Discard), Label: "Discard", Detail: "leave the page as it is"},
			},
		}), nil
	}
	if Decision(answer.Choice) == Discard {
		return graph.Update(decision.Set(Discard)), nil
	}
	return graph.Update(resolve.Set(merge.Choice(answer.Choice)), conflicts.Set(nil)), nil
}

func describeConflicts(s State) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Somebody changed the same words of **%s** meanwhile. Which of it holds?\n", escape(s.Proposal.Title))
	for _, conflict := range s.Conflicts[:min(len(s.Conflicts), maxConflicts)] {
		fmt.Fprintf(&b, "\nBlock `%s`:\n```\nbefore  %s\nthere   %s\nnew     %s\n```", conflict.Block, shortenVersion(conflict.Base), shortenVersion(conflict.Ours), shortenVersion(conflict.Their))
	}
	if more := len(s.Conflicts) - maxConflicts; more > 0 {
		fmt.Fprintf(&b, "\nThe choice is also for %d more blocks.", more)
	}
	return b.String()
}

const maxShortened = 400 // letters of a version in a question

func shortenVersion(text string) string {
	if text = shorten.Line(text, maxShortened); text == "" {
		return "(deleted)"
	}
	return strings.ReplaceAll(text, "```", "ʼʼʼ")
}
