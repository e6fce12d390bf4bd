package analysis

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/cairn-bot/cairn/internal/repository/source"
)

// Structure is how a repository is laid out.
type Structure struct {
	Name      string     `json:"name"`
	Commit    string     `json:"commit,omitempty"`
	Files     int        `json:"files"`
	Bytes     int64      `json:"bytes"`
	Lines     int        `json:"lines"`  // of text
	Tests     int        `json:"tests"`  // files of tests, what they read included
	Unread    int        `json:"unread"` // files that were too large to be looked into
	Languages []Language `json:"languages"`
	Tree      []Folder   `json:"tree"`
	TreeLeft  int        `json:"tree_left,omitempty"` // folders that found no room
	Root      []RootFile `json:"root"`                // its own files
	RootLeft  int        `json:"root_left,omitempty"` // that found no room
	Readme    *Readme    `json:"readme,omitempty"`
	License   *License   `json:"license,omitempty"`
	CI        []Place    `json:"ci,omitempty"` // files that say what its CI runs
	CITotal   int        `json:"ci_total,omitempty"`
	TestFiles []Place    `json:"test_files,omitempty"`
	Skipped   []string   `json:"skipped,omitempty"` // folders that were not looked into
	Links     int        `json:"links,omitempty"`
	Modules   []string   `json:"submodules,omitempty"`
	Risks     []Risk     `json:"risks,omitempty"`
}

// Language is what there is of one.
type Language struct {
	Name  source.Language `json:"name"`
	Files int             `json:"files"`
	Lines int             `json:"lines"`
}

// Folder is a folder of the tree, with all that is below it.
type Folder struct {
	Path  string `json:"path"`
	Depth int    `json:"depth"` // 1 for those of the root
	Files int    `json:"files"`
}

// RootFile is a file at the root.
type RootFile struct {
	Path  string `json:"path"`
	Bytes int64  `json:"bytes"`
}

// Readme is how a repository describes itself.
type Readme struct {
	Place
	Title string `json:"title,omitempty"`
	Text  string `json:"text,omitempty"` // its first paragraph
}

// License is under what a repository may be used, by its text.
type License struct {
	Place
	Name string `json:"name"` // "MIT", "MIT, Unlicense" for several; "" for one that is not known
}

// with gives a license with what another file of the repository says of it.
func (l *License) with(file, name string) *License {
	switch {
	case l == nil || l.Name == "" && name != "":
		return &License{Place{Path: file}, name}
	case name == "" || slices.Contains(strings.Split(l.Name, ", "), name):
		return l
	}
	return &License{l.Place, l.Name + ", " + name}
}

// Bounds of a Structure.
const (
	maxFolders   = 120
	maxRootFiles = 60
	maxLanguages = 15
	maxPlaces    = 10
	hugeFile     = 5 << 20 // bytes
)

// Structure describes the layout, its tree down to a depth.
func (a *Analyst) Structure(ctx context.Context, depth int) (Structure, error) {
	read, err := a.readAll(ctx)
	if err != nil {
		return Structure{}, fmt.Errorf("analyze the directory structure: %w", err)
	}
	c := a.checkout
	s := Structure{
		Name: c.Name, Commit: c.Commit, Files: len(read.files), Unread: read.unread,
		Links: c.Links, Skipped: c.Skipped[:min(len(c.Skipped), maxFolders)], Modules: c.Submodules[:min(len(c.Submodules), maxFolders)],
	}
	languages := make(map[source.Language]*Language)
	for _, f := range read.files {
		s.Bytes += f.Size
		s.Lines += f.lines
		if f.test {
			s.Tests++
			if len(s.TestFiles) < maxPlaces && f.facts.Imports != nil {
				s.TestFiles = append(s.TestFiles, Place{Path: f.Path})
			}
		}
		if isCI(f.Path) {
			s.CITotal++
			if len(s.CI) < maxPlaces {
				s.CI = append(s.CI, Place{Path: f.Path})
			}
		}
		s.addRootFile(f)
		if f.language == "" {
			continue
		}
		if languages[f.language] == nil {
			languages[f.language] = &Language{Name: f.language}
		}
		languages[f.language].Files++
		languages[f.language].Lines += f.lines
	}
	for _, language := range languages {
		s.Languages = append(s.Languages, *language)
	}
	slices.SortFunc(s.Languages, func(a, b Language) int {
		return cmp.Or(cmp.Compare(b.Lines, a.Lines), strings.Compare(string(a.Name), string(b.Name)))
	})
	s.Languages = s.Languages[:min(len(s.Languages), maxLanguages)]
	s.countFolders(read.files, depth)
	if err := a.readDescription(&s, read.files); err != nil {
		return Structure{}, fmt.Errorf("analyze the directory structure: %w", err)
	}
	s.Risks = structureRisks(s, read.files)
	return s, nil
}

func (s *Structure) addRootFile(f file) {
	switch {
	case strings.Contains(f.Path, "/"):
	case len(s.Root) == maxRootFiles:
		s.RootLeft++
	default:
		s.Root = append(s.Root, RootFile{f.Path, f.Size})
	}
}

