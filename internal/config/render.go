package config

import (
	"regexp"
	"strconv"
	"strings"
)

// String gives the settings as a file that reads back to the same ones where the keys
// are where they were. Of a key it tells whether there is one.
func (c Config) String() string {
	var b strings.Builder
	section := ""
	for _, s := range settings {
		head, name, nested := strings.Cut(s.key, ".")
		if !nested {
			writeSetting(&b, "", s.key, s.list, s.get(&c))
			continue
		}
		if head != section {
			section = head
			b.WriteString(head + ":\n")
		}
		writeSetting(&b, "  ", name, s.list, s.get(&c))
	}
	writeEntries(&b, modelsKey, modelSettings, c.Models, func(m Model) string {
		if m.Key.Secret.IsZero() {
			return "key: not set"
		}
		return "key: set"
	})
	writeEntries(&b, sourcesKey, sourceSettings, c.Sources, nil)
	return b.String()
}

// writeEntries writes a list, with a remark below each entry unless remark is nil.
func writeEntries[T any](b *strings.Builder, key string, settings []setting, entries []T, remark func(T) string) {
	if len(entries) == 0 {
		return
	}
	b.WriteString(key + ":\n")
	for _, entry := range entries {
		indent := "  - "
		for _, s := range settings {
			if values := s.get(&entry); len(values) > 0 && values[0] != "" {
				writeSetting(b, indent, s.key, s.list, values)
				indent = "    "
			}
		}
		if remark != nil {
			b.WriteString(indent + "# " + remark(entry) + "\n")
		}
	}
}

func writeSetting(b *strings.Builder, indent, name string, list bool, values []string) {
	quoted := make([]string, len(values))
	for i, value := range values {
		quoted[i] = quote(value)
	}
	text := strings.Join(quoted, ", ")
	if list {
		text = "[" + text + "]"
	}
	b.WriteString(indent + name + ": " + text + "\n")
}

// plain are the texts that mean themselves without quotes wherever they stand.
var plain = regexp.MustCompile(`^(/?[A-Za-z0-9_][A-Za-z0-9_./-]*)$`)

func quote(text string) string {
	if plain.MatchString(text) && !strings.EqualFold(text, "null") {
		return text
	}
	return strconv.Quote(text)
}
