package bot

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
)

// Viewer is where people read cited passages as Cairn has them.
type Viewer struct {
	// URL is where they reach the web page, without a / at its end; "" where nobody does.
	URL string
	// Restricted tells that the page knows who they are, and shows them what is not public.
	Restricted bool
}

// Check tells how documents of the index stand to where they come from. It is bounded in time, and
// leaves out those of which that can't be found out.
type Check func(ctx context.Context, documents []knowledge.Document) map[knowledge.DocumentID]knowledge.State

// checkSources looks at documents where they come from.
func (a documentAccess) checkSources(ctx context.Context, documents map[string]knowledge.Document) map[knowledge.DocumentID]knowledge.State {
	if a.check == nil || len(documents) == 0 {
		return nil
	}
	return a.check(ctx, slices.Collect(maps.Values(documents)))
}

// Bounds of the part of a document that is shown.
const (
	shownBefore   = 12   // passages before the one that is asked for
	shownAfter    = 24   // and after it
	maxSearched   = 2000 // passages among which one is looked for that has moved
	maxPrincipals = 20   // that are named of an audience
)

// ReadSource implements chat.SourceReader.
func (b *Bot) ReadSource(ctx context.Context, ref chat.SourceRef, by chat.Reader) (chat.SourceText, error) {
	if b.documents.library == nil {
		return chat.SourceText{}, chat.ErrUnknownSource
	}
	decision := b.documents.resolveAccess(ctx, chat.NewThreadID(by.Adapter, "source"), by.User, by.Identity)
	reading := sourceReading{library: b.documents.library, document: knowledge.DocumentID(ref.Document)}
	if ref.Passage != "" {
		var ok bool
		if reading.position, reading.hash, ok = knowledge.ParseReference(ref.Passage); !ok {
			return chat.SourceText{}, chat.ErrUnknownSource
		}
	}
	found, err := reading.findPassages(knowledge.WithViewers(ctx, decision.Asker))
	if err != nil {
		return chat.SourceText{}, fmt.Errorf("read document %s: %w", ref.Document, err)
	}
	if len(found) == 0 || found[0].Document.State == knowledge.StateGone {
		return chat.SourceText{}, chat.ErrUnknownSource
	}
	text := reading.sourceText(found)
	markOld(&text.Source, b.now())
	text.AllowedBy, _ = decision.Asker.Reason(found[0].Document.Audience)
	return text, nil
}

// sourceReading is the reading of a document around a passage.
type sourceReading struct {
	library  Library
	document knowledge.DocumentID
	position int
	hash     string // the beginning of the passage's, "" where any passage of the position will do
	changed  bool   // no passage of the document has it
}

// findPassages gives the passages to show in order, and where the passage has moved sets its new
// position. None where the viewers of the context may not see the document.
func (r *sourceReading) findPassages(ctx context.Context) ([]index.Found, error) {
	asked := r.position
	found, err := r.readPassages(ctx, max(0, asked-shownBefore), asked+shownAfter)
	if err != nil || r.locatePassage(found) && r.position == asked {
		return found, err
	}
	if len(found) == 0 && r.position <= shownBefore {
		return nil, nil // not even the first passage is there
	}
	// It has moved, or is gone. Small documents are the rule: all of it is looked through.
	all, err := r.readPassages(ctx, 0, maxSearched)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	if !r.locatePassage(all) {
		r.changed = r.hash != ""
		r.position = min(r.position, all[len(all)-1].Passage.Position)
	}
	return r.readPassages(ctx, max(0, r.position-shownBefore), r.position+shownAfter)
}

// locatePassage takes the position of the passage that is asked for where it is among some, and
// reports whether it is.
func (r *sourceReading) locatePassage(found []index.Found) bool {
	for _, f := range found {
		if f.Passage.Position == r.position && (r.hash == "" || f.Passage.IsReferredTo(r.hash)) {
			return true
		}
	}
	for _, f := range found {
		if f.Passage.IsReferredTo(r.hash) {
			r.position = f.Passage.Position
			return true
		}
	}
	return false
}

// readPassages gives the passages from a position on and before another one.
func (r *sourceReading) readPassages(ctx context.Context, from, to int) ([]index.Found, error) {
	var ids []knowledge.PassageID
	for position := from; position < to; position++ {
		ids = append(ids, knowledge.MakePassageID(r.document, position))
	}
	return r.library.Passages(ctx, ids)
}

func (r *sourceReading) sourceText(found []index.Found) chat.SourceText {
	document := found[0].Document
	text := chat.SourceText{
		Source: chat.Source{
			Title: document.Title, Path: document.Path, Owner: document.Owner, Modified: document.Modified,
			State: string(document.State), Document: string(document.ID),
		},
		Collection: string(document.Source), Language: document.Language, Indexed: document.Indexed,
		Audience: describeAudience(document.Audience), Changed: r.changed,
	}
	// The last passage is not shown where the window is full: it tells that there are more.
	if first := found[0].Passage; first.Position > 0 {
		text.Earlier = knowledge.Passage{Position: max(0, first.Position-shownBefore)}.Reference()
	}
	if last := found[len(found)-1].Passage; last.Position == r.position+shownAfter-1 {
		text.Later = knowledge.Passage{Position: last.Position + shownBefore}.Reference()
		found = found[:len(found)-1]
	}
	for _, f := range found {
		passage := chat.PassageText{
			Passage: f.Passage.Reference(), Headings: f.Passage.Headings, Text: f.Passage.Text,
			URL: knowledge.URLWithAnchor(document, f.Passage.Anchor), Marked: r.hash != "" && f.Passage.Position == r.position,
		}
		text.Passages = append(text.Passages, passage)
		text.Source.Sections = append(text.Source.Sections, chat.Section{
			Heading: f.Passage.Section(), Anchor: f.Passage.Anchor, URL: passage.URL, Passage: passage.Passage,
		})
	}
	return text
}

// describeAudience names who may read a document, for people.
func describeAudience(audience knowledge.Audience) string {
	if audience.OrPublic() == knowledge.PublicAudience {
		return "everybody who can ask"
	}
	principals := audience.Principals()
	var names []string
	for _, principal := range principals[:min(len(principals), maxPrincipals)] {
		names = append(names, string(principal))
	}
	if more := len(principals) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
}

// Address gives where a passage is shown to people, "" where the page would not show it.
func (v Viewer) Address(ref chat.SourceRef, audience knowledge.Audience) string {
	if v.URL == "" || !v.Restricted && audience != knowledge.PublicAudience {
		return ""
	}
	return v.URL + ref.Path()
}
