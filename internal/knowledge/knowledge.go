// Package knowledge holds the words that every part of Cairn's knowledge uses:
// a Document is something a person would open, a Passage is the piece of it that
// is searched and cited, a Source is where documents come from.
//
// The packages below it turn one into the other: connect yields documents as
// bytes, parse gives them structure, chunk cuts passages, embed makes vectors,
// index keeps and finds them, retrieve turns a question into ranked evidence.
package knowledge

import (
	"strconv"
	"strings"
	"time"
)

// SourceID names a configured connector, e.g. "docs". Only configuration makes one.
type SourceID string

// DocumentID identifies a document for as long as its source keeps it. Only the
// connector that yields the document makes or parses one.
type DocumentID string

// PassageID identifies a passage inside one indexed state of its document: the
// document's id and the passage's position, see MakePassageID.
type PassageID string

// MakePassageID gives the id of the passage at a position (0-based) of a document.
func MakePassageID(document DocumentID, position int) PassageID {
	return PassageID(string(document) + "#" + strconv.Itoa(position))
}

// Split gives the document and position that MakePassageID joined. ok is false
// for a string that MakePassageID did not make.
func (id PassageID) Split() (document DocumentID, position int, ok bool) {
	cut := strings.LastIndexByte(string(id), '#')
	if cut < 0 {
		return "", 0, false
	}
	position, err := strconv.Atoi(string(id[cut+1:]))
	if err != nil || position < 0 {
		return "", 0, false
	}
	return DocumentID(id[:cut]), position, true
}

// Kind is the category a document is shown under.
type Kind string

// The kinds of documents, in the order in which groups of equal weight are shown.
const (
	KindDocumentation Kind = "documentation"
	KindCode          Kind = "code"
	KindDrive         Kind = "drive"
	KindPage          Kind = "page"
	KindConversation  Kind = "conversation"
	KindWeb           Kind = "web"
)

// State says how the indexed text of a document stands to the document itself.
type State string

// A live document was indexed as it is; a changed one differs at its source since;
// a gone one no longer exists there.
const (
	StateLive    State = "live"
	StateChanged State = "changed"
	StateGone    State = "gone"
)

// Document is what a source holds under one id.
type Document struct {
	ID       DocumentID
	Source   SourceID
	Kind     Kind
	Path     string // slash-separated path inside the source, shown to people
	Title    string
	URL      string // absolute, without a fragment; passages add their anchor
	Owner    string // may be empty
	Language string // BCP 47 tag, may be empty
	Modified time.Time
	Indexed  time.Time
	LastSeen time.Time
	Hash     string   // of the content at the source; equal hash means unchanged
	Audience Audience // "" is public
	State    State
}

// Passage is a part of a document that stands on its own: one section, or a part
// of a long one. Its neighbours are the passages at Position-1 and Position+1.
type Passage struct {
	ID       PassageID
	Document DocumentID
	Position int      // 0-based
	Headings []string // from the outermost heading to the passage's own; may be empty
	Anchor   string   // heading slug, "page=3" or "L10-L20"; empty for a document's head
	Text     string   // Markdown-flavoured plain text, without the headings
	Tokens   int      // estimate, see chunk.CountTokens
	Hash     string   // of all that is embedded: title, headings and text
	// Definitions are the abbreviations that the passage explains.
	Definitions []Definition
}

// Section is the passage's own heading, or "" before the first one.
func (p Passage) Section() string {
	if len(p.Headings) == 0 {
		return ""
	}
	return p.Headings[len(p.Headings)-1]
}

// referenceHash is how much of a passage's hash a reference holds, in characters.
const referenceHash = 12

// Reference names the passage in its document as it is now: by its position and the beginning of
// its hash, "3-9f86d081884c".
func (p Passage) Reference() string {
	return strconv.Itoa(p.Position) + "-" + p.Hash[:min(len(p.Hash), referenceHash)]
}

// ParseReference gives the position and the beginning of the hash of what Reference gave. ok is
// false for anything else.
func ParseReference(text string) (position int, hash string, ok bool) {
	number, hash, _ := strings.Cut(text, "-")
	position, err := strconv.Atoi(number)
	return position, hash, err == nil && position >= 0 && len(hash) <= referenceHash
}

// IsReferredTo reports whether the passage is the one that a reference named, by its text.
func (p Passage) IsReferredTo(hash string) bool {
	return hash != "" && strings.HasPrefix(p.Hash, hash)
}

// Definition is an abbreviation and what it stands for, as a document explains it:
// "Business Requirements Document (BRD)".
type Definition struct {
	Short string // as written, e.g. "BRD"
	Long  string // e.g. "Business Requirements Document"
}

// commentAnchor begins the anchors of comments that an address names by a query.
const commentAnchor = "focusedCommentId-"

// CommentAnchor makes the anchor of a comment whose address is its document's with focusedCommentId=ID
// as query, as Jira has them. ok is false where the id is no number.
func CommentAnchor(id string) (anchor string, ok bool) {
	return commentAnchor + id, id != "" && strings.Trim(id, "0123456789") == ""
}

// URLWithAnchor gives the address of a passage: the document's URL with the anchor as fragment, or
// as query where CommentAnchor made it.
func URLWithAnchor(document Document, anchor string) string {
	if document.URL == "" || anchor == "" {
		return document.URL
	}
	if id, ok := strings.CutPrefix(anchor, commentAnchor); ok && !strings.ContainsAny(document.URL, "?#") {
		if _, ok := CommentAnchor(id); ok {
			return document.URL + "?focusedCommentId=" + id
		}
	}
	return document.URL + "#" + anchor
}
