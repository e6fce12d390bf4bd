package chat

import (
	"context"
	"encoding/base64"
	"errors"
	"time"
)

// SourceReader shows documents of the index as they are kept there. The bot implements it.
type SourceReader interface {
	// ReadSource gives the part of a document around a passage. ErrUnknownSource where there is
	// no such document, and where its reader may not see it: nothing tells the two apart.
	ReadSource(ctx context.Context, ref SourceRef, by Reader) (SourceText, error)
}

// ErrUnknownSource is that a document is not there for whoever wants to read it.
var ErrUnknownSource = errors.New("there is no such document")

// SourceRef names a passage of a document of the index, as an answer cites it.
type SourceRef struct {
	Document string // Source.Document
	Passage  string // Section.Passage; "" is the beginning of the document
}

// Path is where the web page shows the passage: "/source/aGFuZGJvb2s6YS5tZA/3-9f86d081884c".
func (r SourceRef) Path() string {
	path := SourcePath + base64.RawURLEncoding.EncodeToString([]byte(r.Document))
	if r.Passage != "" {
		path += "/" + r.Passage
	}
	return path
}

// SourcePath is what the paths of documents begin with.
const SourcePath = "/source/"

// ParseSourceRef reads the two parts of a path after SourcePath; passage may be "".
func ParseSourceRef(document, passage string) (SourceRef, error) {
	id, err := base64.RawURLEncoding.DecodeString(document)
	if err != nil || len(id) == 0 {
		return SourceRef{}, ErrUnknownSource
	}
	return SourceRef{Document: string(id), Passage: passage}, nil
}

// Reader is somebody who wants to read a document.
type Reader struct {
	Adapter string // where they are: "web"
	User    UserID
	// Identity is who they are; nil where the adapter is asked, see Message.Asker.
	Identity *Identity
}

// SourceText is a part of a document as it is in the index.
type SourceText struct {
	Source     Source // without Numbers; its Sections are those of Passages
	Collection string // the source that it comes from
	Language   string // BCP 47 tag, may be empty
	Indexed    time.Time
	// Audience are those who may read the document, as people read it, AllowedBy those of them
	// by whom its reader may.
	Audience, AllowedBy string
	Passages            []PassageText // in order
	// Earlier and Later are passages to go on from, "" at the document's beginning and end.
	Earlier, Later string
	// Changed tells that the passage that was asked for is not in the document any more: the
	// marked one stands in its place.
	Changed bool
}

// PassageText is a passage as it is in the index.
type PassageText struct {
	Passage  string   // as in SourceRef
	Headings []string // from the outermost to the passage's own; may be empty
	Text     string   // Markdown
	URL      string   // of the original, with its anchor
	Marked   bool     // it was asked for
}
