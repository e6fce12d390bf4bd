package slack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"github.com/cairn-bot/cairn/internal/chat"
)

// fileHosts are where Slack keeps files. The token goes nowhere else but to the API.
var fileHosts = []string{"files.slack.com", "files.slack-gov.com"}

// Fetch gives the content of a file that was shared in a thread. Slack is asked where it
// is, for what the message said of that may be long past.
func (a *Adapter) Fetch(ctx context.Context, thread chat.ThreadID, file chat.File, limit int64) ([]byte, error) {
	at, err := parseThread(thread)
	if err != nil {
		return nil, fmt.Errorf("fetch a file of Slack's: %w", err)
	}
	workspace, err := a.options.Workspaces.Workspace(ctx, at.team, "")
	if err != nil {
		return nil, fmt.Errorf("access Slack's team %s: %w", at.team, err)
	}
	var told *slack.File
	err = a.pace.callPaced(ctx, turn{team: at.team, method: fileInfo, patience: turnPatience}, func() error {
		var err error
		told, _, _, err = a.newClient(workspace.Token).GetFileInfoContext(ctx, file.ID, 0, 0)
		return err
	})
	var later *chat.RetryAfterError
	switch {
	case errors.As(err, &later):
		return nil, err
	case slices.Contains([]string{"file_not_found", "file_deleted", "file_not_visible"}, refusalName(err)):
		return nil, fmt.Errorf("fetch file %s of Slack's: %w: %w", file.ID, chat.ErrGone, err)
	case err != nil:
		return nil, fmt.Errorf("fetch file %s of Slack's: %w", file.ID, err)
	}
	address := told.URLPrivateDownload
	if address == "" {
		address = told.URLPrivate
	}
	content, err := a.downloadFile(ctx, address, workspace.Token, limit)
	if err != nil {
		return nil, fmt.Errorf("fetch file %s of Slack's: %w", file.ID, err)
	}
	return content, nil
}

// Files gives the files that were shared in a thread, the bot's own with made.
func (a *Adapter) Files(ctx context.Context, thread chat.ThreadID, made bool) ([]chat.File, error) {
	s, err := a.senderFor(ctx, thread)
	if err != nil || s.at.private != "" {
		return nil, err
	}
	var files []chat.File
	err = s.readMessages(ctx, "", func(message slack.Message) bool {
		if message.User == s.bot && !made {
			return true
		}
		for _, file := range message.Files {
			files = append(files, chat.File{ID: file.ID, Name: file.Name, MediaType: file.Mimetype, Size: int64(file.Size)})
		}
		return true
	})
	slices.Reverse(files)
	return files[:min(len(files), chat.MaxFiles)], err
}

// downloadFile reads at most limit bytes from one of Slack's own hosts.
func (a *Adapter) downloadFile(ctx context.Context, address, token string, limit int64) ([]byte, error) {
	to, err := url.Parse(address)
	if err != nil || !a.mayAsk(to) {
		return nil, fmt.Errorf("it is kept at %q, which is no host of Slack's: files from elsewhere are not read", hostOf(to))
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	client := *a.options.Client
	client.CheckRedirect = func(next *http.Request, before []*http.Request) error {
		if len(before) > 3 || !a.mayAsk(next.URL) {
			return fmt.Errorf("it leads on to %q, which is no host of Slack's", next.URL.Hostname())
		}
		return nil
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	content, err := readFile(response, limit)
	return content, errors.Join(err, response.Body.Close())
}

func readFile(response *http.Response, limit int64) ([]byte, error) {
	switch {
	case response.StatusCode == http.StatusNotFound, response.StatusCode == http.StatusGone:
		return nil, fmt.Errorf("status %d: %w", response.StatusCode, chat.ErrGone)
	case response.StatusCode == http.StatusTooManyRequests:
		after, err := strconv.Atoi(response.Header.Get("Retry-After"))
		if err != nil || after < 1 {
			after = 1
		}
		return nil, &chat.RetryAfterError{After: time.Duration(after) * time.Second, Err: errors.New("too many files at once")}
	case response.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("status %d", response.StatusCode)
	}
	media, _, err := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if err == nil && media == "text/html" && response.Header.Get("Content-Disposition") == "" {
		return nil, errors.New("Slack shows its sign-in page in the file's place: the app lacks the scope files:read") //nolint:staticcheck // Slack is a name
	}
	return io.ReadAll(io.LimitReader(response.Body, limit))
}

// mayAsk tells whether the token may go to an address.
func (a *Adapter) mayAsk(to *url.URL) bool {
	api, err := url.Parse(a.options.APIURL)
	if err == nil && to.Scheme == api.Scheme && to.Host == api.Host {
		return true
	}
	return to.Scheme == "https" && slices.Contains(fileHosts, strings.ToLower(to.Host))
}

func hostOf(address *url.URL) string {
	if address == nil {
		return ""
	}
	return address.Hostname()
}
