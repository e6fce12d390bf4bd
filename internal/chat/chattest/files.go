package chattest

import (
	"context"
	"fmt"
	"strconv"

	"github.com/cairn-bot/cairn/internal/chat"
)

var _ chat.Fetcher = (*Platform)(nil)

// Upload puts a file on the platform, to come with a message.
func (p *Platform) Upload(name, mediaType string, content []byte) chat.File {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.files == nil {
		p.files = make(map[string][]byte)
	}
	file := chat.File{ID: "f" + strconv.Itoa(len(p.files)+1), Name: name, MediaType: mediaType, Size: int64(len(content))}
	p.files[file.ID] = content
	return file
}

// Fetch implements chat.Fetcher.
func (p *Platform) Fetch(ctx context.Context, thread chat.ThreadID, file chat.File, limit int64) (content []byte, err error) {
	err = p.handleCall(ctx, Call{Operation: FetchOperation, Thread: thread}, func() error {
		kept, ok := p.files[file.ID]
		if !ok {
			return fmt.Errorf("fetch file %s: %w", file.ID, chat.ErrGone)
		}
		content = append([]byte(nil), kept[:min(int64(len(kept)), limit)]...)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return content, nil
}
