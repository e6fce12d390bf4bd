package answer

import (
	"cmp"
	"slices"

	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/retrieve"
)

// kinds is the order of groups that were used equally.
var kinds = []knowledge.Kind{
	knowledge.KindDocumentation, knowledge.KindCode, knowledge.KindDrive,
	knowledge.KindPage, knowledge.KindConversation, knowledge.KindWeb,
}

// citation is a place in the evidence and the number that cites it, 0 for none.
type citation struct {
	Evidence int // position in the retriever's order, from 0
	Number   int
}

// numbering gives places their numbers in the order in which they are cited. Passages
// of one section are one place: their links lead to the same spot.
type numbering struct {
	evidence []retrieve.Evidence
	places   []place // by number - 1
	cited    []citation
}

// place is where a link leads.
type place struct {
	document knowledge.DocumentID
	anchor   string
}

func (n *numbering) of(position int) int {
	e := n.evidence[position]
	at := place{document: e.Document.ID, anchor: e.Passage.Anchor}
	if known := slices.Index(n.places, at); known >= 0 {
		return known + 1
	}
	n.places = append(n.places, at)
	n.cited = append(n.cited, citation{Evidence: position, Number: len(n.places)})
	return len(n.places)
}

// link makes one source of all cited places of a document, in the order of citation.
func link(evidence []retrieve.Evidence, cited []citation) []flows.Source {
	var linked []flows.Source
	at := make(map[knowledge.DocumentID]int)
	for _, c := range cited {
		e := evidence[c.Evidence]
		i, known := at[e.Document.ID]
		if !known {
			i = len(linked)
			at[e.Document.ID] = i
			linked = append(linked, flows.Source{
				Document: e.Document.ID, Title: e.Document.Title, Path: e.Document.Path,
				Owner: e.Document.Owner, Modified: e.Document.Modified, State: e.Document.State,
			})
		}
		linked[i].Sections = append(linked[i].Sections, flows.Section{
			Number: c.Number, Heading: e.Passage.Section(), Anchor: e.Passage.Anchor,
			URL: knowledge.URLWithAnchor(e.Document, e.Passage.Anchor), Rank: c.Evidence + 1,
			Passage: e.Passage.Reference(),
		})
	}
	return linked
}

// group puts sources of one kind together, the group with the most cited places first.
func group(evidence []retrieve.Evidence, linked []flows.Source) []flows.SourceGroup {
	kindOf := make(map[knowledge.DocumentID]knowledge.Kind, len(evidence))
	for _, e := range evidence {
		kindOf[e.Document.ID] = e.Document.Kind
	}
	byKind := make(map[knowledge.Kind]*flows.SourceGroup)
	var groups []*flows.SourceGroup
	for _, source := range linked {
		kind := kindOf[source.Document]
		if byKind[kind] == nil {
			byKind[kind] = &flows.SourceGroup{Kind: kind}
			groups = append(groups, byKind[kind])
		}
		byKind[kind].Sources = append(byKind[kind].Sources, source)
	}
	slices.SortStableFunc(groups, func(a, b *flows.SourceGroup) int {
		return cmp.Or(
			cmp.Compare(places(b), places(a)),
			cmp.Compare(slices.Index(kinds, a.Kind), slices.Index(kinds, b.Kind)))
	})
	ordered := make([]flows.SourceGroup, len(groups))
	for i, g := range groups {
		ordered[i] = *g
	}
	return ordered
}

func places(g *flows.SourceGroup) int {
	count := 0
	for _, source := range g.Sources {
		count += len(source.Sections)
	}
	return count
}
