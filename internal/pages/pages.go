// Package pages keeps the documents that a team writes together with Cairn: as trees of blocks
// with lasting ids (package tree), in versions, each of which says who made it, of which
// version before, and why. Changes that were made at the same time are merged (package merge).
//
// Reading order: pages.go has what is stored and the contract of the store, whose backends are sqlite.go
// and postgres and whose suite is pagestest; library.go is how pages are used; retention.go is which versions
// are kept.
package pages

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/pages/tree"
)

// PageID names a page. Only Library makes one.
type PageID string

// Page is a page as it stands.
type Page struct {
	ID       PageID
	Title    string
	Audience knowledge.Audience // "" is public
	Version  int                // of the last change, from 1
	Root     *tree.Node
	Created  time.Time
	Updated  time.Time
}

// Version is one change of a page.
type Version struct {
	Page   PageID
	Number int
	Base   int    // the version that its author saw; Number-1 where nothing came in between
	Author string // as the adapter knows them, "" for one who was forgotten
	At     time.Time
	Why    string // in words: "page: append", "restored version 3"
	Run    string // the run that made it, "" for none
	// Key names the write: one that is repeated under the same key changes nothing.
	Key  string
	Name string // of a snapshot; "" for none
	// Title and Root are the page after the change. Versions leaves Root out.
	Title string
	Root  *tree.Node
}

// WhyTyped is the reason (Version.Why) of what an editor saves while people type. Nobody decided on
// such a version, so that old ones are thinned out.
const WhyTyped = "edited in the browser"

// Summary is a page in a list.
type Summary struct {
	ID       PageID
	Title    string
	Audience knowledge.Audience
	Version  int
	Updated  time.Time
}

// Errors that callers branch on.
var (
	// ErrNotFound: there is no such page or version, or none that the viewers may see.
	ErrNotFound = errors.New("there is no such page")
	// ErrStale: the page has another version than the write expects.
	ErrStale = errors.New("the page has changed meanwhile")
)

// Store keeps pages and their versions. All methods may be called concurrently; a write is
// atomic. It knows nothing of who may see what: that is Library's to check.
type Store interface {
	// Create keeps a new page with its first version. A page whose id is there already is
	// ErrStale.
	Create(ctx context.Context, page Page, first Version) error
	// Load gives a page as it stands. ErrNotFound.
	Load(ctx context.Context, id PageID) (Page, error)
	// List gives all pages without what is in them, the last changed first.
	List(ctx context.Context) ([]Summary, error)
	// Commit adds a version to a page, which takes its title and its root. Version.Number is
	// one more than the page's; else ErrStale, and nothing is changed. ErrNotFound.
	Commit(ctx context.Context, version Version) error
	// Versions gives the changes of a page, the last first, at most limit, without roots. Old
	// ones are missing (see Library.Prune).
	Versions(ctx context.Context, id PageID, limit int) ([]Version, error)
	// LoadVersion gives one change with its root. ErrNotFound, also for one that was removed.
	LoadVersion(ctx context.Context, id PageID, number int) (Version, error)
	// Delete removes a page with its versions and from where it is active. ErrNotFound.
	Delete(ctx context.Context, id PageID) error
}

// Places remembers which page people work on in a thread or channel.
type Places interface {
	// Activate makes a page the one that a place works on; "" for none.
	Activate(ctx context.Context, place string, id PageID) error
	// Active gives the page of a place, "" for none.
	Active(ctx context.Context, place string) (PageID, error)
}

// Keeper limits what is kept.
type Keeper interface {
	// FindKey gives the number of the version that was written under a key, 0 for none.
	FindKey(ctx context.Context, id PageID, key string) (int, error)
	// NameVersion gives a version another name, "" for none. ErrNotFound.
	NameVersion(ctx context.Context, id PageID, number int, name string) error
	// ForgetAuthor takes a person's name off all versions, and says off how many.
	ForgetAuthor(ctx context.Context, author string) (int, error)
	// RemoveVersions removes versions of a page, and says how many. The page's last one and
	// snapshots stay, as do numbers that are not there.
	RemoveVersions(ctx context.Context, id PageID, numbers []int) (int, error)
}

// Backend is all that a backend implements.
type Backend interface {
	Store
	Places
	Keeper
}

// Limits of what people write.
const (
	MaxTitle = 200     // letters
	MaxPage  = 4 << 20 // bytes of a page's JSON
)

// CleanTitle gives a title on one line, within its limit. An empty one is an error.
func CleanTitle(title string) (string, error) {
	title = strings.Join(strings.Fields(strings.ToValidUTF8(title, "\uFFFD")), " ")
	if title == "" {
		return "", errors.New("a page needs a title")
	}
	if utf8.RuneCountInString(title) > MaxTitle {
		return "", fmt.Errorf("the title is longer than %d letters", MaxTitle)
	}
	return title, nil
}

// EncodeRoot writes a page's tree as backends store it: Lexical's JSON.
func EncodeRoot(root *tree.Node) ([]byte, error) {
	data := tree.Encode(root)
	if len(data) > MaxPage {
		return nil, fmt.Errorf("the page is larger than %d MB: make two of it", MaxPage>>20)
	}
	return data, nil
}

// DecodeRoot reads what EncodeRoot wrote.
func DecodeRoot(data []byte) (*tree.Node, error) {
	root, err := tree.Decode(data)
	if err != nil {
		return nil, fmt.Errorf("read a stored page: %w", err)
	}
	tree.AssignIDs(root, tree.RandomID)
	return root, nil
}
