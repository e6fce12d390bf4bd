package config

import (
	"regexp"
	"strconv"
	"strings"
)

// String gives the settings as a file that reads back to the same ones. A setting that
// becomes a secret must be left out here.
func (c Config) String() string {
	var b strings.Builder
	section := ""
	for _, s := range settings {
		head, name, nested := strings.Cut(s.key, ".")
		if !nested {
			writeSetting(&b, "", s.key, s.list, s.get(c))
			continue
		}
		if head != section {
			section = head
			b.WriteString(head + ":\n")
		}
		writeSetting(&b, "  ", name, s.list, s.get(c))
	}
	if len(c.Sources) == 0 {
		return b.String()
	}
	b.WriteString(sourcesKey + ":\n")
	for _, source := range c.Sources {
		indent := "  - "
		for _, s := range sourceSettings {
			if values := s.get(source); len(values) > 0 && values[0] != "" {
				writeSetting(&b, indent, s.key, s.list, values)
				indent = "    "
			}
		}
	}
	return b.String()
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
