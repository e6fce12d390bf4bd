// Package uploads keeps the files that people attach to messages on the web page, in SQLite or in
// Redis: a platform such as Slack keeps its own.
package uploads

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
)

// Bounds of what is kept.
const (
	MaxFile    = 8 << 20  // bytes of a file
	MaxMessage = 20 << 20 // bytes of all files of a message
	MaxThread  = 64 << 20 // bytes of all files of a thread
	// maxAll is how many bytes are kept in all. Files that were read longest ago make room.
	maxAll = 256 << 20
	// keepTime is how long a file is kept that nobody reads.
	keepTime = 30 * 24 * time.Hour
)

// ErrFull tells that a thread has as many files as are kept.
var ErrFull = errors.New("this conversation has as many files as are kept; begin a new one")

// Store keeps files. It may be used concurrently, by several processes. Fetch gives chat.ErrGone for
// a file that was removed, is too old, or came in another thread.
type Store interface {
	chat.FileFinder
	chat.FileForgetter
	// Keep keeps a file that somebody attached to a message of a thread. The file's ID is one of
	// NewID. ErrFull where the thread has MaxThread bytes.
	Keep(ctx context.Context, thread chat.ThreadID, by chat.UserID, file chat.File, content []byte) error
	// Remove removes a file of a thread. To remove one that is gone is no error.
	Remove(ctx context.Context, thread chat.ThreadID, id string) error
	// Prune removes files that are too old.
	Prune(ctx context.Context) error
}

// NewID makes the id of a file, which no other file has.
func NewID() string { return "file-" + rand.Text() }
