package analysis

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/repository/manifest"
	"github.com/cairn-bot/cairn/internal/repository/source"
)

// Entry is where a program begins, or what a library gives to those who import it.
type Entry struct {
	Place
	Language source.Language `json:"language"`
	Kind     EntryKind       `json:"kind"`
	Name     string          `json:"name,omitempty"` // of the program or library, where it is known
	Role     source.Role     `json:"role"`
	// Named is where a manifest names it; a zero Place where none does.
	Named Place `json:"named,omitzero"`
}

// EntryKind is what begins in a file.
type EntryKind string

// The kinds of entries.
const (
	ProgramEntry EntryKind = "program"
	LibraryEntry EntryKind = "library"
	ScriptEntry  EntryKind = "script" // run by its file's name
)

// listEntries lists where programs begin, by their files and as manifests name them: first
// those that ship, of these first those that manifests name, and then the outer ones.
func (r *reading) listEntries() []Entry {
	files := make(map[string]*file)
	for i := range r.files {
		files[r.files[i].Path] = &r.files[i]
	}
	var all []Entry
	known := make(map[string]bool)
	for _, m := range r.manifests {
		for _, program := range m.Programs {
			f := programFile(m, program, files)
			if f == nil || known[f.Path] {
				continue
			}
			known[f.Path] = true
			kind := ProgramEntry
			if program.Library {
				kind = LibraryEntry
			}
			all = append(all, Entry{Place{Path: f.Path}, f.language, kind, program.Name, f.role, Place{m.Path, program.Line}})
		}
	}
	names := r.goNames()
	for i := range r.files {
		f := &r.files[i]
		line := f.facts.Main
		module := f.language == source.Python && path.Base(f.Path) == "__main__.py"
		if line == 0 && !module || f.role == source.Test || known[f.Path] || f.language == source.Rust && !beginsRustProgram(f.Path) {
			continue
		}
		entry := Entry{Place: Place{f.Path, line}, Language: f.language, Kind: ProgramEntry, Role: f.entryRole()}
		switch {
		case module:
			entry.Name = path.Base(path.Dir(f.Path))
		case f.language == source.Python, f.language == source.Ruby, f.language == source.PHP:
			entry.Kind = ScriptEntry
		case f.language == source.Go && f.facts.Builds == 0:
			entry.Kind = ScriptEntry
		case f.language == source.Go:
			entry.Name = names(path.Dir(f.Path))
		}
		all = append(all, entry)
	}
	slices.SortStableFunc(all, func(a, b Entry) int {
		return cmp.Or(
			cmp.Compare(roleOrder[a.Role], roleOrder[b.Role]), cmp.Compare(namedOrder(a), namedOrder(b)),
			cmp.Compare(strings.Count(a.Path, "/"), strings.Count(b.Path, "/")), strings.Compare(a.Path, b.Path),
		)
	})
	return all
}

// beginsRustProgram reports whether Cargo makes a program of a file where it is.
func beginsRustProgram(file string) bool {
	switch path.Base(path.Dir(file)) {
	case "bin", "examples", "benches", "fuzz_targets", ".":
		return true
	}
	return path.Base(file) == "main.rs" || path.Base(file) == "build.rs"
}

var roleOrder = map[source.Role]int{source.Shipped: 0, source.Tool: 1, source.Example: 2, source.Test: 3}

func namedOrder(e Entry) int {
	if e.Named.Path == "" {
		return 1
	}
	return 0
}

// entryRole is the role of a file that a program begins in. A generator, which is part of no
// build, and a program that only its own module may import, are tools.
func (f *file) entryRole() source.Role {
	if f.role == source.Shipped && f.language == source.Go && (f.facts.Builds == 0 || strings.Contains("/"+f.Path, "/internal/")) {
		return source.Tool
	}
	return f.role
}

// programFile returns the file of a program that a manifest names, nil where there is none.
func programFile(m manifest.Manifest, program manifest.Program, files map[string]*file) *file {
	for _, name := range program.Paths {
		if f := files[path.Join(path.Dir(m.Path), name)]; f != nil && f.language.Imports() {
			return f
		}
	}
	return nil
}

// goNames returns what the go command calls the program of a folder: its last part, or that
// of its module.
func (r *reading) goNames() func(folder string) string {
	roots := make(map[string]string)
	for _, m := range r.manifests {
		if m.Ecosystem == manifest.Go && m.Name != "" {
			roots[path.Dir(m.Path)] = m.Name
		}
	}
	return func(folder string) string {
		module, ok := roots[folder]
		if !ok {
			return strings.TrimPrefix(path.Base(folder), ".")
		}
		if base := path.Base(module); len(base) > 1 && base[0] == 'v' && strings.Trim(base[1:], "0123456789") == "" {
			module = path.Dir(module)
		}
		return path.Base(module)
	}
}
