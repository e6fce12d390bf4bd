package openai

import (
	"embed"
	"strings"
	"text/template"
)

//go:embed prompts/*.tmpl
var promptFiles embed.FS

var prompts = template.Must(template.ParseFS(promptFiles, "prompts/*.tmpl"))

// wish is what the prompts of this package speak of.
type wish struct {
	Schema  string
	Problem string
}

// prompt gives the text of a template.
func prompt(name string, w wish) string {
	var text strings.Builder
	if err := prompts.ExecuteTemplate(&text, name, w); err != nil {
		panic(err) // the templates name fields of wish alone
	}
	return strings.TrimSpace(text.String())
}
