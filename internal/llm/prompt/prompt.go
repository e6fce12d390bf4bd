// Package prompt makes what is sent to language models from files: a template with a part
// "system" and a part "user" for each kind of request, and the schema of a structured reply.
// What comes from people and documents stands between tags that it can't close (Data).
package prompt

import (
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"text/template"
	"unicode"

	"github.com/cairn-bot/cairn/internal/llm"
)

// Template reads NAME.tmpl, whose functions are data (Data) and those of more. The files are
// part of the program: it panics where one is wrong.
func Template(files fs.FS, name string, more template.FuncMap) *template.Template {
	file := name + ".tmpl"
	return template.Must(template.New(file).Funcs(template.FuncMap{"data": Data}).Funcs(more).ParseFS(files, file))
}

// Schema reads NAME.json. The files are part of the program: it panics where one is missing.
func Schema(files fs.FS, name string) llm.Schema {
	text, err := fs.ReadFile(files, name+".json")
	if err != nil {
		panic(fmt.Sprintf("schema %s: %v", name, err))
	}
	return llm.Schema{Name: name, JSON: text}
}

// Messages gives the conversation that a template makes of what it shows.
func Messages(from *template.Template, shown any) ([]llm.Message, error) {
	var made []llm.Message
	for _, part := range []struct {
		name string
		role llm.Role
	}{{"system", llm.System}, {"user", llm.User}} {
		var b strings.Builder
		if err := from.ExecuteTemplate(&b, part.name, shown); err != nil {
			return nil, fmt.Errorf("prompt %s: %w", from.Name(), err)
		}
		made = append(made, llm.Message{Role: part.role, Text: b.String()})
	}
	return made, nil
}

// tags are the marks between which data stands.
var tags = regexp.MustCompile(`(?i)<(\s*/?\s*(?:sources?|thread|turn|question|attachments?|searched|statements?|under|context|request|system|user|assistant)\b)`)

// Data makes text fit to stand between tags: it can neither close one nor open another,
// and holds no control characters or characters that only hide text.
func Data(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t':
			return r
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r), isTag(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	return tags.ReplaceAllString(text, "‹$1")
}

// isTag tells the characters that spell invisible text.
func isTag(r rune) bool {
	return r >= 0xE0000 && r <= 0xE007F || r == '\u200B' || r == '\u2060' || r == '\uFEFF'
}
