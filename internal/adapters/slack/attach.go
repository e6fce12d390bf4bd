package slack

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/slack-go/slack"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/markup"
	"github.com/cairn-bot/cairn/internal/chat/render"
)

// attachment is a file that goes with a post. All of a post are one message.
type attachment struct {
	name    string // "answer.md"
	title   string // what people see
	content []byte
}

// attachFiles makes attachments of the files of a reply.
func attachFiles(laid render.Layout) []attachment {
	var files []attachment
	for i, file := range laid.Files {
		name := markup.CleanLine(file.Name)
		title := name
		if i == 0 && !laid.Whole {
			title = "The whole answer"
		}
		files = append(files, attachment{name: name, title: title, content: file.Content})
	}
	return files
}

// fileName is what a file is called in a download: it carries the key, for a file's
// message takes no metadata. "risks.md" becomes "risks-KEY.md".
func fileName(name string, key chat.PostKey) string {
	ending := path.Ext(name)
	return strings.TrimSuffix(name, ending) + "-" + string(key) + ending
}

// keyIn reads the key that a file's name carries.
func keyIn(name string) (chat.PostKey, bool) {
	_, key, is := cutLast(strings.TrimSuffix(name, path.Ext(name)), "-")
	return chat.PostKey(key), is
}

// uploadFiles puts files into a place, in one message.
func (s sender) uploadFiles(ctx context.Context, at place, key chat.PostKey, files []attachment) error {
	return s.callMethod(ctx, uploadFile, func() error {
		shared := make([]slack.FileSummary, len(files))
		for i, file := range files {
			id, err := s.sendFile(ctx, fileName(file.name, key), file.content)
			if err != nil {
				return err
			}
			shared[i] = slack.FileSummary{ID: id, Title: file.title}
		}
		_, err := s.api.CompleteUploadExternalContext(ctx, slack.CompleteUploadExternalParameters{
			Files: shared, Channel: at.channel, ThreadTimestamp: at.root,
		})
		return err
	})
}

// sendFile sends a file that nobody sees yet, and gives its id.
func (s sender) sendFile(ctx context.Context, name string, content []byte) (id string, err error) {
	to, err := s.api.GetUploadURLExternalContext(ctx, slack.GetUploadURLExternalParameters{FileName: name, FileSize: len(content)})
	if err != nil {
		return "", err
	}
	err = s.api.UploadToURL(ctx, slack.UploadToURLParameters{UploadURL: to.UploadURL, Reader: bytes.NewReader(content), Filename: name})
	if err != nil {
		return "", fmt.Errorf("send the file: %w", err)
	}
	return to.FileID, nil
}
