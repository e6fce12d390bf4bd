package chattest

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/cairn-bot/cairn/internal/chat"
)

// FetcherRoom is a file that came in a thread, and the fetcher to get it with.
type FetcherRoom struct {
	Fetcher chat.Fetcher
	Thread  chat.ThreadID
	File    chat.File
}

// TestFetcher checks a chat.Fetcher. open makes a room whose file has that content.
func TestFetcher(t *testing.T, open func(t *testing.T, content []byte) FetcherRoom) {
	content := bytes.Repeat([]byte("0123456789abcdef\x00\xff"), 1000)
	room := open(t, content)
	for name, limit := range map[string]int64{
		"whole": 1 << 20, "just whole": int64(len(content)), "cut": 1000, "nothing": 0,
	} {
		t.Run(name, func(t *testing.T) {
			got, err := room.Fetcher.Fetch(t.Context(), room.Thread, room.File, limit)
			if want := content[:min(int64(len(content)), limit)]; err != nil || !bytes.Equal(got, want) {
				t.Errorf("Fetch gives %d bytes, %v, want %d", len(got), err, len(want))
			}
		})
	}
	t.Run("gone", func(t *testing.T) {
		gone := room.File
		gone.ID += "0000"
		if got, err := room.Fetcher.Fetch(t.Context(), room.Thread, gone, 1<<20); !errors.Is(err, chat.ErrGone) {
			t.Errorf("Fetch gives %d bytes, %v for a file that is not there", len(got), err)
		}
	})
	t.Run("found in its thread", func(t *testing.T) {
		finder, ok := room.Fetcher.(chat.FileFinder)
		if !ok {
			return // it need not be one
		}
		if got, err := finder.Files(t.Context(), room.Thread, false); err != nil || len(got) != 1 || got[0] != room.File {
			t.Errorf("Files gives %+v, %v, want %+v", got, err, room.File)
		}
	})
	t.Run("ended", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if got, err := room.Fetcher.Fetch(ctx, room.Thread, room.File, 1<<20); err == nil {
			t.Errorf("Fetch gives %d bytes after its context had ended", len(got))
		}
	})
}
