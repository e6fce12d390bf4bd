// Package language knows the languages that Cairn speaks: it recognizes them in messages
// and documents by small tables of words, endings and letters, and lists the words that
// tell nothing in each.
package language

import (
	"embed"
	"fmt"
	"slices"
	"strings"
)

// Tag is a language as BCP 47 writes it, without region or script.
type Tag string

// The languages that are recognized. Unknown stands for all others and for texts that
// tell no language.
const (
	Unknown    Tag = ""
	English    Tag = "en"
	German     Tag = "de"
	French     Tag = "fr"
	Spanish    Tag = "es"
	Portuguese Tag = "pt"
	Italian    Tag = "it"
	Dutch      Tag = "nl"
	Japanese   Tag = "ja"
	Chinese    Tag = "zh"
)

var all = []Tag{English, German, French, Spanish, Portuguese, Italian, Dutch, Japanese, Chinese}

// All gives the languages, English first.
func All() []Tag { return slices.Clone(all) }

// Parse gives the language of a BCP 47 tag such as "pt-BR" or "de_DE"; Unknown for a
// language that is not one of All.
func Parse(tag string) Tag {
	primary, _, _ := strings.Cut(strings.ReplaceAll(strings.TrimSpace(tag), "_", "-"), "-")
	parsed := Tag(strings.ToLower(primary))
	if !slices.Contains(all, parsed) {
		return Unknown
	}
	return parsed
}

// Or gives the language itself, or another one in place of Unknown.
func (t Tag) Or(other Tag) Tag {
	if t == Unknown {
		return other
	}
	return t
}

// Words gives the words that tell nothing about the subject of a text: those of every
// sentence and those of questions, in lower case.
func Words(t Tag) (function, question []string) {
	table := tables[t]
	return table.function, table.question
}

// table is what is known of a language, as its file in the folder words lists it.
type table struct {
	function, question, endings, letters []string
	// shared are words of other languages' lists that stand in texts of this one as well: the
	// "dir" of a command is no German pronoun.
	shared []string
}

//go:embed words/*.txt
var files embed.FS

var tables = loadTables()

// loadTables panics on a table that can't be read: the tables are part of the program.
func loadTables() map[Tag]table {
	loaded := make(map[Tag]table, len(all))
	for _, tag := range all {
		content, err := files.ReadFile("words/" + string(tag) + ".txt")
		if err != nil {
			panic(fmt.Sprintf("language: %v", err))
		}
		loaded[tag] = parseTable(string(content))
	}
	return loaded
}

func parseTable(content string) table {
	sections := make(map[string][]string)
	section := ""
	for line := range strings.Lines(content) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "[") {
			section = strings.Trim(line, "[]")
			continue
		}
		sections[section] = append(sections[section], strings.Fields(line)...)
	}
	return table{
		function: sections["function"], question: sections["question"],
		endings: sections["endings"], letters: sections["letters"], shared: sections["shared"],
	}
}
