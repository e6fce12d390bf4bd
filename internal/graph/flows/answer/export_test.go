package answer

import "cairn/internal/graph/flows"

// AttachedTexts gives the texts of the passages that a file is cut into.
func AttachedTexts(file flows.Attachment) []string {
	var texts []string
	for _, e := range attachedPassages(0, file) {
		texts = append(texts, e.Passage.Text)
	}
	return texts
}
