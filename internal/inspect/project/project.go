// Package project reads the project of an app that is built from pages: which pages it has,
// which files a page is made of, where in them its widgets, handlers, styles and properties
// stand, and what a handler leads to. It reads files alone, and runs nothing.
//
// Reading order: project.go (pages and their files), sources.go (what is read of a page),
// locate.go, handle.go, style.go, property.go (one mapper each), follow.go (what happens).
package project

import (
	"path"
	"slices"
	"strings"
)

// Kind is what a page is.
type Kind string

// A partial is shown inside of pages, a prefab is a widget with files of its own.
const (
	PageKind    Kind = "page"
	PartialKind Kind = "partial"
	PrefabKind  Kind = "prefab"
)

// Page is the files of one page. Files that are missing are "".
type Page struct {
	Name      string   `json:"name"` // "Main"
	Kind      Kind     `json:"kind"`
	Component string   `json:"component"` // "src/pages/Main/Main.component.js"
	Script    string   `json:"script,omitempty"`
	Variables string   `json:"variables,omitempty"`
	Styles    []string `json:"styles,omitempty"`
}

// Files returns the page's files, the component first.
func (p Page) Files() []string {
	all := append([]string{p.Component, p.Script, p.Variables}, p.Styles...)
	return slices.DeleteFunc(all, func(name string) bool { return name == "" })
}

// parts are the endings of a page's files, before that of the language.
const (
	componentPart = ".component"
	scriptPart    = ".script"
	variablesPart = ".variables"
)

// styleParts are the endings of style files: generators of different ages name them differently.
var styleParts = []string{".style", ".styles"}

var extensions = []string{".js", ".jsx", ".ts", ".tsx"}

// leftOut are folders of generators and builds, beside those that no repository shows.
var leftOut = []string{"android/", "ios/", ".yalc/", "dist/", "build/", "node_modules/"}

// FindPages finds the pages among the files of a project, by their names. Pages come before
// partials and prefabs, each in the order of their names.
func FindPages(files []string) []Page {
	has := make(map[string]bool, len(files))
	for _, file := range files {
		has[file] = true
	}
	var pages []Page
	for _, file := range files {
		stem, ok := stemOf(file, componentPart)
		if !ok || slices.ContainsFunc(leftOut, func(folder string) bool { return strings.Contains("/"+file, "/"+folder) }) {
			continue
		}
		page := Page{Name: path.Base(stem), Kind: kindOf(file), Component: file}
		page.Script = firstOf(has, stem+scriptPart)
		page.Variables = firstOf(has, stem+variablesPart)
		for _, part := range styleParts {
			if found := firstOf(has, stem+part); found != "" {
				page.Styles = append(page.Styles, found)
			}
		}
		pages = append(pages, page)
	}
	order := map[Kind]int{PageKind: 0, PartialKind: 1, PrefabKind: 2}
	slices.SortStableFunc(pages, func(a, b Page) int {
		if a.Kind != b.Kind {
			return order[a.Kind] - order[b.Kind]
		}
		return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name))
	})
	return pages
}

func stemOf(file, part string) (string, bool) {
	for _, extension := range extensions {
		if stem, ok := strings.CutSuffix(file, part+extension); ok && path.Base(stem) != "" {
			return stem, true
		}
	}
	return "", false
}

func firstOf(has map[string]bool, stem string) string {
	for _, extension := range extensions {
		if has[stem+extension] {
			return stem + extension
		}
	}
	return ""
}

func kindOf(file string) Kind {
	for folder := range strings.SplitSeq(path.Dir(file), "/") {
		switch folder {
		case "partials":
			return PartialKind
		case "prefabs":
			return PrefabKind
		}
	}
	return PageKind
}

// Named returns the page of a name, in any case of letters; ok is false for none.
func Named(pages []Page, name string) (Page, bool) {
	for _, page := range pages {
		if page.Name == name {
			return page, true
		}
	}
	for _, page := range pages {
		if strings.EqualFold(page.Name, name) {
			return page, true
		}
	}
	return Page{}, false
}

// SharedFiles are the files of a project that all of its pages build on.
type SharedFiles struct {
	Variables string   `json:"variables,omitempty"` // "src/app.variables.js"
	Styles    []string `json:"styles,omitempty"`    // the strongest first: "app.style.js", then the theme's
}

// FindShared finds the files that all pages build on. Of a theme, which has styles for each
// platform, those for Android are read.
func FindShared(files []string) SharedFiles {
	var shared SharedFiles
	var themes []string
	for _, file := range files {
		base := path.Base(file)
		switch {
		case stemIs(base, "app.variables") && shared.Variables == "":
			shared.Variables = file
		case stemIs(base, "app.style") || stemIs(base, "app.styles"):
			shared.Styles = append(shared.Styles, file)
		case stemIs(base, "style") && strings.HasPrefix(file, "theme/") && strings.HasSuffix(path.Dir(file), "/android"):
			themes = append(themes, file)
		}
	}
	shared.Styles = append(shared.Styles, themes...)
	return shared
}

func stemIs(base, stem string) bool {
	return slices.ContainsFunc(extensions, func(extension string) bool { return base == stem+extension })
}
