package archtest

import (
	"os"
	"path/filepath"
	"testing"
)

func TestMethods(t *testing.T) {
	found, err := scanStructs("../..")
	if err != nil {
		t.Fatal(err)
	}
	if own := found["github.com/cairn-bot/cairn/internal/archtest.violation"]; own == nil || !own.methods["String"] {
		t.Fatalf("%d types scanned, violation with its method is not among them", len(found))
	}
	for _, v := range checkMethods(found, maxMethods) {
		t.Error(v)
	}
}

func TestMethodsOfEmbeddedStructsAreCounted(t *testing.T) {
	dir := t.TempDir()
	for name, source := range map[string]string{
		"a/a.go": `package a

import other "github.com/cairn-bot/cairn/b"

type large struct {
	*middle
	other.Small
	error
}

func (l *large) one()   {}
func (l large) shared() {}

type middle struct{ *large }

func (m *middle) two()    {}
func (m *middle) shared() {}

type generic[T any] struct{ middle }

func (g *generic[T]) three() {}
`,
		"a/more.go":  "package a\n\nfunc (m *middle) four() {}\n",
		"atest/a.go": "package atest\n\nimport \"github.com/cairn-bot/cairn/a\"\n\ntype fake struct{ a.generic[int] }\n",
		"b/b.go":     "package b\n\ntype Small struct{}\n\nfunc (Small) Five() {}\n",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(source), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	found, err := scanStructs(dir)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]int{"github.com/cairn-bot/cairn/a.large": 5, "github.com/cairn-bot/cairn/a.middle": 5, "github.com/cairn-bot/cairn/a.generic": 6, "github.com/cairn-bot/cairn/b.Small": 1} {
		if got := len(found.methodsOf(name)); got != want {
			t.Errorf("%s has %d methods, want %d", name, got, want)
		}
	}
	if broken := checkMethods(found, 5); len(broken) != 1 || broken[0].file != "a/a.go" || broken[0].line != 19 || broken[0].what != "generic has 6" {
		t.Errorf("caught %v", broken)
	}
}
