package discord

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/bwmarrin/discordgo"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/render"
)

// fileHosts are where Discord keeps files. Nothing is read from anywhere else.
var fileHosts = []string{"cdn.discordapp.com", "media.discordapp.net"}

// Fetch gives the content of a file that came in a thread. Discord is asked where it is,
// for addresses are good for a day.
func (a *Adapter) Fetch(ctx context.Context, _ chat.ThreadID, file chat.File, limit int64) ([]byte, error) {
	ids := strings.Split(file.ID, ".")
	if len(ids) != 3 || slices.ContainsFunc(ids, func(id string) bool { return !snowflake.MatchString(id) }) {
		return nil, fmt.Errorf("fetch a file of Discord's: %q is none: %w", render.Cut(file.ID, 80), chat.ErrGone)
	}
	var message wireMessage
	err := a.callAPI(ctx, request{does: "read a message", method: http.MethodGet, url: discordgo.EndpointChannelMessage(ids[0], ids[1])}, &message)
	if err != nil {
		return nil, fmt.Errorf("fetch file %s: %w", ids[2], err)
	}
	at := slices.IndexFunc(message.Attachments, func(there wireFile) bool { return there.ID == ids[2] })
	if at < 0 {
		return nil, fmt.Errorf("fetch file %s of Discord's: %w", ids[2], chat.ErrGone)
	}
	content, err := a.downloadFile(ctx, message.Attachments[at].URL, limit)
	if err != nil {
		return nil, fmt.Errorf("fetch file %s of Discord's: %w", ids[2], err)
	}
	return content, nil
}

// downloadFile reads at most limit bytes from one of Discord's own hosts.
func (a *Adapter) downloadFile(ctx context.Context, from string, limit int64) ([]byte, error) {
	to, err := url.Parse(from)
	if err != nil || to.Scheme != "https" || !slices.Contains(fileHosts, strings.ToLower(to.Host)) {
		return nil, errors.New("it is kept on no host of Discord's: files from elsewhere are not read")
	}
	asks, err := http.NewRequestWithContext(ctx, http.MethodGet, from, nil)
	if err != nil {
		return nil, err
	}
	client := *a.options.Client
	client.CheckRedirect = func(*http.Request, []*http.Request) error {
		return errors.New("it leads on to somewhere else")
	}
	response, err := client.Do(asks)
	if err != nil {
		return nil, hideAddress(err)
	}
	content, err := readFile(response, limit)
	return content, errors.Join(err, response.Body.Close())
}

// Files gives the files that were sent in a thread of Discord's, the bot's own with made. A conversation that is
// held in place has none of its own: in a channel anybody sends anything.
func (a *Adapter) Files(ctx context.Context, thread chat.ThreadID, made bool) ([]chat.File, error) {
	r, err := a.openRoom(ctx, thread, "")
	if err != nil || r.at.private != "" || r.at.root != "" {
		return nil, err
	}
	var files []chat.File
	err = r.readMessages(ctx, func(message wireMessage) bool {
		if message.Author != nil && (made || message.Author.ID != r.bot) {
			files = append(files, filesOf(message)...)
		}
		return len(files) < chat.MaxFiles
	})
	return files[:min(len(files), chat.MaxFiles)], err
}

func readFile(response *http.Response, limit int64) ([]byte, error) {
	switch response.StatusCode {
	case http.StatusOK:
		return io.ReadAll(io.LimitReader(response.Body, limit))
	case http.StatusNotFound, http.StatusGone, http.StatusForbidden:
		return nil, fmt.Errorf("status %d: %w", response.StatusCode, chat.ErrGone)
	case http.StatusTooManyRequests:
		return nil, &chat.RetryAfterError{After: parseSeconds(response.Header.Get("Retry-After")), Err: errors.New("too many files at once")}
	}
	return nil, fmt.Errorf("status %d", response.StatusCode)
}
