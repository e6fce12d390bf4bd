package bot

import (
	"fmt"
	"path"
	"strings"
	"unicode"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/shorten"
)

// Bounds of a document's name, in letters: its ending, with the dot, and all of it.
const (
	maxEnding       = 12
	maxDocumentName = 80
)

// documentsOf gives the files that a run made as they go with its reply, and what people
// are told of those that can't, "" where all do.
func documentsOf(files []flows.File) (documents []chat.Document, left string) {
	var large []string
	many := 0
	for _, file := range files {
		name := documentName(file.Name)
		switch {
		case len(file.Content) == 0:
		case len(file.Content) > chat.MaxDocument:
			large = append(large, name)
		case len(documents) == chat.MaxDocuments:
			many++
		default:
			documents = append(documents, chat.Document{Name: name, MediaType: file.MediaType, Size: len(file.Content), Content: file.Content})
		}
	}
	var said []string
	if len(large) > 0 {
		said = append(said, fmt.Sprintf("Larger than %d KB, and left out: %s.", chat.MaxDocument>>10, strings.Join(large, ", ")))
	}
	if many > 0 {
		said = append(said, fmt.Sprintf("Only %d documents go with an answer; %d more were left out.", chat.MaxDocuments, many))
	}
	return documents, strings.Join(said, " ")
}

// documentName makes a file's name fit for any system: it names no folder, is not hidden,
// and keeps an ending of up to 12 letters where it is cut.
func documentName(name string) string {
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	name = strings.Map(func(r rune) rune {
		switch {
		case strings.ContainsRune(`:*?"<>|`, r), r == unicode.ReplacementChar:
			return '_'
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, name)
	name = strings.TrimRight(name, ". ")
	ending := path.Ext(name)
	if len([]rune(ending)) > maxEnding {
		ending = ""
	}
	stem := strings.Trim(strings.TrimSuffix(name, ending), ". ")
	stem = strings.TrimRight(shorten.Head(stem, maxDocumentName-len([]rune(ending))), ". ")
	if stem == "" {
		stem = "document"
	}
	return stem + ending
}
