package analysis

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"cairn/internal/repository/modules"
	"cairn/internal/repository/source"
)

// CodeFile is a file that tells much about a repository.
type CodeFile struct {
	Path     string          `json:"path"`
	Language source.Language `json:"language,omitempty"`
	Lines    int             `json:"lines"`
	Why      string          `json:"why"`     // it was chosen: "entry point"
	Excerpt  string          `json:"excerpt"` // its beginning, what looks like a secret taken out
}

// maxExcerpt is how much of a file is shown, in bytes.
const maxExcerpt = 3000

// chosenFile is a file with the reason that it was chosen for.
type chosenFile struct {
	file *file
	why  string
}

// Sources reads at most some number of the most telling files: those asked for, the entry
// points, the README, and of the modules that most others import the largest file each.
func (a *Analyst) Sources(ctx context.Context, most int, wanted []string) ([]CodeFile, error) {
	read, err := a.readAll(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the source files: %w", err)
	}
	var made []CodeFile
	for _, one := range read.rankFiles(wanted) {
		if len(made) == most {
			break
		}
		content, err := a.checkout.Read(one.file.Path)
		if err != nil {
			return nil, fmt.Errorf("read the source files: %w", err)
		}
		content = withoutSecrets(content)
		made = append(made, CodeFile{
			Path: one.file.Path, Language: one.file.language, Lines: one.file.lines, Why: one.why,
			Excerpt: strings.ToValidUTF8(string(content[:min(len(content), maxExcerpt)]), "\uFFFD"),
		})
	}
	return made, nil
}

// rankFiles orders the files by how much they tell.
func (r *reading) rankFiles(wanted []string) []chosenFile {
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
	for _, f := range r.files {
		if readmeFile.MatchString(f.Path) {
			add(f.Path, "readme")
		}
	}
	for _, entry := range r.listEntries() {
		add(entry.Path, "entry point")
	}
	m := modules.Build(r.sourceFiles(), r.namedModules())
	slices.SortStableFunc(m.Modules, func(a, b modules.Module) int {
		return cmp.Or(cmp.Compare(b.Imported, a.Imported), cmp.Compare(b.Files, a.Files))
	})
	largest := r.largestFiles()
	for _, module := range m.Modules {
		why := "largest of its folder"
		switch {
		case module.Imported == 1:
			why = "imported by another module"
		case module.Imported > 1:
			why = fmt.Sprintf("imported by %d modules", module.Imported)
		}
		add(largest[module.Path], why)
	}
	return all
}

// largestFiles returns the file with the most lines of each folder with source code; one that
// documents the folder comes before all others.
func (r *reading) largestFiles() map[string]string {
	lines := make(map[string]int)
	best := make(map[string]string)
	for _, f := range r.files {
		if !f.language.Imports() || f.test || f.binary {
			continue
		}
		folder, weight := path.Dir(f.Path), f.lines
		if path.Base(f.Path) == "doc.go" {
			weight += 1 << 30
		}
		if weight > lines[folder] {
			lines[folder], best[folder] = weight, f.Path
		}
	}
	return best
}
