// Package report writes down what is known of a repository, as Markdown. Every statement
// links to the file and line that it was read from. What a repository says of itself is
// shown as data: its names as code, its sentences without links and mentions.
package report

import (
	"fmt"
	"strings"

	"github.com/dustin/go-humanize"

	plain "cairn/internal/document/report"
	"cairn/internal/repository"
	"cairn/internal/repository/analysis"
	"cairn/internal/repository/manifest"
)

// Facts are what a report is written of; what is nil is not known.
type Facts struct {
	Name, Commit, Web string
	Structure         *analysis.Structure
	Dependencies      *analysis.Dependencies
	Architecture      *analysis.Architecture
	Files             []analysis.CodeFile
	Sections          []Section // that a language model wrote
	Steps             []string  // of the reasoning
	Partial           string    // why something is missing, "" where all is there
	Picture           string    // name of the file with the picture of the architecture
}

// Section is a part of a report that a language model wrote.
type Section struct {
	Title      string      `json:"title"`
	Statements []Statement `json:"statements"`
}

// Statement is a sentence and what it rests on.
type Statement struct {
	Text  string `json:"text"`
	Cites []Cite `json:"cites"`
}

// Cite names what a statement rests on: a file, or a passage of a document.
type Cite struct {
	Label string `json:"label"`
	URL   string `json:"url,omitempty"` // of the web; "" where there is none
}

// Lengths of what is shown, in characters.
const (
	maxCode = 120
	maxLine = 500
)

type writer struct {
	strings.Builder
	web string
}

func (w *writer) line(format string, args ...any) {
	fmt.Fprintf(w, format, args...)
	w.WriteByte('\n')
}

// at shows a place: as a link where there is an address, else as code.
func (w *writer) at(p analysis.Place) string {
	text := p.Path
	if p.Line > 0 {
		text = fmt.Sprintf("%s:%d", p.Path, p.Line)
	}
	return linked(plain.Code(text, maxCode), repository.Link(w.web, p.Path, p.Line))
}

func linked(text, address string) string {
	if address == "" {
		return text
	}
	return "[" + text + "](" + address + ")"
}

