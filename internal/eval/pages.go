package eval

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// maxPage bounds one page, in bytes.
const maxPage = 64 << 20

// Pages are the Markdown pages below one folder, cut into sections as they are
// needed. A path that leaves the folder names no page. Not for concurrent use.
type Pages struct {
	root *os.Root
	// loaded holds the sections of each page asked for; nil where there is no such file.
	loaded map[string][]section
}

// OpenPages opens the folder that the paths of questions and answers are relative to.
func OpenPages(dir string) (*Pages, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open documents of a question set: %w", err)
	}
	return &Pages{root: root, loaded: make(map[string][]section)}, nil
}

// Close releases the folder.
func (p *Pages) Close() error { return p.root.Close() }

// load reads a page, so that the look-ups below can't fail.
func (p *Pages) load(name string) error {
	if _, ok := p.loaded[name]; ok {
		return nil
	}
	text, ok, err := p.read(name)
	if err != nil {
		return fmt.Errorf("read page %s: %w", name, err)
	}
	p.loaded[name] = nil
	if ok {
		p.loaded[name] = cutSections(text)
	}
	return nil
}

// read gives the text of a page; ok is false where there is no such file.
func (p *Pages) read(name string) (text string, ok bool, err error) {
	exists, err := isRegular(p.root, name)
	if err != nil || !exists {
		return "", false, err
	}
	file, err := p.root.Open(localPath(name))
	if err != nil {
		return "", false, err
	}
	data, err := io.ReadAll(io.LimitReader(file, maxPage+1))
	if err = errors.Join(err, file.Close()); err != nil {
		return "", false, err
	}
	if len(data) > maxPage {
		return "", false, fmt.Errorf("larger than %d bytes", maxPage)
	}
	return strings.ToValidUTF8(string(data), "\uFFFD"), true, nil
}

// isRegular says whether a slash-separated path names a file below root. One that would
// leave root names none.
func isRegular(root *os.Root, name string) (bool, error) {
	local := localPath(name)
	if !filepath.IsLocal(local) || strings.ContainsRune(name, 0) {
		return false, nil
	}
	info, err := root.Stat(local)
	if errors.Is(err, fs.ErrPermission) {
		return false, err
	}
	// Else there is no such page: not there, below a file, too long, a link that leaves root.
	return err == nil && info.Mode().IsRegular(), nil
}

func localPath(name string) string { return filepath.FromSlash(path.Clean(name)) }

// find is the section of a place, or nil. An empty anchor is the head of the page; the id
// that is written at a heading serves as its anchor where no section has it.
func (p *Pages) find(place Place) *section {
	page := p.loaded[place.Path]
	want := canon(place.Anchor)
	for i := range page {
		if canon(page[i].anchor) == want {
			return &page[i]
		}
	}
	if want == "" && len(page) > 0 {
		return &page[0]
	}
	for i := range page {
		if want != "" && page[i].id == want {
			return &page[i]
		}
	}
	return nil
}

// text is heading and text of a section and of those under it; "" where there is none.
func (p *Pages) text(place Place) string {
	s := p.find(place)
	if s == nil {
		return ""
	}
	if s.path[len(s.path)-1] == "" {
		return s.heading + "\n" + s.text
	}
	var parts []string
	for _, t := range p.loaded[place.Path] {
		if len(t.path) >= len(s.path) && slices.Equal(t.path[:len(s.path)], s.path) {
			parts = append(parts, t.heading+"\n"+t.text)
		}
	}
	return strings.Join(parts, "\n")
}

// within says whether a cited place is the gold section or lies under it. Both are of
// one page. A page's title does not stand for all that is under it.
func (p *Pages) within(cited, gold Place) bool {
	s, g := p.find(cited), p.find(gold)
	if s == nil || g == nil {
		return canon(cited.Anchor) == canon(gold.Anchor)
	}
	return s == g || (g.level > 1 && slices.Contains(s.path, g.path[len(g.path)-1]))
}
