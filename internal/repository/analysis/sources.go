package analysis

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/repository/source"
)

// CodeFile is a file that tells much about a repository.
type CodeFile struct {
	Path     string          `json:"path"`
	Language source.Language `json:"language,omitempty"`
	Lines    int             `json:"lines"`
	Why      string          `json:"why"`            // it was chosen: "entry point"
	Excerpt  string          `json:"excerpt"`        // its beginning, or what a question points to; what looks like a secret is taken out
	Line     int             `json:"line,omitempty"` // that Excerpt begins with, 0 for the first
}

// Selection says which files are read.
type Selection struct {
	Most   int
	Wanted []string // paths; these come first
	// Question is what the files are to answer; "" for those that tell most of the repository.
	Question string
}

// maxExcerpt is how much of a file is shown, in bytes.
const maxExcerpt = 3000

// chosenFile is a file with the reason that it was chosen for.
type chosenFile struct {
	file *file
	why  string
}

// Sources reads at most some number of files: those asked for, and then those that the words,
// symbols and imports of a question point to. Without a question they are the most telling
// ones: the README, the root of the library, where programs that ship begin, the files that
// most others import, and then what is left: further programs, other folders, tools and
// examples.
func (a *Analyst) Sources(ctx context.Context, wanted Selection) ([]CodeFile, error) {
	read, err := a.readAll(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the source files: %w", err)
	}
	byQuestion := make(map[string]match)
	var ranked []chosenFile
	var words []askedWord
	if wanted.Question != "" {
		matches, q, err := a.matchFiles(ctx, read, wanted.Question)
		if err != nil {
			return nil, err
		}
		words = q.words
		for _, m := range matches[:min(len(matches), wanted.Most)] {
			byQuestion[m.file.Path] = m
			ranked = append(ranked, chosenFile{m.file, "the question points to it"})
		}
	}
	var made []CodeFile
	for _, one := range read.rankFiles(wanted.Wanted, ranked) {
		if len(made) == wanted.Most {
			break
		}
		content, err := a.checkout.Read(one.file.Path)
		if err != nil {
			return nil, fmt.Errorf("read the source files: %w", err)
		}
		content = withoutSecrets(content)
		excerpt, line := string(content[:min(len(content), maxExcerpt)]), 0
		if m, ok := byQuestion[one.file.Path]; ok {
			excerpt, line = m.excerptAround(words, content)
		}
		made = append(made, CodeFile{
			Path: one.file.Path, Language: one.file.language, Lines: one.file.lines, Why: one.why,
			Excerpt: strings.ToValidUTF8(excerpt, "\uFFFD"), Line: line,
		})
	}
	return made, nil
}

// rankFiles orders the files by how much they tell: those asked for, those that a question
// points to, and the rest.
func (r *reading) rankFiles(wanted []string, pointed []chosenFile) []chosenFile {
	byPath := make(map[string]*file)
	for i := range r.files {
		if f := &r.files[i]; !f.binary && !f.unread {
			byPath[f.Path] = f
		}
	}
	var all []chosenFile
	known := make(map[string]bool)
	add := func(path, why string) {
		if f := byPath[path]; f != nil && !known[path] {
			known[path] = true
			all = append(all, chosenFile{f, why})
		}
	}
	for _, path := range wanted {
		add(strings.TrimPrefix(path, "./"), "asked for")
	}
	for _, one := range pointed {
		add(one.file.Path, one.why)
	}
	if len(pointed) > 0 {
		return all
	}
	for _, f := range r.files {
		if readmeFile.MatchString(f.Path) {
			add(f.Path, "readme")
		}
	}
	entries := 0
	for _, entry := range r.entries {
		if entry.Role == source.Shipped && (entry.Kind == LibraryEntry || entries < firstEntries) {
			entries++
			add(entry.Path, entry.describe())
		}
	}
	leading := r.leadingFiles()
	if f := byPath[leading["."]]; f != nil && f.role == source.Shipped {
		add(f.Path, "the root of the library")
	}
	for _, one := range r.rankImported() {
		path, what := one.path, ""
		if byPath[path] == nil { // a folder is imported as a whole
			path, what = leading[one.path], "its folder is "
		}
		if f := byPath[path]; f != nil && f.role == source.Shipped {
			add(path, what+importedBy(one.importers))
		}
	}
	for _, role := range []source.Role{source.Shipped, source.Tool, source.Example} {
		for _, entry := range r.entries {
			if entry.Role == role {
				add(entry.Path, entry.describe())
			}
		}
		for _, module := range r.modules.Modules {
			if f := byPath[leading[module.Path]]; f != nil && f.role == role {
				add(f.Path, "largest of its folder")
			}
		}
	}
	return all
}

// firstEntries is how many programs come before the most imported files.
const firstEntries = 6

// describe says in a few words what begins in a file.
func (e Entry) describe() string {
	text := string(e.Kind)
	if e.Name != "" {
		text += " " + e.Name
	}
	return text
}

func importedBy(count int) string {
	if count == 1 {
		return "imported by another shipped file"
	}
	return fmt.Sprintf("imported by %d shipped files", count)
}

// importedPath is a file, or a folder that is imported as a whole.
type importedPath struct {
	path      string
	importers int
}

// rankImported lists what shipped files import, the most imported first.
func (r *reading) rankImported() []importedPath {
	var all []importedPath
	for path, importers := range r.modules.Importers {
		all = append(all, importedPath{path, importers})
	}
	slices.SortFunc(all, func(a, b importedPath) int {
		return cmp.Or(cmp.Compare(b.importers, a.importers), strings.Compare(a.path, b.path))
	})
	return all
}

// leadingFiles returns the file of each folder with source code that tells most of it: one
// that documents it, one that is called like it, or else the one with the most lines.
func (r *reading) leadingFiles() map[string]string {
	weights := make(map[string]int)
	best := make(map[string]string)
	for _, f := range r.files {
		if !f.language.Imports() || f.test || f.binary || f.facts.Builds == 0 {
			continue
		}
		folder, weight := path.Dir(f.Path), f.lines
		switch stem := strings.TrimSuffix(path.Base(f.Path), path.Ext(f.Path)); {
		case path.Base(f.Path) == "doc.go" && f.lines >= fewestDocLines:
			weight += 2 << 30
		case stem == path.Base(folder), f.language == source.Go && stem == f.facts.Package:
			weight += 1 << 30
		}
		if weight > weights[folder] {
			weights[folder], best[folder] = weight, f.Path
		}
	}
	return best
}

// fewestDocLines is the length of a doc.go that documents something, in lines.
const fewestDocLines = 10