// countFolders counts the files of each folder. Where there are too many, the deepest go first.
func (s *Structure) countFolders(files []file, depth int) {
	counts := make(map[string]int)
	for _, f := range files {
		for folder := path.Dir(f.Path); folder != "."; folder = path.Dir(folder) {
			counts[folder]++
		}
	}
	for folder, count := range counts {
		if level := strings.Count(folder, "/") + 1; level <= depth {
			s.Tree = append(s.Tree, Folder{folder, level, count})
		}
	}
	if left := len(s.Tree) - maxFolders; left > 0 {
		slices.SortFunc(s.Tree, func(a, b Folder) int {
			return cmp.Or(cmp.Compare(a.Depth, b.Depth), cmp.Compare(b.Files, a.Files), strings.Compare(a.Path, b.Path))
		})
		s.Tree, s.TreeLeft = s.Tree[:maxFolders], left
	}
	// A folder stands before those in it, whatever signs its neighbours' names have.
	slices.SortFunc(s.Tree, func(a, b Folder) int {
		return slices.Compare(strings.Split(a.Path, "/"), strings.Split(b.Path, "/"))
	})
}

var ciFile = regexp.MustCompile(`^(?:\.github/workflows/[^/]+\.ya?ml|\.gitlab-ci\.yml|\.circleci/config\.yml|Jenkinsfile|azure-pipelines\.yml|\.travis\.yml|\.drone\.yml|bitbucket-pipelines\.yml|\.woodpecker\.ya?ml)$`)

func isCI(file string) bool { return ciFile.MatchString(file) }

var (
	readmeFile  = regexp.MustCompile(`(?i)^readme(?:\.(?:md|rst|txt|markdown))?$`)
	licenseFile = regexp.MustCompile(`(?i)^(?:licen[cs]e|copying|unlicense)(?:[.-].*)?$`)
)

// readDescription reads what the repository says of itself.
func (a *Analyst) readDescription(s *Structure, files []file) error {
	for _, f := range files {
		readme := s.Readme == nil && readmeFile.MatchString(f.Path)
		license := licenseFile.MatchString(f.Path)
		if f.unread || f.binary || !readme && !license {
			continue
		}
		content, err := a.checkout.Read(f.Path)
		if err != nil {
			return err //nolint:wrapcheck // it names the file
		}
		if readme {
			s.Readme = readReadme(f.Path, string(withoutSecrets(content)))
		} else {
			s.License = s.License.with(f.Path, licenseOf(string(content)))
		}
	}
	return nil
}

// licensePatterns are known by a sentence that each has.
var licensePatterns = []struct{ name, says string }{
	{"Apache-2.0", "apache license version 2.0"},
	{"AGPL-3.0", "gnu affero general public license"},
	{"LGPL", "gnu lesser general public license version"},
	{"GPL-3.0", "gnu general public license version 3"},
	{"GPL-2.0", "gnu general public license version 2"},
	{"MPL-2.0", "mozilla public license version 2.0"},
	{"MIT", "permission is hereby granted, free of charge, to any person obtaining a copy"},
	{"ISC", "permission to use, copy, modify, and/or distribute this software for any purpose"},
	{"BSD-3-Clause", "neither the name of"},
	{"BSD-2-Clause", "redistribution and use in source and binary forms"},
	{"Unlicense", "free and unencumbered software released into the public domain"},
}

func licenseOf(text string) string {
	plain := strings.ReplaceAll(strings.ToLower(strings.Join(strings.Fields(text), " ")), "license, version", "license version")
	for _, license := range licensePatterns {
		if strings.Contains(plain, license.says) {
			return license.name
		}
	}
	return ""
}

// structureRisks returns those that files alone tell.
func structureRisks(s Structure, files []file) []Risk {
	var risks []Risk
	if s.License == nil {
		risks = append(risks, Risk{Kind: NoLicense, Text: "There is no license file: nobody else may use the code as it is."})
	}
	programs, tests := 0, 0
	huge := Risk{Kind: Huge}
	secrets := make(map[string]*Risk)
	var kinds []string
	for _, f := range files {
		if f.language.Imports() && !f.test {
			programs++
		}
		if f.language.Program() && f.test {
			tests++
		}
		if f.Size > hugeFile {
			huge.addPlace(Place{Path: f.Path})
		}
		for _, found := range f.secrets {
			about := found.kind
			if f.test {
				about += " in tests"
			}
			if secrets[about] == nil {
				secrets[about] = &Risk{Kind: Secret, Text: "Something looks like " + about + ". It is not shown here; if it is real, revoke it: the history keeps it."}
				kinds = append(kinds, about)
			}
			secrets[about].addPlace(Place{Path: f.Path, Line: found.line})
		}
	}
	if tests == 0 && programs > 0 {
		risks = append(risks, Risk{Kind: NoTests, Text: "There are no tests."})
	}
	if len(huge.Places) > 0 {
		huge.Text = fmt.Sprintf("Files of more than %s make every checkout large.", humanize.IBytes(hugeFile))
		risks = append(risks, huge)
	}
	slices.Sort(kinds)
	for _, about := range kinds {
		risks = append(risks, *secrets[about])
	}
	return risks
}

// addPlace adds a place, or counts it where there are enough.
func (r *Risk) addPlace(at Place) {
	if len(r.Places) == maxPlaces {
		r.More++
		return
	}
	r.Places = append(r.Places, at)
}
