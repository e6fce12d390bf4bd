package project

import (
	"crypto/sha256"
	"slices"
	"strings"
	"sync"

	"github.com/cairn-bot/cairn/internal/inspect/jsx"
)

// Sources are the files of a page, read.
type Sources struct {
	Page   Page
	Shared SharedFiles
	Files  map[string]*jsx.File // by their paths; those with mistakes are missing
	// Wrong are the mistakes in files, each with its line.
	Wrong []*jsx.SyntaxError
	// Parts are the partials that the page shows.
	Parts []Page
}

// Reader reads files, and keeps what it read last: a run reads its files several times. Its
// methods may be called concurrently.
type Reader struct {
	mu    sync.Mutex
	kept  map[[sha256.Size]byte]parsed
	order [][sha256.Size]byte // of kept, the oldest first
}

// parsed is what came of reading a file.
type parsed struct {
	file  *jsx.File
	wrong []*jsx.SyntaxError
}

// maxKept is how many files a reader keeps.
const maxKept = 100

// NewReader returns a reader.
func NewReader() *Reader { return &Reader{kept: make(map[[sha256.Size]byte]parsed)} }

func (r *Reader) parse(name, content string) parsed {
	key := sha256.Sum256([]byte(name + "\x00" + content))
	r.mu.Lock()
	found, ok := r.kept[key]
	r.mu.Unlock()
	if ok {
		return found
	}
	found.file, found.wrong = jsx.Parse(name, []byte(content))
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.kept[key]; !ok {
		r.order = append(r.order, key)
	}
	r.kept[key] = found
	if len(r.order) > maxKept {
		delete(r.kept, r.order[0])
		r.order = slices.Delete(r.order, 0, 1)
	}
	return found
}

// Read reads the files of a page by their contents.
func (r *Reader) Read(page Page, parts []Page, shared SharedFiles, contents map[string]string) *Sources {
	s := &Sources{Page: page, Shared: shared, Parts: parts, Files: make(map[string]*jsx.File, len(contents))}
	for _, name := range s.names() {
		content, ok := contents[name]
		if !ok {
			continue
		}
		read := r.parse(name, content)
		s.Wrong = append(s.Wrong, read.wrong...)
		if read.file != nil {
			s.Files[name] = read.file
		}
	}
	return s
}

// names are the paths of the files, those of the page first.
func (s *Sources) names() []string {
	names := s.Page.Files()
	for _, part := range s.Parts {
		names = append(names, part.Files()...)
	}
	if s.Shared.Variables != "" {
		names = append(names, s.Shared.Variables)
	}
	return append(names, s.Shared.Styles...)
}

// PartsOf names the partials that a page's component shows, by <… content="leftnav">.
func (r *Reader) PartsOf(component, content string, pages []Page) []Page {
	file := r.parse(component, content).file
	if file == nil {
		return nil
	}
	var parts []Page
	for _, element := range file.Elements {
		part, ok := Named(pages, element.Text("content"))
		if ok && part.Kind != PageKind && !slices.ContainsFunc(parts, func(p Page) bool { return p.Component == part.Component }) {
			parts = append(parts, part)
		}
	}
	return parts
}

// pageOf is the page or partial that a file belongs to.
func (s *Sources) pageOf(file string) Page {
	for _, part := range s.Parts {
		if slices.Contains(part.Files(), file) {
			return part
		}
	}
	return s.Page
}

// components are the components of the page and of its partials.
func (s *Sources) components() []*jsx.File {
	var all []*jsx.File
	for _, page := range append([]Page{s.Page}, s.Parts...) {
		if file := s.Files[page.Component]; file != nil {
			all = append(all, file)
		}
	}
	return all
}

// Relation says that one file of a page uses another.
type Relation struct {
	From string `json:"from"`
	To   string `json:"to"`
	Line int    `json:"line"` // of the import in From
}

// Relations lists which files of the page import which.
func (s *Sources) Relations() []Relation {
	relations := []Relation{}
	for _, name := range s.names() {
		file := s.Files[name]
		if file == nil {
			continue
		}
		for _, imported := range file.Imports {
			if to := s.resolveImport(name, imported.From); to != "" {
				relations = append(relations, Relation{From: name, To: to, Line: imported.Line})
			}
		}
	}
	return relations
}

func (s *Sources) resolveImport(from, written string) string {
	if !strings.HasPrefix(written, ".") {
		return ""
	}
	target := joinPaths(from, written)
	for _, name := range s.names() {
		if name == target {
			return name
		}
		for _, extension := range extensions {
			if name == target+extension {
				return name
			}
		}
	}
	return ""
}
