package page

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/correction"
	"github.com/cairn-bot/cairn/internal/shorten"
)

// MergeRequests opens merge requests where documents come from.
type MergeRequests interface {
	// FindRepository names the repository of a document that merge requests can change; ok is false
	// for any other document.
	FindRepository(document knowledge.Document) (name string, ok bool)
	// Open opens a merge request and gives its address; done again with the same change, it gives the
	// same. ErrOutdated where a file is not any more as it was read, *RefusedError where the forge
	// does not take it.
	Open(ctx context.Context, request MergeRequest) (address string, err error)
}

// ErrOutdated is the error for a file that was changed since it was read.
var ErrOutdated = errors.New("the file was changed meanwhile")

// RefusedError says why a forge does not let a file be read, or a merge request be opened.
type RefusedError struct {
	Reason string // for people: "its token may not write to the repository"
	Err    error
}

func (e *RefusedError) Error() string { return e.Reason + ": " + e.Err.Error() }

// Unwrap gives what the forge said.
func (e *RefusedError) Unwrap() error { return e.Err }

// MergeRequest is a change of files of one repository.
type MergeRequest struct {
	Title, Body string // Body is Markdown
	Files       []FileChange
}

// FileChange is what the file of a document holds, and what it is to hold.
type FileChange struct {
	Document      knowledge.DocumentID
	Before, After []byte
}

// FileEdit is a correction of a file that waits for a person.
type FileEdit struct {
	Document knowledge.Document `json:"document"`
	Hash     string             `json:"hash"` // of the file as it was read
	Edits    []correction.Edit  `json:"edits"`
}

func hashLines(lines []string) string {
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return hex.EncodeToString(sum[:])
}

// findMergeable tells whether one merge request can make all changes of files.
func findMergeable(merges MergeRequests, changed []corrected) bool {
	if merges == nil {
		return false
	}
	first := ""
	for i, one := range changed {
		name, ok := merges.FindRepository(one.document)
		if one.page != nil || !ok || i > 0 && name != first {
			return false
		}
		first = name
	}
	return true
}

// proposeMerge asks whether a merge request of the changes is to be opened.
func proposeMerge(said objection, changed []corrected, shown string) *Proposal {
	made := &Proposal{Verb: Merge, Title: changed[0].document.Title}
	for _, one := range changed {
		made.Files = append(made.Files, FileEdit{Document: one.document, Hash: hashLines(one.lines), Edits: correction.Edits(one.found)})
	}
	made.Text = fmt.Sprintf("What was said in this thread corrects what documents say. Open a merge request of the change? It quotes the messages below, without names, for all who can read the repository.%s\n\n%s", shown, quoteReasons(said, changed))
	for _, one := range changed {
		for _, found := range one.found {
			quote := "> " + escape(shorten.Line(said.messages[found.Message].Text, maxQuoted))
			if !strings.Contains(made.Body, quote) {
				made.Body += quote + "\n\n"
			}
		}
	}
	return made
}

// openMerge opens the merge request that a person approved.
func openMerge(ctx context.Context, f *Flow, s State) (graph.Result[State], error) {
	p := *s.Proposal
	request := MergeRequest{Title: "Correct " + shorten.Line(p.Title, maxQuoted), Body: "Said in a conversation about what the documents say:\n\n" + p.Body + "Found by Cairn, and approved there by a person."}
	for _, file := range p.Files {
		content, err := f.documents.ReadOriginal(ctx, file.Document)
		if refused, ok := errors.AsType[*RefusedError](err); ok {
			return endUnopened(refused)
		}
		if err != nil && !errors.Is(err, ErrNoOriginal) {
			return graph.Result[State]{}, fmt.Errorf("read document %s: %w", file.Document.ID, err)
		}
		if err != nil {
			return endRefused("**%s** is not there any more, or may not be read, so no merge request was opened.", escape(file.Document.Title))
		}
		lines := correction.SplitLines(string(content))
		if hashLines(lines) != file.Hash {
			return endRefused("**%s** was changed meanwhile, so no merge request was opened. `page: correct` looks at it anew.", escape(file.Document.Title))
		}
		after := strings.Join(correction.Apply(lines, file.Edits), "\n")
		request.Files = append(request.Files, FileChange{file.Document.ID, content, []byte(after)})
	}
	address, err := f.documents.Merges.Open(ctx, request)
	if errors.Is(err, ErrOutdated) {
		return endRefused("The documents were changed meanwhile, so no merge request was opened. `page: correct` looks at them anew.")
	}
	if refused, ok := errors.AsType[*RefusedError](err); ok {
		return endUnopened(refused)
	}
	if err != nil {
		return graph.Result[State]{}, fmt.Errorf("open a merge request: %w", err)
	}
	return endWith("The merge request is open: %s", address)
}

// endUnopened says why there is no merge request, with the patch that makes the change.
func endUnopened(refused *RefusedError) (graph.Result[State], error) {
	return graph.Update(
		output.Set(fmt.Sprintf("No merge request was opened: %s. The attached patch makes the change, and `page: correct` proposes it again.", refused.Reason)),
		failed.Set(true), notes.Set([]string{refused.Error()}),
	), nil
}
