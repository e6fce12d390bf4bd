package phrases

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/language"
)

// declared gives the keys that the source declares, and those of the languages' names.
func declared(t *testing.T) []Key {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "phrases.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var keys []Key
	ast.Inspect(file, func(node ast.Node) bool {
		spec, ok := node.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if kind, ok := spec.Type.(*ast.Ident); !ok || kind.Name != "Key" {
			return true
		}
		for _, value := range spec.Values {
			key, err := strconv.Unquote(value.(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			keys = append(keys, Key(key))
		}
		return true
	})
	for _, tag := range language.All() {
		keys = append(keys, languageKey(tag))
	}
	slices.Sort(keys)
	return keys
}

// verbs gives fmt's verbs in a text, sorted: their order may differ where they have numbers.
func verbs(text string) []string {
	found := regexp.MustCompile(`%(\[\d\])?.`).FindAllString(text, -1)
	slices.Sort(found)
	return found
}

func TestEachLanguageHasEachLine(t *testing.T) {
	keys := declared(t)
	if len(keys) < 40 {
		t.Fatalf("only %d keys are declared", len(keys))
	}
	english := In(language.English)
	for _, tag := range language.All() {
		speaker := In(tag)
		if got := speaker.keys(); !slices.Equal(got, keys) {
			t.Errorf("%s has the lines %v, declared are %v", tag, got, keys)
		}
		for _, key := range keys {
			line, original := speaker.lines[key], english.lines[key]
			if strings.TrimSpace(line.Other) == "" {
				t.Errorf("%s: %s is empty", tag, key)
			}
			if !slices.Equal(verbs(line.Other), verbs(original.Other)) {
				t.Errorf("%s: %s has the verbs %v, English %v", tag, key, verbs(line.Other), verbs(original.Other))
			}
			if line.One != "" && !slices.Equal(verbs(line.One), verbs(line.Other)) {
				t.Errorf("%s: %s has different verbs for one and for several", tag, key)
			}
		}
	}
}

// TestLinesAreInTheirLanguage takes all lines of a language together.
func TestLinesAreInTheirLanguage(t *testing.T) {
	for _, tag := range language.All() {
		var all strings.Builder
		for _, key := range In(tag).keys() {
			all.WriteString(In(tag).lines[key].Other + "\n")
		}
		if got := language.Detect(all.String()); got != tag {
			t.Errorf("the lines of %s are taken for %q", tag, got)
		}
	}
}

func TestText(t *testing.T) {
	if got := In(language.German).Text(NotFoundIn, "Handbuch"); got != "Dazu habe ich in Handbuch nichts gefunden." {
		t.Errorf("got %q", got)
	}
	if got := In(language.Unknown).Text(Stopped); got != "All right, I stopped." {
		t.Errorf("got %q", got)
	}
	french := In(language.French)
	if one, two := french.Count(Minutes, 1), french.Count(Minutes, 2); one != "1 minute" || two != "2 minutes" {
		t.Errorf("got %q and %q", one, two)
	}
	if got := In(language.Japanese).Count(Documents, 1); got != "1件の文書" {
		t.Errorf("got %q", got)
	}
	if got := In(language.Japanese).Text(AskAgainLater, "5分", "12:00"); got != "5分後（12:00 UTC）にもう一度質問してください。" {
		t.Errorf("got %q", got)
	}
	if got := french.Text(QuotedLanguage, french.LanguageName(language.German)); got != "La page citée est en allemand." {
		t.Errorf("got %q", got)
	}
}
