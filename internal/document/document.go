// Package document reads what a flow works on: the files that came with a message, a
// folder inside one that may be read, or a collection of the index. Whatever the place,
// what comes out is a Set: texts cut into sections, with names that people know.
//
// Below it, evidence is what is said and where that stands, extract finds it by rules,
// survey lets a language model find it, and report writes it down.
package document

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/language"
	"github.com/cairn-bot/cairn/internal/phrases"
)

// Document is one document of a Set, without its text. Its JSON is part of checkpoints.
type Document struct {
	Name     string               `json:"name"` // as people know it, unique in its Set
	ID       knowledge.DocumentID `json:"id"`
	Kind     knowledge.Kind       `json:"kind"`
	Title    string               `json:"title"`
	URL      string               `json:"url,omitempty"` // "" where people can't open it
	Modified time.Time            `json:"modified,omitzero"`
	Sections []Section            `json:"sections"`
	// Audience is whom a document of the index is for, "" where it is of none.
	Audience knowledge.Audience `json:"audience,omitempty"`
}

// Section is a part of a document under one heading: text[Start:End] of its text.
type Section struct {
	Headings []string `json:"headings,omitempty"` // from the outermost to the section's own
	Anchor   string   `json:"anchor,omitempty"`
	Start    int      `json:"start"` // bytes
	End      int      `json:"end"`
	// Passages are what the section was read from, of a document of the index.
	Passages []Passage `json:"passages,omitempty"`
}

// Passage is one of the index as it was read.
type Passage struct {
	ID   knowledge.PassageID `json:"id"`
	Hash string              `json:"hash"`
}

// Heading is the section's own heading, "" before the first one.
func (s Section) Heading() string {
	if len(s.Headings) == 0 {
		return ""
	}
	return s.Headings[len(s.Headings)-1]
}

// Set is what was read.
type Set struct {
	Documents []Document
	Texts     map[string]string // by the names of the documents
	Skipped   []string          // what was not read and why, in words for people
}

// Read is what Reader.Read is asked for.
type Read struct {
	Location    flows.Location
	Attachments []flows.Attachment
	Scope       flows.Scope
}

// Index is what a Reader needs of the index.
type Index interface {
	Documents(ctx context.Context, source knowledge.SourceID) iter.Seq2[knowledge.Document, error]
	Passages(ctx context.Context, ids []knowledge.PassageID) ([]index.Found, error)
}

// Limits bound what is read; a zero field is its default.
type Limits struct {
	Files     int   // of a folder, documents of a collection; 1,000
	FileBytes int64 // of one file; 8 MiB, a larger one is skipped
	Bytes     int64 // of all files of a folder together; 64 MiB
	TextBytes int   // of all texts together; 8 MiB
}

func (l Limits) withDefaults() Limits {
	if l.Files == 0 {
		l.Files = 1000
	}
	if l.FileBytes == 0 {
		l.FileBytes = 8 << 20
	}
	if l.Bytes == 0 {
		l.Bytes = 64 << 20
	}
	if l.TextBytes == 0 {
		l.TextBytes = 8 << 20
	}
	return l
}

// Options say what may be read.
type Options struct {
	// Roots are the folders that may be read, with all that is below them. A relative
	// name of a folder is looked for in each, in this order. None: no folder is read.
	Roots []string
	// Index has the Collections; nil: none is read.
	Index       Index
	Collections func(ctx context.Context) ([]knowledge.SourceID, error)
	Limits      Limits
}

// Reader reads documents. Its methods may be called concurrently.
type Reader struct{ options Options }

// NewReader gives a reader.
func NewReader(options Options) *Reader {
	options.Limits = options.Limits.withDefaults()
	return &Reader{options: options}
}

// RefusedError says in words for people why nothing was read, and what helps.
type RefusedError struct{ Text string }

func (e *RefusedError) Error() string { return e.Text }

func refused(format string, args ...any) error {
	return &RefusedError{Text: fmt.Sprintf(format, args...)}
}

// Read reads the documents of a location. What can't be read is skipped and named; where
// that leaves nothing, or the location may not be read, the error is a *RefusedError.
func (r *Reader) Read(ctx context.Context, wanted Read) (Set, error) {
	set := &gathered{limits: r.options.Limits, where: wanted.Location.String(), texts: make(map[string]string)}
	var err error
	switch wanted.Location.Place {
	case flows.Folder:
		err = r.folder(ctx, set, wanted.Location.Name)
	case flows.Collection:
		err = r.collection(ctx, set, wanted)
	default:
		err = attached(ctx, set, wanted.Attachments)
	}
	if err != nil {
		return Set{}, err
	}
	if len(set.documents) == 0 {
		return Set{}, set.nothing()
	}
	return Set{Documents: set.documents, Texts: set.texts, Skipped: set.skipped}, nil
}

// Note says in the readers' language what was not read, "" where all was.
func (s Set) Note(readers language.Tag) string { return skippedNote(s.Skipped, phrases.In(readers)) }

// maxNamed is how many skipped files are named.
const maxNamed = 5

func skippedNote(skipped []string, speaker phrases.Speaker) string {
	if len(skipped) == 0 {
		return ""
	}
	named := strings.Join(skipped[:min(len(skipped), maxNamed)], "; ")
	if more := len(skipped) - maxNamed; more > 0 {
		named += "; " + speaker.Text(phrases.AndMore, more)
	}
	return speaker.Text(phrases.NotRead, named)
}
