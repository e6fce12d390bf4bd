// Package report writes down what is known of a repository, as Markdown. Every statement
// links to the file and line that it was read from. What a repository says of itself is
// shown as data: its names as code, its sentences without links and mentions.
package report

import (
	"fmt"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	plain "github.com/cairn-bot/cairn/internal/document/report"
	"github.com/cairn-bot/cairn/internal/language"
	"github.com/cairn-bot/cairn/internal/phrases"
	"github.com/cairn-bot/cairn/internal/repository"
	"github.com/cairn-bot/cairn/internal/repository/analysis"
	"github.com/cairn-bot/cairn/internal/repository/manifest"
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
	Language          language.Tag
}

// Section is a part of a report that a language model wrote.
type Section struct {
	Title      string      `json:"title"`
	Statements []Statement `json:"statements"`
}

// Statement is a sentence and what it rests on.
type Statement struct {
	Text   string `json:"text"`
	Cites  []Cite `json:"cites"`
	Partly bool   `json:"partly,omitempty"` // these support a part of it only
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
	web     string
	speaker phrases.Speaker // to those who read it
}

func (w *writer) writeLine(format string, args ...any) {
	fmt.Fprintf(w, format, args...)
	w.WriteByte('\n')
}

// text says a line in the language of the readers.
func (w *writer) text(key phrases.Key, values ...any) string { return w.speaker.Text(key, values...) }

// writeHeading begins a section.
func (w *writer) writeHeading(key phrases.Key) { w.writeLine("## %s\n", w.text(key)) }

// writeUnread says in place of a section that it could not be read.
func (w *writer) writeUnread() { w.writeLine("*%s*\n", w.text(phrases.ReportUnread)) }

// writeColumns begins a table: the names of its columns, and how they are set.
func (w *writer) writeColumns(key phrases.Key, delimiter string) {
	w.writeLine("| %s |\n%s", w.text(key), delimiter)
}

// placeText shows a place: as a link where there is an address, else as code.
func (w *writer) placeText(p analysis.Place) string {
	text := p.Path
	if p.Line > 0 {
		text = fmt.Sprintf("%s:%d", p.Path, p.Line)
	}
	return linkText(plain.Code(text, maxCode), repository.Link(w.web, p.Path, p.Line))
}

func linkText(text, address string) string {
	if address == "" {
		return text
	}
	return "[" + text + "](" + address + ")"
}

