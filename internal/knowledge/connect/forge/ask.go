package forge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cairn-bot/cairn/internal/knowledge/connect"
	"github.com/cairn-bot/cairn/internal/knowledge/connect/remote"
)

const (
	pageSize = 32       // entries of one response, a power of two
	maxPage  = 64 << 20 // bytes of one response at most
	maxPages = 100_000
)

// pageLimit is how many bytes a response may have where a document may have so many: as JSON it is
// longer.
func pageLimit(document int64) int64 { return min(maxPage, 2*document+1<<20) }

// asker asks the API of one forge.
type asker struct {
	client *remote.Client
	api    string
	speaks dialect
	token  string
}

func (c *Connector) newAsker(at place) *asker {
	return &asker{
		client: remote.NewClient(remote.Options{
			MaxBytes: pageLimit(c.options.MaxBytes), AllowPrivate: c.options.Git.AllowPrivate, TLS: c.options.Git.TLS,
			LeaveAlone: func(answer *remote.Response) (time.Duration, bool) { return limitedFor(answer, c.options.Now()) },
		}),
		api: c.speaks.api(at.base), speaks: c.speaks, token: c.options.Token,
	}
}

// limitedFor reads how GitHub says that no more may be asked for: by status 403 with a time.
func limitedFor(answer *remote.Response, now time.Time) (time.Duration, bool) {
	if answer.Status != http.StatusForbidden {
		return 0, false
	}
	if seconds, err := strconv.Atoi(answer.Header.Get("Retry-After")); err == nil && seconds >= 0 {
		return max(time.Duration(seconds)*time.Second, time.Millisecond), true
	}
	reset, err := strconv.ParseInt(answer.Header.Get("X-Ratelimit-Reset"), 10, 64)
	if answer.Header.Get("X-Ratelimit-Remaining") != "0" || err != nil {
		return 0, false
	}
	return max(time.Unix(reset, 0).Sub(now), time.Second), true
}

// get asks for a path. A status other than 200 is a *remote.StatusError.
func (a *asker) get(ctx context.Context, path string) (*remote.Response, error) {
	return a.send(ctx, path, func(ctx context.Context) (*http.Request, error) {
		return http.NewRequestWithContext(ctx, http.MethodGet, a.api+path, nil)
	})
}

// post sends JSON to an address.
func (a *asker) post(ctx context.Context, address string, body any) (*remote.Response, error) {
	content, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("ask %s: %w", address, err)
	}
	return a.send(ctx, address, func(ctx context.Context) (*http.Request, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(content))
		if err == nil {
			request.Header.Set("Content-Type", "application/json")
		}
		return request, err
	})
}

func (a *asker) send(ctx context.Context, path string, newRequest func(context.Context) (*http.Request, error)) (*remote.Response, error) {
	answer, err := a.client.Do(ctx, func(ctx context.Context) (*http.Request, error) {
		request, err := newRequest(ctx)
		if err == nil {
			a.speaks.authorize(request.Header, a.token)
		}
		return request, err
	})
	if err == nil && answer.Status != http.StatusOK {
		err = &remote.StatusError{Status: answer.Status}
	}
	if err != nil {
		return nil, fmt.Errorf("ask for %s: %w", path, err)
	}
	return answer, nil
}

// refusedStatus gives the status with which a forge refused, and says that asking again is of no
// use: the part is not there, or not for us.
func refusedStatus(err error) (status int, ok bool) {
	refused, isStatus := errors.AsType[*remote.StatusError](err)
	if !isStatus {
		return 0, false
	}
	switch refused.Status {
	case http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusGone, http.StatusUnavailableForLegalReasons, http.StatusMovedPermanently, http.StatusFound,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return refused.Status, true
	}
	return refused.Status, false
}

// isGone reports whether an error says that what was asked for is not there (any more).
func isGone(err error) bool {
	status, ok := refusedStatus(err)
	return ok && status != http.StatusForbidden && status != http.StatusMethodNotAllowed
}

