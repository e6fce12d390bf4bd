// Command site writes the documentation as a website that needs no server: a page for each
// document of the folder docs, the README as its first one, and a search over all of them.
//
//	go run ./docs/site OUT
package main

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

//go:embed page.html
var pageHTML string

//go:embed site.css site.js
var assets embed.FS

// repository is where links to files lead that are no pages.
const repository = "https://github.com/cairn-bot/cairn/blob/main/"

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: site OUT (from the top of a checkout)")
		os.Exit(2)
	}
	site, err := readSite(os.DirFS("."))
	if err == nil {
		err = site.write(os.Args[1])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}

// site is the documentation as pages.
type site struct {
	pages []*page
	files map[string][]byte // pictures and the like, by where they stand in the site
}

// page is one document.
type page struct {
	source   string // in the checkout: "docs/slack.md"
	Name     string // in the site: "slack.html"
	Title    string
	Body     template.HTML
	sections []section
	links    []string // that lead into the site: "slack.html#commands"
	anchors  []string
}

// section is what the search finds.
type section struct {
	Page    string `json:"page"` // its title
	Heading string `json:"heading"`
	Link    string `json:"link"`
	Text    string `json:"text"`
}

// readSite reads the README and the folder docs of a checkout.
func readSite(checkout fs.FS) (*site, error) {
	documents, err := fs.Glob(checkout, "docs/*.md")
	if err != nil {
		return nil, err
	}
	s := &site{files: make(map[string][]byte)}
	for _, name := range append([]string{"README.md", "CHANGELOG.md"}, documents...) {
		source, err := fs.ReadFile(checkout, name)
		if err != nil {
			return nil, err
		}
		page, err := renderPage(name, source)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		s.pages = append(s.pages, page)
	}
	pictures, err := fs.Glob(checkout, "docs/pictures/*.png")
	if err != nil {
		return nil, err
	}
	for _, name := range pictures {
		if s.files[strings.TrimPrefix(name, "docs/")], err = fs.ReadFile(checkout, name); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// nameOf is the page of a document.
func nameOf(source string) string {
	if source == "README.md" {
		return "index.html"
	}
	return strings.ToLower(strings.TrimSuffix(path.Base(source), ".md")) + ".html"
}

func renderPage(source string, markdown []byte) (*page, error) {
	converter := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithParserOptions(parser.WithAutoHeadingID()))
	root := converter.Parser().Parse(text.NewReader(markdown))
	p := &page{source: source, Name: nameOf(source)}
	err := ast.Walk(root, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			p.visit(node, markdown)
		}
		if node.Kind() == ast.KindHeading {
			return ast.WalkSkipChildren, nil
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return nil, err
	}
	if p.Title == "" {
		return nil, errors.New("it has no heading of the first level")
	}
	var body bytes.Buffer
	if err := converter.Renderer().Render(&body, markdown, root); err != nil {
		return nil, err
	}
	p.Body = template.HTML(body.String()) // of this repository's own Markdown, without raw HTML
	return p, nil
}

// visit leads links into the site, and collects what is searched.
func (p *page) visit(node ast.Node, markdown []byte) {
	switch node := node.(type) {
	case *ast.Heading:
		p.beginSection(node, markdown)
	case *ast.Link:
		node.Destination = []byte(p.resolveLink(string(node.Destination)))
	case *ast.Image:
		node.Destination = []byte(strings.TrimPrefix(string(node.Destination), "docs/"))
		p.links = append(p.links, string(node.Destination))
	case *ast.Text:
		p.addText(node.Value(markdown))
	case *ast.FencedCodeBlock, *ast.CodeBlock:
		for i := range node.Lines().Len() {
			line := node.Lines().At(i)
			p.addText(line.Value(markdown))
		}
	}
}

func (p *page) beginSection(heading *ast.Heading, markdown []byte) {
	title := strings.ReplaceAll(string(heading.Lines().Value(markdown)), "`", "")
	anchor, link := "", p.Name
	if id, ok := heading.AttributeString("id"); ok {
		anchor = string(id.([]byte))
		p.anchors = append(p.anchors, anchor)
	}
	if heading.Level == 1 && p.Title == "" {
		p.Title = title
	} else {
		link += "#" + anchor
	}
	p.sections = append(p.sections, section{Page: p.Title, Heading: title, Link: link})
}

func (p *page) addText(found []byte) {
	if len(p.sections) > 0 {
		last := &p.sections[len(p.sections)-1]
		last.Text = strings.TrimSpace(last.Text + " " + strings.TrimSpace(string(found)))
	}
}

// resolveLink gives where a link of a document leads in the site, or in the repository.
func (p *page) resolveLink(to string) string {
	if strings.Contains(to, ":") {
		return to
	}
	file, anchor, _ := strings.Cut(to, "#")
	if anchor != "" {
		anchor = "#" + anchor
	}
	if file == "" {
		p.links = append(p.links, p.Name+anchor)
		return to
	}
	target := path.Join(path.Dir(p.source), file)
	if path.Ext(target) != ".md" || path.Dir(target) != "docs" && path.Dir(target) != "." {
		return repository + target + anchor
	}
	p.links = append(p.links, nameOf(target)+anchor)
	return nameOf(target) + anchor
}

// checkLinks gives each link that leads to no page, picture or section.
func (s *site) checkLinks() []error {
	known := make(map[string]bool)
	for file := range s.files {
		known[file] = true
	}
	for _, p := range s.pages {
		known[p.Name] = true
		for _, anchor := range p.anchors {
			known[p.Name+"#"+anchor] = true
		}
	}
	var broken []error
	for _, p := range s.pages {
		for _, link := range p.links {
			if !known[link] {
				broken = append(broken, fmt.Errorf("%s links to %s, which is not there", p.source, link))
			}
		}
	}
	return broken
}

// write writes the site into a folder.
func (s *site) write(out string) error {
	if err := errors.Join(s.checkLinks()...); err != nil {
		return err
	}
	layout, err := template.New("page").Parse(pageHTML)
	if err != nil {
		return err
	}
	files := make(map[string][]byte, len(s.pages)+len(s.files))
	var sections []section
	contents := slices.SortedFunc(slices.Values(s.pages[1:]), func(a, b *page) int { return strings.Compare(a.Title, b.Title) })
	for _, p := range s.pages {
		var shown bytes.Buffer
		if err := layout.Execute(&shown, map[string]any{"Page": p, "Contents": contents}); err != nil {
			return err
		}
		files[p.Name] = shown.Bytes()
		sections = append(sections, p.sections...)
	}
	index, err := json.Marshal(sections)
	if err != nil {
		return err
	}
	files["index.js"] = append(append([]byte("const sections = "), index...), ";\n"...)
	for _, name := range []string{"site.css", "site.js"} {
		if files[name], err = assets.ReadFile(name); err != nil {
			return err
		}
	}
	for name, content := range s.files {
		files[name] = content
	}
	return writeFiles(out, files)
}

func writeFiles(out string, files map[string][]byte) error {
	for name, content := range files {
		file := filepath.Join(out, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, content, 0o644); err != nil {
			return err
		}
	}
	return nil
}