func (w *writer) places(places []analysis.Place, more int) string {
	var all []string
	for _, p := range places {
		all = append(all, w.at(p))
	}
	text := strings.Join(all, ", ")
	if more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

func clean(text string) string { return plain.Shortened(plain.Clean(text), maxLine) }

func code(text string) string { return plain.Code(text, maxCode) }

// cell is code in a table, where a line would end the cell.
func cell(text string) string { return strings.ReplaceAll(code(text), "|", `\|`) }

// Write writes the report of an analysis.
func Write(f Facts) string {
	w := &writer{web: f.Web}
	w.line("# Report on %s\n", code(f.Name))
	if f.Partial != "" {
		w.line("**This report is partial.** %s\n", f.Partial)
	}
	w.about(f)
	w.sections(f.Sections)
	if len(f.Sections) > 0 {
		w.line("*The sections since “What it is” were written by a language model from the files named; what follows was read by tools.*\n")
	}
	w.structure(f.Structure)
	w.dependencies(f.Dependencies)
	w.architecture(f)
	w.entries(f)
	w.tests(f.Structure)
	w.risks(f)
	w.steps(f.Steps)
	return w.String()
}

// about says what the repository is.
func (w *writer) about(f Facts) {
	w.line("## What it is\n")
	if f.Commit != "" {
		w.line("- Read at commit %s.", linked(code(f.Commit), strings.TrimSuffix(strings.Replace(f.Web, "/blob/", "/tree/", 1), "/")))
	}
	s := f.Structure
	if s == nil {
		w.line("*Its structure could not be read.*\n")
		return
	}
	if s.Readme != nil {
		if s.Readme.Title != "" {
			w.line("- It calls itself “%s” (%s).", clean(s.Readme.Title), w.at(analysis.Place{Path: s.Readme.Path}))
		}
		if s.Readme.Text != "" {
			w.line("- From its README (%s): %s", w.at(s.Readme.Place), clean(s.Readme.Text))
		}
	} else {
		w.line("- It has no README.")
	}
	if f.Dependencies != nil {
		for _, m := range f.Dependencies.Manifests[:min(len(f.Dependencies.Manifests), maxNamed)] {
			if m.Name != "" {
				about := ""
				if m.Description != "" {
					about = ": " + clean(m.Description)
				}
				w.line("- %s module %s (%s)%s", m.Ecosystem, code(m.Name), w.at(analysis.Place{Path: m.Path}), about)
			}
		}
	}
	if s.License != nil {
		name := s.License.Name
		if name == "" {
			name = "one that I don't know"
		}
		w.line("- License: %s (%s).", name, w.at(s.License.Place))
	}
	w.line("- %s files, %s, %s lines of text.\n", humanize.Comma(int64(s.Files)), humanize.IBytes(uint64(s.Bytes)), humanize.Comma(int64(s.Lines)))
	if len(s.Languages) > 0 {
		w.line("| Language | Files | Lines |\n|---|---:|---:|")
		for _, language := range s.Languages {
			w.line("| %s | %s | %s |", language.Name, humanize.Comma(int64(language.Files)), humanize.Comma(int64(language.Lines)))
		}
		w.line("")
	}
}

// maxNamed is how many manifests are named at the beginning.
const maxNamed = 8

// sections are what a model wrote.
func (w *writer) sections(sections []Section) {
	for _, section := range sections {
		w.line("## %s\n", clean(section.Title))
		for _, s := range section.Statements {
			var cites []string
			for _, c := range s.Cites {
				cites = append(cites, linked(code(c.Label), c.URL))
			}
			where := ""
			if len(cites) > 0 {
				where = " (" + strings.Join(cites, ", ") + ")"
			}
			w.line("- %s%s", clean(s.Text), where)
		}
		w.line("")
	}
}

func (w *writer) structure(s *analysis.Structure) {
	w.line("## Layout\n")
	if s == nil {
		w.line("*It could not be read.*\n")
		return
	}
	w.line("```text")
	for _, folder := range s.Tree {
		name := folder.Path[strings.LastIndexByte(folder.Path, '/')+1:]
		w.line("%s%s/  %s", strings.Repeat("  ", folder.Depth-1), strings.ReplaceAll(oneLine(name), "`", ""), files(folder.Files))
	}
	w.line("```\n")
	if s.TreeLeft > 0 {
		w.line("%d smaller folders are not shown.", s.TreeLeft)
	}
	if len(s.Skipped) > 0 {
		w.line("Not looked into: %s.", codes(s.Skipped, maxNamed))
	}
	if len(s.Modules) > 0 {
		w.line("Submodules, which were not fetched: %s.", codes(s.Modules, maxNamed))
	}
	if s.Links > 0 {
		w.line("Symbolic links, which were not followed: %d.", s.Links)
	}
	if s.Unread > 0 {
		w.line("Files too large to be looked into: %d.", s.Unread)
	}
	w.line("")
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

func files(count int) string {
	if count == 1 {
		return "1 file"
	}
	return humanize.Comma(int64(count)) + " files"
}

func codes(names []string, most int) string {
	var all []string
	for _, name := range names[:min(len(names), most)] {
		all = append(all, code(name))
	}
	text := strings.Join(all, ", ")
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

func (w *writer) dependencies(d *analysis.Dependencies) {
	w.line("## Dependencies\n")
	if d == nil {
		w.line("*They could not be read.*\n")
		return
	}
	if len(d.Manifests) == 0 {
		w.line("No manifest was found.\n")
	}
	for _, m := range d.Manifests {
		w.manifest(m)
	}
	if d.Left > 0 {
		w.line("%d more manifests are not listed.\n", d.Left)
	}
	for _, broken := range d.Broken {
		w.line("- Not read: %s", clean(broken))
	}
	w.line("")
}

func (w *writer) manifest(m analysis.Manifest) {
	lock := ""
	if m.Lock != "" {
		lock = ", locked by " + w.at(analysis.Place{Path: m.Lock})
	}
	w.line("### %s: %s%s\n", m.Ecosystem, w.at(analysis.Place{Path: m.Path}), lock)
	if len(m.Dependencies) > 0 {
		w.line("| Dependency | Version | For | Line |\n|---|---|---|---|")
	} else {
		w.line("It names no dependencies of its own.")
	}
	for _, d := range m.Dependencies {
		version := ""
		if d.Version != "" {
			version = cell(d.Version)
		}
		if d.Locked != "" {
			version = strings.TrimSpace(version + " → " + cell(d.Locked))
		}
		w.line("| %s | %s | %s | %s |", cell(d.Name), version, d.Scope, w.lineOf(m.Path, d.Dependency))
	}
	if m.Left > 0 {
		w.line("\n%d more are not listed.", m.Left)
	}
	if m.Indirect > 0 {
		w.line("\nAnd %d that those depend on.", m.Indirect)
	}
	w.line("")
}

func (w *writer) lineOf(path string, d manifest.Dependency) string {
	if d.Line == 0 {
		return ""
	}
	return linked(fmt.Sprint(d.Line), repository.Link(w.web, path, d.Line))
}
