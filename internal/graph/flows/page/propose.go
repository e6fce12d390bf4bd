package page

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/pages"
	"github.com/cairn-bot/cairn/internal/pages/merge"
)

// undoTime is how long a change can be taken back.
const undoTime = 24 * time.Hour

// propose prepares a change of a page.
func (f *Flow) propose(ctx context.Context, s State, page pages.Page, command Command) (graph.Result[State], error) {
	made := Proposal{Verb: command.Verb, Page: page.ID, Base: page.Version, Title: page.Title, Text: command.Rest}
	switch command.Verb {
	case AppendText:
		if command.Rest == "" {
			return endRefused("What is to be added? `page: append` and a text.")
		}
	case Title:
		title, err := pages.CleanTitle(command.Rest)
		if err != nil {
			return endRefused("That can't be done: %s.", err)
		}
		made.Text = title
	case Replace:
		block, text, _ := strings.Cut(strings.TrimSpace(command.Rest), " ")
		if first, below, ok := strings.Cut(block, "\n"); ok {
			block, text = first, below+" "+text
		}
		made.Block, made.Text = strings.Trim(block, "`:"), strings.TrimSpace(text)
	case Restore:
		number, ok := readNumber(command.Rest)
		if !ok {
			return endRefused("Which version? `page: history` shows them; `page: restore 3` has the third again.")
		}
		made.Number = number
	case Undo:
		if refusal, err := f.prepareUndo(ctx, s, page, command, &made); refusal != "" || err != nil {
			if err != nil {
				return endForError(err)
			}
			return endRefused("%s", refusal)
		}
	}
	edit, err := f.buildEdit(ctx, s, made)
	if err != nil {
		return endForError(err)
	}
	if made.Verb != Delete && edit.Title == "" && (edit.Root == nil || isSamePage(page.Root, edit.Root)) {
		return endWith("That changes nothing: **%s** is as you want it.", escape(page.Title))
	}
	return graph.Update(proposal.Set(&made), notes.Set([]string{fmt.Sprintf("proposed %s of page %s, version %d", made.Verb, made.Page, made.Base)})), nil
}

// prepareUndo has an undo take the last change back, if that is not too long ago.
func (f *Flow) prepareUndo(ctx context.Context, s State, page pages.Page, command Command, made *Proposal) (refusal string, err error) {
	last, err := f.library.LoadVersion(ctx, s.findPlace(), page.ID, page.Version)
	switch {
	case err != nil:
		return "", err
	case command.Rest != "" && last.Run != command.Rest:
		return "The page was changed since, or another one is open here: `page: history` shows the changes, and `page: restore` and a number has an older version again.", nil
	case page.Version == 1:
		return "Nothing was changed on this page since it was made.", nil
	case f.now().Sub(last.At) > undoTime:
		return "The last change was made more than a day ago. `page: restore` and a number has an older version again.", nil
	}
	made.Number = page.Version - 1
	return "", nil
}

// buildEdit makes the change of a proposal, on the version that the person saw.
func (f *Flow) buildEdit(ctx context.Context, s State, p Proposal) (pages.Edit, error) {
	edit := pages.Edit{Page: p.Page, Base: p.Base, By: s.describeAuthor("page: " + string(p.Verb))}
	if p.Verb == Title {
		edit.Title = p.Text
		return edit, nil
	}
	if p.Verb == Delete {
		return edit, nil
	}
	if p.Verb == Free {
		draft, base, err := f.loadDraft(ctx, s)
		if err != nil {
			return edit, err
		}
		edit.By.Why = fmt.Sprintf("page: %d calls of the language model", len(s.listApplied()))
		if !isSamePage(base.Root, draft.Root) {
			edit.Root = draft.Root
		}
		if draft.Title != p.Title {
			edit.Title = draft.Title
		}
		return edit, nil
	}
	number := p.Base
	if p.Verb == Restore || p.Verb == Undo {
		number = p.Number
	}
	version, err := f.library.LoadVersion(ctx, s.findPlace(), p.Page, number)
	if err != nil {
		return pages.Edit{}, err
	}
	switch p.Verb {
	case AppendText:
		edit.Root, err = pages.Append(version.Root, p.Text)
	case Replace:
		edit.Root, err = pages.Replace(version.Root, p.Block, p.Text)
	case Correct:
		edit.Root, err = pages.EditText(version.Root, p.Edits)
		edit.By.Why = "page: corrected by what was said in a thread"
	case Restore, Undo:
		edit.Root = version.Root
		if version.Title != p.Title {
			edit.Title = version.Title
		}
		edit.By.Why = fmt.Sprintf("page: %s, version %d again", p.Verb, p.Number)
	}
	return edit, err
}

// describe shows what a proposal changes.
func (f *Flow) describe(ctx context.Context, s State, p Proposal) (string, error) {
	edit, err := f.buildEdit(ctx, s, p)
	if err != nil {
		return "", err
	}
	var parts []string
	if edit.Title != "" {
		parts = append(parts, fmt.Sprintf("Title: %s → **%s**", escape(p.Title), escape(edit.Title)))
	}
	if edit.Root != nil {
		base, err := f.library.LoadVersion(ctx, s.findPlace(), p.Page, p.Base)
		if err != nil {
			return "", err
		}
		if diff, _ := merge.Diff(merge.Compare(base.Root, edit.Root)); diff != "" {
			parts = append(parts, diff)
		} else if !isSamePage(base.Root, edit.Root) {
			parts = append(parts, "No words change: only what blocks are, such as the type of a list.")
		}
	}
	if p.Verb == Free {
		parts = append(parts, describeWork(s)...)
	}
	if p.Verb == Correct {
		parts = append(parts, p.Text)
		if s.Closing != "" {
			parts = append(parts, s.Closing)
		}
	}
	return strings.Join(parts, "\n\n"), nil
}

// describeWork says which snapshots the model's work makes and gives up, and what it says of it.
func describeWork(s State) []string {
	var parts []string
	for _, naming := range s.Names {
		text := fmt.Sprintf("Version %d is kept as “%s”.", naming.Version, escape(naming.Name))
		if naming.Name == "" {
			text = fmt.Sprintf("Version %d, “%s”, is no snapshot any more.", naming.Version, escape(naming.Was))
		}
		parts = append(parts, text)
	}
	if s.Closing != "" {
		parts = append(parts, s.Closing)
	}
	return parts
}
