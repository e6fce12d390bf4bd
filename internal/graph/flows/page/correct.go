package page

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/correction"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/pages"
	"github.com/cairn-bot/cairn/internal/pages/merge"
	"github.com/cairn-bot/cairn/internal/pages/pagesource"
	"github.com/cairn-bot/cairn/internal/shorten"
)

// Documents is where corrections look for what answers cite.
type Documents struct {
	// Passages gives those of the passages that the viewers of the context may see.
	Passages func(ctx context.Context, ids []knowledge.PassageID) ([]index.Found, error)
	// ReadOriginal gives the file that a document was read from, at most a few MB of it.
	// ErrNoOriginal for a document that is none, *RefusedError where the forge does not let it be read.
	ReadOriginal func(ctx context.Context, document knowledge.Document) ([]byte, error)
	// Merges opens merge requests of corrections; nil: they are patches.
	Merges MergeRequests
}

// ErrNoOriginal is the error for a document that is no text file of a folder or a repository.
var ErrNoOriginal = errors.New("the document is no text file that a patch could change")

const (
	maxCorrected = 8                  // documents that are looked at
	reviewTime   = 7 * 24 * time.Hour // that a correction waits for the page's owner
	patchMedia   = "text/x-diff; charset=utf-8"
)

// objection is what a thread says against an answer.
type objection struct {
	question string // that the answer is for
	cited    []knowledge.PassageID
	messages []correction.Message
}

// findObjection reads a request's thread: the last answer with citations, and what people said
// after it. reason is what came with the request itself.
func findObjection(request flows.Request, reason string) objection {
	var found objection
	last := -1
	for i, turn := range request.History {
		if turn.Role == flows.Assistant && len(turn.Cited) > 0 {
			last, found.cited = i, turn.Cited
		}
	}
	for i, turn := range request.History {
		switch {
		case turn.Role != flows.User:
		case i < last:
			found.question = turn.Text
		case i > last:
			found.messages = append(found.messages, correction.Message{Author: request.Room.Author, Text: turn.Text})
		}
	}
	start := 0
	for i, said := range request.Before {
		if said.Self {
			start = i + 1
		}
	}
	for _, said := range request.Before[start:] {
		if !said.App && !said.Self && strings.TrimSpace(said.Text) != "" {
			found.messages = append(found.messages, correction.Message{Author: said.Author, Text: said.Text})
		}
	}
	if reason = strings.TrimSpace(reason); reason != "" {
		found.messages = append(found.messages, correction.Message{Author: request.Room.Author, Text: reason, Objects: true})
	}
	return found
}

// MayCorrect tells whether a request for corrections would find any, as far as the passages of the
// thread's last answer tell: nobody is to be bothered with a message that corrects nothing. Viewers
// come with ctx.
func (f *Flow) MayCorrect(ctx context.Context, request flows.Request) (bool, error) {
	said := findObjection(request, ReadCommand(request.Text).Rest)
	if f.documents.Passages == nil || len(said.cited) == 0 || !slices.ContainsFunc(said.messages, correction.MayCorrect) {
		return false, nil
	}
	passages, err := f.documents.Passages(ctx, said.cited)
	if err != nil {
		return false, fmt.Errorf("look up what an answer cites: %w", err)
	}
	for _, found := range passages {
		if len(correction.Find(said.messages, said.question, correction.SplitLines(found.Passage.Text))) > 0 {
			return true, nil
		}
	}
	return false, nil
}

// corrected is a document with what is to be corrected in it.
type corrected struct {
	document knowledge.Document
	page     *pages.Page // of a page
	blocks   []pages.Line
	lines    []string
	found    []correction.Correction
}

// correct proposes the changes of documents that messages of the thread call for: of the first page
// as a proposal, of files as a patch.
func (f *Flow) correct(ctx context.Context, s State, reason string) (graph.Result[State], error) {
	said := findObjection(flows.Request{History: s.History, Before: s.Said, Room: s.Room}, reason)
	if len(said.cited) == 0 {
		return endRefused("There is no answer with sources in this thread that could be corrected.")
	}
	documents, err := f.loadCited(ctx, s, said.cited)
	if refused, ok := errors.AsType[*RefusedError](err); ok {
		return graph.Update(output.Set(fmt.Sprintf("The cited documents can't be read where they come from: %s.", refused.Reason)), failed.Set(true), notes.Set([]string{refused.Error()})), nil
	}
	if err != nil {
		return graph.Result[State]{}, err
	}
	texts := make([][]string, len(documents))
	for i, document := range documents {
		texts[i] = document.lines
	}
	var changed []corrected
	for i, found := range correction.FindBest(said.messages, said.question, texts) {
		if documents[i].found = found; len(found) > 0 {
			changed = append(changed, documents[i])
		}
	}
	if len(changed) == 0 {
		return endRefused("I found nothing in the %d cited documents that the messages of this thread correct by a value or a name. Say both: `page: correct it is 45s, not 30s`.", len(documents))
	}
	return f.proposeCorrections(ctx, s, said, changed)
}

