package report

import (
	"github.com/cairn-bot/cairn/internal/document"
	"github.com/cairn-bot/cairn/internal/document/evidence"
	"github.com/cairn-bot/cairn/internal/graph/flows"
)

// Evidence gives the passages of the index that the statements of a report rest on, each
// once, in the order of the statements. Documents that are not of the index give none.
func Evidence(documents []document.Document, parts []evidence.Part) []flows.Candidate {
	var found []flows.Candidate
	known := make(map[evidence.Place]bool)
	for _, part := range parts {
		for _, statement := range part.Statements {
			for _, place := range statement.Places {
				if known[place] {
					continue
				}
				known[place] = true
				doc := documents[place.Document]
				section := sectionOf(doc, place)
				for _, passage := range section.Passages {
					found = append(found, flows.Candidate{
						Passage: passage.ID, Title: doc.Title, Path: doc.Name, Section: section.Heading(), Anchor: section.Anchor,
						Kept: true, Hash: passage.Hash, Audience: doc.Audience,
					})
				}
			}
		}
	}
	return found
}