// withQuery adds to the query of a path.
func withQuery(path string, query url.Values) string {
	if len(query) == 0 {
		return path
	}
	join := "?"
	if strings.Contains(path, "?") {
		join = "&"
	}
	return path + join + query.Encode()
}

// pageQuery asks for a page of a list.
func (a *asker) pageQuery(page, size int) url.Values {
	return url.Values{"page": {strconv.Itoa(page)}, a.speaks.sizeName(): {strconv.Itoa(size)}}
}

// list yields the entries of a list, page by page. An entry over the limit of a response is a nil
// one. After an error it ends.
func (a *asker) list(ctx context.Context, path string) iter.Seq2[json.RawMessage, error] {
	return func(yield func(json.RawMessage, error) bool) {
		var before []json.RawMessage
		for page := 1; page <= maxPages; page++ {
			entries, last, err := a.page(ctx, path, page, pageSize)
			if err != nil {
				yield(nil, err)
				return
			}
			if len(entries) > 0 && slices.EqualFunc(entries, before, func(a, b json.RawMessage) bool { return bytes.Equal(a, b) }) {
				return // the list has no pages: each is the whole of it
			}
			before = entries
			for _, entry := range entries {
				if !yield(entry, nil) {
					return
				}
			}
			if last {
				return
			}
		}
		yield(nil, fmt.Errorf("ask for %s: the list has no end", path))
	}
}

// page asks for one page of a list, in halves where it is too large as a whole.
func (a *asker) page(ctx context.Context, path string, page, size int) (entries []json.RawMessage, last bool, err error) {
	answer, err := a.get(ctx, withQuery(path, a.pageQuery(page, size)))
	if _, tooLarge := errors.AsType[*connect.TooLargeError](err); tooLarge {
		if size == 1 {
			return []json.RawMessage{nil}, false, nil
		}
		first, last, err := a.page(ctx, path, 2*page-1, size/2)
		if err != nil || last {
			return first, last, err
		}
		second, last, err := a.page(ctx, path, 2*page, size/2)
		return append(first, second...), last, err
	}
	if err != nil {
		return nil, false, err
	}
	if err := decode(answer.Body, &entries); err != nil {
		return nil, false, fmt.Errorf("ask for %s: %w", path, err)
	}
	// A server may give fewer than it is asked for; the end is where it says so, or an empty page.
	if links := answer.Header.Get("Link"); links != "" {
		_, more := linkedPage(links, "next")
		return entries, !more, nil
	}
	return entries, len(entries) == 0, nil
}

// linkedPage gives the page that a Link header names for a relation.
func linkedPage(header, relation string) (page int, ok bool) {
	for link := range strings.SplitSeq(header, ",") {
		target, parameters, _ := strings.Cut(link, ";")
		if !strings.Contains(parameters, `rel="`+relation+`"`) {
			continue
		}
		address, err := url.Parse(strings.Trim(strings.TrimSpace(target), "<>"))
		if err != nil {
			return 0, true
		}
		page, err := strconv.Atoi(address.Query().Get("page"))
		return page, err == nil || relation == "next"
	}
	return 0, false
}

// count asks how many entries a list has. ok is false where the forge does not say.
func (a *asker) count(ctx context.Context, path string) (total int, ok bool, err error) {
	answer, err := a.get(ctx, withQuery(path, a.pageQuery(1, 1)))
	if err != nil {
		if _, tooLarge := errors.AsType[*connect.TooLargeError](err); tooLarge {
			return 0, false, nil
		}
		return 0, false, err
	}
	for _, name := range []string{"X-Total-Count", "X-Total"} {
		if total, err := strconv.Atoi(answer.Header.Get(name)); err == nil {
			return total, true, nil
		}
	}
	if total, ok := linkedPage(answer.Header.Get("Link"), "last"); ok {
		return total, true, nil
	}
	var entries []json.RawMessage
	if err := decode(answer.Body, &entries); err != nil {
		return 0, false, err
	}
	return len(entries), answer.Header.Get("Link") == "", nil
}
