package ingest

import (
	"strings"

	"github.com/cairn-bot/cairn/internal/knowledge/parse"
	"github.com/cairn-bot/cairn/internal/language"
)

// languageSample is how many bytes of a document its language is recognized by.
const languageSample = 6 << 10

// languageOf recognizes the language of a document, and else takes the one that it states:
// templates state theirs of whatever is written in them.
func languageOf(text parse.Text) string {
	var sample strings.Builder
	sample.WriteString(text.Title + "\n")
	for _, section := range text.Sections {
		sample.WriteString(section.Heading + "\n")
		for _, block := range section.Blocks {
			if block.Kind != parse.Code {
				sample.WriteString(block.Text + "\n")
			}
			if sample.Len() >= languageSample {
				break
			}
		}
		if sample.Len() >= languageSample {
			break
		}
	}
	recognized := language.Detect(sample.String())
	if recognized == language.Unknown || recognized == language.Parse(text.Language) {
		return text.Language
	}
	return string(recognized)
}