// proposeCorrections puts the changes before people.
func (f *Flow) proposeCorrections(ctx context.Context, s State, said objection, changed []corrected) (graph.Result[State], error) {
	var patch, shown strings.Builder
	changes := []graph.Change[State]{}
	proposed := false
	for _, document := range changed {
		if document.page != nil {
			if !proposed {
				proposed = true
				changes = append(changes, proposal.Set(f.describeCorrection(ctx, s, said, document)))
			}
			continue
		}
		lines := correction.Apply(document.lines, correction.Edits(document.found))
		_, name, _ := strings.Cut(string(document.document.ID), ":")
		if _, path, ok := strings.Cut(name, "//files/"); ok { // of a repository on a forge
			name = path
		}
		patch.WriteString(correction.Patch(name, document.lines, lines))
		fmt.Fprintf(&shown, "\n\n%s", describeFileChange(document, lines))
	}
	if findMergeable(f.documents.Merges, changed) {
		patched := []flows.File{{Name: "corrections.patch", MediaType: patchMedia, Content: []byte(patch.String())}}
		return graph.Update(proposal.Set(proposeMerge(said, changed, shown.String())), files.Set(patched)), nil
	}
	if patch.Len() > 0 {
		text := fmt.Sprintf("What was said in this thread corrects what documents say. The attached patch makes the change: `git apply corrections.patch`, and `git apply -R corrections.patch` takes it back.%s\n\n%s",
			shown.String(), quoteReasons(said, changed))
		changes = append(changes, files.Set([]flows.File{{Name: "corrections.patch", MediaType: patchMedia, Content: []byte(patch.String())}}))
		if proposed {
			changes = append(changes, closing.Set(text))
		} else {
			changes = append(changes, output.Set(text))
		}
	}
	return graph.Update(changes...), nil
}

// describeFileChange shows what changes in a file, for its owner.
func describeFileChange(document corrected, lines []string) string {
	var changes []merge.Change
	for i := range lines {
		if lines[i] != document.lines[i] {
			changes = append(changes, merge.Change{Before: strings.TrimSpace(document.lines[i]), After: strings.TrimSpace(lines[i])})
		}
	}
	diff, _ := merge.Diff(changes)
	text := fmt.Sprintf("**%s** (`%s`)", escape(document.document.Title), strings.ReplaceAll(document.document.Path, "`", ""))
	if owner := strings.ReplaceAll(document.document.Owner, "`", ""); owner != "" {
		text += fmt.Sprintf(", for its owner `%s`", owner)
	}
	return text + ":\n" + diff
}

// describeCorrection makes a proposal of what is to be corrected on a page.
func (f *Flow) describeCorrection(ctx context.Context, s State, said objection, document corrected) *Proposal {
	made := &Proposal{Verb: Correct, Page: document.page.ID, Base: document.page.Version, Title: document.page.Title, Text: quoteReasons(said, []corrected{document})}
	for _, edit := range correction.Edits(document.found) {
		made.Edits = append(made.Edits, pages.TextEdit{Block: document.blocks[edit.Line].Block, Start: edit.Start, End: edit.End, New: edit.New})
	}
	if first, err := f.library.LoadVersion(ctx, s.findPlace(), document.page.ID, 1); err == nil { // version 1 of an imported page may be missing
		made.Owner = first.Author
	}
	return made
}

// maxQuoted is how many letters of a message are quoted.
const maxQuoted = 200

// quoteReasons quotes the messages that corrections rest on, each once.
func quoteReasons(said objection, changed []corrected) string {
	var quotes []string
	for _, document := range changed {
		for _, one := range document.found {
			message := said.messages[one.Message]
			quote := "> " + escape(shorten.Line(message.Text, maxQuoted))
			if author := strings.ReplaceAll(message.Author, "`", ""); author != "" {
				quote += fmt.Sprintf(" (`%s`)", author)
			}
			if !slices.Contains(quotes, quote) {
				quotes = append(quotes, quote)
			}
		}
	}
	return "It rests on:\n" + strings.Join(quotes, "\n")
}

// loadCited reads the documents of passages, in their order; those that can't be changed are left out.
func (f *Flow) loadCited(ctx context.Context, s State, cited []knowledge.PassageID) ([]corrected, error) {
	if f.documents.Passages == nil {
		return nil, nil
	}
	passages, err := f.documents.Passages(ctx, cited)
	if err != nil {
		return nil, fmt.Errorf("look up what an answer cites: %w", err)
	}
	var loaded []corrected
	for _, found := range passages {
		isThere := slices.ContainsFunc(loaded, func(c corrected) bool { return c.document.ID == found.Document.ID })
		if isThere || len(loaded) == maxCorrected {
			continue
		}
		document, ok, err := loadDocument(ctx, f, s, found.Document)
		if err != nil {
			return nil, err
		}
		if ok {
			loaded = append(loaded, document)
		}
	}
	return loaded, nil
}

// loadDocument reads a document as it is now; false where it can't be changed.
func loadDocument(ctx context.Context, f *Flow, s State, document knowledge.Document) (corrected, bool, error) {
	if id, ok := pagesource.PageOf(document.ID); ok {
		page, err := f.library.Load(ctx, s.findPlace(), id)
		if errors.Is(err, pages.ErrNotFound) {
			return corrected{}, false, nil
		}
		if err != nil {
			return corrected{}, false, err
		}
		made := corrected{document: document, page: &page, blocks: pages.Lines(page.Root)}
		for _, line := range made.blocks {
			made.lines = append(made.lines, line.Text)
		}
		return made, true, nil
	}
	if f.documents.ReadOriginal == nil {
		return corrected{}, false, nil
	}
	content, err := f.documents.ReadOriginal(ctx, document)
	if errors.Is(err, ErrNoOriginal) || err == nil && !utf8.Valid(content) {
		return corrected{}, false, nil
	}
	if err != nil {
		return corrected{}, false, fmt.Errorf("read document %s: %w", document.ID, err)
	}
	return corrected{document: document, lines: correction.SplitLines(string(content))}, true, nil
}
