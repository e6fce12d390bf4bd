package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/language"
	"github.com/cairn-bot/cairn/internal/phrases"
	"github.com/cairn-bot/cairn/internal/repository/analysis"
	"github.com/cairn-bot/cairn/internal/repository/manifest"
	"github.com/cairn-bot/cairn/internal/repository/source"
)

// Searched is a repository whose manifests were searched for a dependency.
type Searched struct {
	Name   string `json:"name"`
	Commit string `json:"commit,omitempty"`
	Web    string `json:"web,omitempty"`
	// Outdated says why it may be older than its remote, "" where it is not known to be.
	Outdated string          `json:"outdated,omitempty"`
	Usages   analysis.Usages `json:"usages"`
	Failure  string          `json:"failure,omitempty"` // why it was not read
}

// search is what came of searching repositories, by what they have of the dependency.
type search struct {
	wanted                                  manifest.Wanted
	fitting, allowing, other, without, open []Searched
}

func sortSearched(wanted manifest.Wanted, all []Searched) search {
	s := search{wanted: wanted}
	for _, one := range all {
		has := func(fit manifest.Fit) bool {
			return slices.ContainsFunc(one.Usages.Found, func(u analysis.Usage) bool { return u.Fit == fit })
		}
		switch {
		case one.Failure != "":
			s.open = append(s.open, one)
		case has(manifest.Fits):
			s.fitting = append(s.fitting, one)
		case has(manifest.Allowed):
			s.allowing = append(s.allowing, one)
		case has(manifest.Different):
			s.other = append(s.other, one)
		default:
			s.without = append(s.without, one)
		}
	}
	return s
}

// wantedText names what was looked for.
func (s search) wantedText() string {
	if s.wanted.Version == "" {
		return codeText(s.wanted.Name)
	}
	return codeText(s.wanted.Name + " " + s.wanted.Version)
}

// countText says how many of the repositories that were read name what was looked for.
func (s search) countText() string {
	read := len(s.fitting) + len(s.allowing) + len(s.other) + len(s.without)
	repositories, name := "repositories", "name %s in their manifests"
	if read == 1 {
		repositories = "repository"
	}
	if read == 1 || len(s.fitting) == 1 {
		name = "names %s in its manifests"
	}
	return fmt.Sprintf("%d of %d %s "+name+".", len(s.fitting), read, repositories, s.wantedText())
}

// UsageSummary says in a few lines which repositories use a dependency, with links.
func UsageSummary(wanted manifest.Wanted, all []Searched) string {
	s := sortSearched(wanted, all)
	w := &writer{}
	w.writeLine("%s\n", s.countText())
	w.writeSearched(s.fitting, func(u analysis.Usage) bool { return u.Fit == manifest.Fits })
	if len(s.allowing) > 0 {
		w.writeLine("\nAllowed among other versions, and no lock file tells which is taken:\n")
		w.writeSearched(s.allowing, func(u analysis.Usage) bool { return u.Fit == manifest.Allowed })
	}
	if len(s.other) > 0 {
		w.writeLine("\nAnother version of it:\n")
		w.writeSearched(s.other, func(analysis.Usage) bool { return true })
	}
	if old := outdated(all); len(old) > 0 {
		w.writeLine("\nRead as checked out, for their remotes could not be asked: %s.", codeList(namesOf(old), maxNamed))
	}
	if len(s.open) > 0 {
		w.writeLine("\nNot read: %s.", codeList(namesOf(s.open), maxNamed))
	}
	return strings.TrimSpace(w.String())
}

// writeSearched lists repositories with the places of the dependency.
func (w *writer) writeSearched(found []Searched, shows func(analysis.Usage) bool) {
	for _, one := range found[:min(len(found), maxListedRepositories)] {
		w.web = one.Web
		var places []string
		more := 0
		for _, usage := range one.Usages.Found {
			switch {
			case !shows(usage):
			case len(places) == maxUsages:
				more++
			default:
				places = append(places, w.usageText(usage))
			}
		}
		text := strings.Join(places, "; ")
		if more > 0 {
			text += fmt.Sprintf("; and %d more", more)
		}
		w.writeLine("- %s: %s", codeText(one.Name), text)
	}
	if more := len(found) - maxListedRepositories; more > 0 {
		w.writeLine("- and %d more", more)
	}
}

// How much of a search is shown in the thread.
const (
	maxUsages             = 3
	maxListedRepositories = 20
)

// roleText says what a manifest belongs to that does not ship.
var roleText = map[source.Role]string{source.Example: "an example's manifest", source.Tool: "a tool's manifest", source.Test: "a test's manifest"}

// usageText shows a manifest's line: the dependency, its version, and what it is for.
func (w *writer) usageText(usage analysis.Usage) string {
	text := codeText(strings.TrimSpace(usage.Name + " " + usage.Version))
	if usage.Locked != "" {
		text += ", locked at " + codeText(usage.Locked)
	}
	var remarks []string
	if usage.Scope != "" {
		remarks = append(remarks, string(usage.Scope))
	}
	if usage.Role != source.Shipped {
		remarks = append(remarks, roleText[usage.Role])
	}
	if len(remarks) > 0 {
		text += " (" + strings.Join(remarks, ", ") + ")"
	}
	return text + " in " + w.placeText(usage.Place)
}

// WriteUsages writes the whole of a search: each place in each repository, and those without. The names of
// its columns are in the readers' language.
func WriteUsages(question string, wanted manifest.Wanted, all []Searched, readers language.Tag) string {
	s := sortSearched(wanted, all)
	w := &writer{speaker: phrases.In(readers)}
	w.writeLine("# %s\n", cleanText(question))
	w.writeLine("%s\n", s.countText())
	w.writeColumns(phrases.ReportUsageColumns, "|---|---|---|---|---|---|---|")
	for _, group := range [][]Searched{s.fitting, s.allowing, s.other} {
		for _, one := range group {
			w.web = one.Web
			for _, usage := range one.Usages.Found {
				w.writeLine("| %s | %s | %s | %s | %s | %s | %s |", codeCell(one.Name), codeCell(usage.Name), cellOf(usage.Version), cellOf(usage.Locked), usage.Fit, usage.Scope, w.placeText(usage.Place))
			}
		}
	}
	w.writeLine("")
	if len(s.without) > 0 {
		w.writeLine("Not named by the manifests of: %s.\n", codeList(namesOf(s.without), len(s.without)))
	}
	for _, one := range s.open {
		w.writeLine("- Not read: %s: %s", codeText(one.Name), cleanText(one.Failure))
	}
	for _, one := range all {
		if one.Outdated != "" {
			w.writeLine("- Read as it was checked out, %s, for its remote could not be asked: %s: %s", codeText(one.Commit[:min(len(one.Commit), 12)]), codeText(one.Name), cleanText(one.Outdated))
		}
		for _, broken := range one.Usages.Broken {
			w.writeLine("- Not read in %s: %s", codeText(one.Name), cleanText(broken))
		}
	}
	return w.String()
}

func outdated(all []Searched) []Searched {
	return slices.DeleteFunc(slices.Clone(all), func(one Searched) bool { return one.Outdated == "" })
}

func cellOf(text string) string {
	if text == "" {
		return ""
	}
	return codeCell(text)
}

func namesOf(all []Searched) []string {
	names := make([]string, len(all))
	for i, one := range all {
		names[i] = one.Name
	}
	return names
}