func (w *writer) placesText(places []analysis.Place, more int) string {
	var all []string
	for _, p := range places {
		all = append(all, w.placeText(p))
	}
	text := strings.Join(all, ", ")
	if more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

func cleanText(text string) string { return plain.ShortenMarkdown(plain.Clean(text), maxLine) }

func codeText(text string) string { return plain.Code(text, maxCode) }

// codeCell is code in a table, where a line would end the cell.
func codeCell(text string) string { return strings.ReplaceAll(codeText(text), "|", `\|`) }

// Write writes the report of an analysis.
func Write(f Facts) string {
	w := &writer{web: f.Web, speaker: phrases.In(f.Language)}
	w.writeLine("# %s\n", w.text(phrases.ReportTitle, codeText(f.Name)))
	if f.Partial != "" {
		w.writeLine("**%s** %s\n", w.text(phrases.ReportPartial), f.Partial)
	}
	w.writeAbout(f)
	w.writeSections(f.Sections)
	if len(f.Sections) > 0 {
		w.writeLine("*%s*\n", w.text(phrases.ReportByModel, w.text(phrases.ReportAbout)))
	}
	w.writeStructure(f.Structure)
	w.writeDependencies(f.Dependencies)
	w.writeArchitecture(f)
	w.writeEntries(f)
	w.writeTests(f.Structure)
	w.writeRisks(f)
	w.writeSteps(f.Steps)
	return w.String()
}

// writeAbout says what the repository is.
func (w *writer) writeAbout(f Facts) {
	w.writeHeading(phrases.ReportAbout)
	if f.Commit != "" {
		w.writeLine("- %s", w.text(phrases.ReportCommit, linkText(codeText(f.Commit), strings.TrimSuffix(strings.Replace(f.Web, "/blob/", "/tree/", 1), "/"))))
	}
	s := f.Structure
	if s == nil {
		w.writeUnread()
		return
	}
	if s.Readme != nil {
		if s.Readme.Title != "" {
			w.writeLine("- %s", w.text(phrases.ReportCallsItself, cleanText(s.Readme.Title), w.placeText(analysis.Place{Path: s.Readme.Path})))
		}
		if s.Readme.Text != "" {
			w.writeLine("- %s", w.text(phrases.ReportReadme, w.placeText(s.Readme.Place), cleanText(s.Readme.Text)))
		}
	} else {
		w.writeLine("- %s", w.text(phrases.ReportNoReadme))
	}
	if f.Dependencies != nil {
		w.writeModules(f.Dependencies)
	}
	if s.License != nil {
		name := s.License.Name
		if name == "" {
			name = w.text(phrases.ReportLicenseUnknown)
		}
		w.writeLine("- %s", w.text(phrases.ReportLicense, name, w.placeText(s.License.Place)))
	}
	outside := ""
	if len(s.Skipped) > 0 {
		outside = ", without the folders that were not looked into"
	}
	w.writeLine("- %s, %s, %s of text%s.\n", countFiles(s.Files), humanize.IBytes(uint64(s.Bytes)), countNouns(s.Lines, "line"), outside)
	if len(s.Languages) > 0 {
		w.writeColumns(phrases.ReportLanguageColumns, "|---|---:|---:|")
		for _, language := range s.Languages {
			w.writeLine("| %s | %s | %s |", language.Name, humanize.Comma(int64(language.Files)), humanize.Comma(int64(language.Lines)))
		}
		w.writeLine("")
	}
}

// writeModules names what manifests describe, the root's first.
func (w *writer) writeModules(d *analysis.Dependencies) {
	named, more := 0, 0
	for _, m := range d.Manifests {
		switch {
		case m.Name == "" && (strings.Contains(m.Path, "/") || m.Version+m.Requires+m.Description == ""):
		case named == maxNamed:
			more++
		default:
			named++
			about := ""
			if m.Version != "" {
				about += ", version " + codeText(m.Version)
			}
			if m.Requires != "" {
				about += ", requires " + cleanText(m.Requires)
			}
			if m.Description != "" {
				about += ": " + cleanText(m.Description)
			}
			name := ""
			if m.Name != "" {
				name = " " + codeText(m.Name)
			}
			w.writeLine("- %s %s%s (%s)%s", m.Ecosystem, nounOf(m.Ecosystem), name, w.placeText(analysis.Place{Path: m.Path}), about)
		}
	}
	if more += d.Left; more > 0 {
		w.writeLine("- And %s: see “Dependencies”.", countNouns(more, "more manifest"))
	}
}

// nounOf is what an ecosystem calls what a manifest describes.
func nounOf(ecosystem manifest.Ecosystem) string {
	switch ecosystem {
	case manifest.Go:
		return "module"
	case manifest.Helm:
		return "chart"
	case manifest.Rust:
		return "crate"
	case manifest.DotNet, manifest.Java:
		return "project"
	}
	return "package"
}

// maxNamed is how many manifests are named at the beginning.
const maxNamed = 8

// writeSections are what a model wrote.
func (w *writer) writeSections(sections []Section) {
	for _, section := range sections {
		w.writeLine("## %s\n", cleanText(section.Title))
		for _, s := range section.Statements {
			var cites []string
			for _, c := range s.Cites {
				cites = append(cites, linkText(codeText(c.Label), c.URL))
			}
			partly := ""
			if s.Partly {
				partly = " *(" + w.text(phrases.PartlyInSource) + ")*"
			}
			w.writeLine("- %s%s (%s)", cleanText(s.Text), partly, strings.Join(cites, ", "))
		}
		w.writeLine("")
	}
}

func (w *writer) writeStructure(s *analysis.Structure) {
	w.writeHeading(phrases.ReportLayout)
	if s == nil {
		w.writeUnread()
		return
	}
	w.writeLine("```text")
	for _, folder := range s.Tree {
		name := folder.Path[strings.LastIndexByte(folder.Path, '/')+1:]
		w.writeLine("%s%s/  %s", strings.Repeat("  ", folder.Depth-1), strings.ReplaceAll(oneLine(name), "`", ""), countFiles(folder.Files))
	}
	for _, file := range s.Root {
		w.writeLine("%s  %s", strings.ReplaceAll(oneLine(file.Path), "`", ""), humanize.IBytes(uint64(file.Bytes)))
	}
	w.writeLine("```\n")
	if s.RootLeft > 0 {
		w.writeLine("%d more files of the root are not shown.", s.RootLeft)
	}
	if s.TreeLeft > 0 {
		w.writeLine("%d smaller folders are not shown.", s.TreeLeft)
	}
	if len(s.Skipped) > 0 {
		w.writeLine("Not looked into: %s.", codeList(s.Skipped, maxNamed))
	}
	if len(s.Modules) > 0 {
		w.writeLine("Submodules, which were not fetched: %s.", codeList(s.Modules, maxNamed))
	}
	if s.Links > 0 {
		w.writeLine("Symbolic links, which were not followed: %d.", s.Links)
	}
	if s.Unread > 0 {
		w.writeLine("Files too large to be looked into: %d.", s.Unread)
	}
	w.writeLine("")
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

func countFiles(count int) string {
	return countNouns(count, "file")
}

func countNouns(count int, noun string) string {
	return humanize.Comma(int64(count)) + " " + english.PluralWord(count, noun, "")
}

func codeList(names []string, most int) string {
	var all []string
	for _, name := range names[:min(len(names), most)] {
		all = append(all, codeText(name))
	}
	text := strings.Join(all, ", ")
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

func (w *writer) writeDependencies(d *analysis.Dependencies) {
	w.writeHeading(phrases.ReportDependencies)
	if d == nil {
		w.writeUnread()
		return
	}
	if len(d.Manifests) == 0 {
		w.writeLine("%s\n", w.text(phrases.ReportNoManifest))
	} else {
		manifests := len(d.Manifests) + d.Left
		w.writeLine("%s %s %s, those of dependencies included where they list them.\n", countNouns(manifests, "manifest"), english.PluralWord(manifests, "names", "name"), countNouns(d.Total, "dependency"))
	}
	for _, m := range d.Manifests {
		w.writeManifest(m)
	}
	if d.Left > 0 {
		w.writeLine("%d more manifests are not listed.\n", d.Left)
	}
	for _, broken := range d.Broken {
		w.writeLine("- Not read: %s", cleanText(broken))
	}
	w.writeLine("")
}

func (w *writer) writeManifest(m analysis.Manifest) {
	lock := ""
	if m.Lock != "" {
		lock = ", " + w.text(phrases.ReportLockedBy, w.placeText(analysis.Place{Path: m.Lock}))
	}
	w.writeLine("### %s: %s%s\n", m.Ecosystem, w.placeText(analysis.Place{Path: m.Path}), lock)
	if len(m.Dependencies) > 0 {
		w.writeColumns(phrases.ReportDependencyColumns, "|---|---|---|---|")
	} else {
		w.writeLine("%s", w.text(phrases.ReportNoDependencies))
	}
	for _, d := range m.Dependencies {
		version := ""
		if d.Version != "" {
			version = codeCell(d.Version)
		}
		if d.Locked != "" {
			version = strings.TrimSpace(version + " → " + codeCell(d.Locked))
		}
		w.writeLine("| %s | %s | %s | %s |", codeCell(d.Name), version, d.Scope, w.lineOf(m.Path, d.Dependency))
	}
	if m.Left > 0 {
		w.writeLine("\n%d more are not listed.", m.Left)
	}
	if m.Indirect > 0 {
		w.writeLine("\nAnd %d that those depend on, which it lists too.", m.Indirect)
	}
	w.writeLine("")
}

func (w *writer) lineOf(path string, d manifest.Dependency) string {
	if d.Line == 0 {
		return ""
	}
	return linkText(fmt.Sprint(d.Line), repository.Link(w.web, path, d.Line))
}
