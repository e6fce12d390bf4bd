package archtest

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestNames(t *testing.T) {
	declared, err := scanNames("../..")
	if err != nil {
		t.Fatal(err)
	}
	single, all := countSingleWords(declared)
	if share := float64(single) / float64(all); share > maxSingleWords {
		t.Errorf("%d of %d functions (%.3f) are named with a single word, more than %.3f: name new ones by verb and object, as docs/glossary.md says",
			single, all, share, maxSingleWords)
	}
	glossary, err := os.ReadFile("../../docs/glossary.md")
	if err != nil {
		t.Fatal(err)
	}
	gone := parseGoneNames(string(glossary))
	if len(gone) == 0 {
		t.Fatal("docs/glossary.md has no table of names that are gone")
	}
	for _, v := range checkGoneNames(declared, gone) {
		t.Error(v)
	}
}

func TestNamesAreCountedAndCaught(t *testing.T) {
	dir := t.TempDir()
	for name, source := range map[string]string{
		"a.go": `package a

func main() {}
func knock() {}
func postReply() {}
func (t *fate) heed() {}

type fate struct{ street int }

const (
	kept   = 1
	mortal = 2
)
`,
		"a_test.go":       "package a\n\nfunc knock() {}\n",
		"testdata/bad.go": "package bad\n\nfunc knock() {}\n",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(source), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	declared, err := scanNames(dir)
	if err != nil {
		t.Fatal(err)
	}
	if single, all := countSingleWords(declared); single != 2 || all != 3 {
		t.Errorf("%d of %d functions have single words, want 2 of 3", single, all)
	}
	gone := parseGoneNames("# Glossary\n\n| gone | instead |\n| --- | --- |\n| `knock`, `street` | `awaitServer` |\n| `fate`, `mortal` | another |\n\n| `kept` | no row |\n")
	if names := slices.Sorted(maps.Keys(gone)); !slices.Equal(names, []string{"fate", "knock", "mortal", "street"}) {
		t.Errorf("gone names %q", names)
	}
	var caught []int
	for _, v := range checkGoneNames(declared, gone) {
		if v.file != "a.go" {
			t.Errorf("reported: %s", v)
		}
		caught = append(caught, v.line)
	}
	if !slices.Equal(caught, []int{4, 8, 12}) {
		t.Errorf("caught in lines %v, want those of knock, fate and mortal", caught)
	}
}
