package notion

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cairn-bot/cairn/internal/knowledge/connect/remote"
)

const (
	apiAddress = "https://api.notion.com"
	apiVersion = "2025-09-03"

	pageSize = 100      // entries of one response, the most that Notion gives
	maxPage  = 64 << 20 // bytes of one response at most
	maxPages = 10_000   // responses of one list

	maxBlockBytes = 64 << 20 // of the blocks in one page or block
)

// parseAddress gives the address of the API from the address of a source.
func parseAddress(address string) (string, error) {
	parsed, err := url.Parse(address)
	if err != nil || parsed.Host == "" || parsed.Scheme != "https" && parsed.Scheme != "http" || strings.Trim(parsed.Path, "/") != "" {
		return "", errors.New("want the address https://www.notion.so without a path: the pages that are read are those that are shared with the integration")
	}
	switch host := strings.ToLower(parsed.Hostname()); {
	case host == "notion.site" || strings.HasSuffix(host, ".notion.site"):
		return "", errors.New("a published site on notion.site has no API: want https://www.notion.so, or read it as a source of the kind website")
	case host == "notion.so" || host == "notion.com" || strings.HasSuffix(host, ".notion.so") || strings.HasSuffix(host, ".notion.com"):
		return apiAddress, nil
	}
	return parsed.Scheme + "://" + parsed.Host, nil
}

// asker asks for what one integration may read.
type asker struct {
	client *remote.Client
	base   string // of the API
	token  string
	limit  int64 // bytes of one document
}

func (c *Connector) newAsker() (*asker, error) {
	base, err := parseAddress(c.options.URL)
	if err != nil {
		return nil, err
	}
	client := remote.NewClient(remote.Options{
		MaxBytes: min(maxPage, 2*c.options.MaxBytes+1<<20), AllowPrivate: c.options.AllowPrivate, TLS: c.options.TLS,
	})
	client.SetPause(c.options.Pause)
	return &asker{client: client, base: base, token: c.options.Token, limit: c.options.MaxBytes}, nil
}

// call is one request to the API.
type call struct {
	path  string
	query url.Values
	body  any // sent with POST as JSON; nil: the request is a GET
}

// ask sends a request and decodes the answer. A status other than 200 is a *remote.StatusError.
func (a *asker) ask(ctx context.Context, made call, into any) error {
	method, address := http.MethodGet, a.base+made.path
	if len(made.query) > 0 {
		address += "?" + made.query.Encode()
	}
	var body []byte
	if made.body != nil {
		method = http.MethodPost
		encoded, err := json.Marshal(made.body)
		if err != nil {
			return fmt.Errorf("ask for %s: %w", made.path, err)
		}
		body = encoded
	}
	answer, err := a.client.Do(ctx, func(ctx context.Context) (*http.Request, error) {
		request, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		request.Header.Set("Accept", "application/json")
		request.Header.Set("Authorization", "Bearer "+a.token)
		request.Header.Set("Notion-Version", apiVersion)
		if body != nil {
			request.Header.Set("Content-Type", "application/json")
		}
		return request, nil
	})
	if err == nil && answer.Status != http.StatusOK {
		err = &remote.StatusError{Status: answer.Status}
	}
	if err == nil {
		err = json.Unmarshal(answer.Body, into)
	}
	if err != nil {
		return fmt.Errorf("ask for %s: %w", made.path, err)
	}
	return nil
}

// statusOf gives the status that an error tells of, 0 for none.
func statusOf(err error) int {
	if refused, ok := errors.AsType[*remote.StatusError](err); ok {
		return refused.Status
	}
	return 0
}

// isGone reports whether Notion does not have what was asked for, or has something else by its id.
func isGone(err error) bool {
	return slices.Contains([]int{http.StatusNotFound, http.StatusGone, http.StatusBadRequest}, statusOf(err))
}

// isRefused reports whether Notion refused one thing: it is not there, or not for us.
func isRefused(err error) bool { return isGone(err) || statusOf(err) == http.StatusForbidden }

// explainError says what helps against an error of the place as a whole.
func explainError(err error) error {
	switch statusOf(err) {
	case http.StatusUnauthorized:
		return fmt.Errorf("%w: Notion does not accept the token: want the secret of an integration of the workspace", err)
	case http.StatusForbidden:
		return fmt.Errorf("%w: the integration needs the capability to read content", err)
	}
	return err
}

// list is one response of a list.
type list[T any] struct {
	Results []T    `json:"results"`
	More    bool   `json:"has_more"`
	Next    string `json:"next_cursor"` // null at the end
	Status  struct {
		Type string `json:"type"` // "incomplete" where Notion does not give all
	} `json:"request_status"`
}

// listAll asks for all responses of a list, and passes each entry. newCall makes the request for
// what follows a cursor, "" for the first.
func listAll[T any](ctx context.Context, a *asker, newCall func(cursor string) call, pass func(T) error) (incomplete bool, err error) {
	cursor := ""
	for range maxPages {
		made := newCall(cursor)
		var one list[T]
		if err := a.ask(ctx, made, &one); err != nil {
			return false, err
		}
		for _, entry := range one.Results {
			if err := pass(entry); err != nil {
				return false, err
			}
		}
		incomplete = incomplete || one.Status.Type == "incomplete"
		switch {
		case !one.More:
			return incomplete, nil
		case one.Next == "":
			return false, fmt.Errorf("ask for %s: the list goes on without a cursor", made.path)
		case one.Next == cursor:
			return false, fmt.Errorf("ask for %s: the list goes in a circle", made.path)
		}
		cursor = one.Next
	}
	return false, errors.New("ask for a list: it has no end")
}

// page is a page as Notion lists it.
type page struct {
	ID         string          `json:"id"`
	URL        string          `json:"url"`
	Edited     time.Time       `json:"last_edited_time"` // in whole minutes
	Archived   bool            `json:"archived"`
	InTrash    bool            `json:"in_trash"`
	Properties json.RawMessage `json:"properties"` // by their names; see readProperties
}

func (p page) isTrashed() bool { return p.Archived || p.InTrash }

// pageID is the form of ids: a UUID, whose hyphens may be left out.
var pageID = regexp.MustCompile(`^[0-9a-fA-F]{8}-?([0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}$`)

func isPageID(id string) bool { return pageID.MatchString(id) }

// check tells why what was listed can't be relied on.
func (p page) check() error {
	if !isPageID(p.ID) {
		return fmt.Errorf("the page %.60q has no usable id", p.ID)
	}
	if p.Edited.IsZero() {
		return fmt.Errorf("the page %s has no time of its last edit: the integration needs the capability to read content", p.ID)
	}
	return nil
}

// address is where people open the page.
func (p page) address() string {
	if parsed, err := url.Parse(p.URL); err == nil && parsed.Scheme == "https" && parsed.User == nil {
		for _, domain := range []string{"notion.so", "notion.com", "notion.site"} {
			if parsed.Host == domain || strings.HasSuffix(parsed.Host, "."+domain) {
				return parsed.String()
			}
		}
	}
	return pageAddress(p.ID)
}

// catalog is what Notion lists.
type catalog struct {
	pages      map[string]page // by id; none of the trash
	trashed    int
	incomplete bool // Notion did not give all
}

func (in *catalog) sorted() []page {
	return slices.SortedFunc(maps.Values(in.pages), func(a, b page) int { return strings.Compare(a.ID, b.ID) })
}

// titleOf gives the title of a page by its id, "" where it was not listed.
func (in *catalog) titleOf(id string) string {
	if one, ok := in.pages[id]; ok {
		return one.title()
	}
	return ""
}

// searchBody is what is searched for.
type searchBody struct {
	Filter struct {
		Property string `json:"property"`
		Value    string `json:"value"`
	} `json:"filter"`
	Sort struct {
		Direction string `json:"direction"`
		Timestamp string `json:"timestamp"`
	} `json:"sort"`
	Cursor string `json:"start_cursor,omitempty"`
	Size   int    `json:"page_size"`
}

// listPages lists all pages, those first that were edited longest ago: a page that is edited
// meanwhile is met again at the end.
func (a *asker) listPages(ctx context.Context) (*catalog, error) {
	in := &catalog{pages: make(map[string]page)}
	incomplete, err := listAll(ctx, a, func(cursor string) call {
		body := searchBody{Cursor: cursor, Size: pageSize}
		body.Filter.Property, body.Filter.Value = "object", "page"
		body.Sort.Direction, body.Sort.Timestamp = "ascending", "last_edited_time"
		return call{path: "/v1/search", body: body}
	}, func(one page) error {
		if err := one.check(); err != nil {
			return err
		}
		if one.isTrashed() {
			in.trashed++
			return nil
		}
		in.pages[one.ID] = one
		return nil
	})
	in.incomplete = incomplete
	return in, err
}

// findPage asks for one page.
func (a *asker) findPage(ctx context.Context, id string) (page, error) {
	var one page
	if err := a.ask(ctx, call{path: "/v1/pages/" + id}, &one); err != nil {
		return page{}, err
	}
	if one.ID != id {
		return page{}, fmt.Errorf("asked for page %s, Notion gave %.60q", id, one.ID)
	}
	return one, one.check()
}

// listChildren lists the blocks in a page or a block, at most maxBlocks and one response more.
func (a *asker) listChildren(ctx context.Context, id string) ([]block, error) {
	if !isPageID(id) {
		return nil, fmt.Errorf("%w: its block %.60q has no usable id", errUnreadable, id)
	}
	var blocks []block
	size := 0
	_, err := listAll(ctx, a, func(cursor string) call {
		query := url.Values{"page_size": {strconv.Itoa(pageSize)}}
		if cursor != "" {
			query.Set("start_cursor", cursor)
		}
		return call{path: "/v1/blocks/" + id + "/children", query: query}
	}, func(one block) error {
		if size += len(one.content); len(blocks) == maxBlocks || size > maxBlockBytes {
			return errTooManyBlocks
		}
		blocks = append(blocks, one)
		return nil
	})
	return blocks, err
}

// readPage reads a page as Markdown: its title, its properties, and what it says.
func (a *asker) readPage(ctx context.Context, in *catalog, one page) ([]byte, error) {
	w := &blockWriter{children: a.listChildren, title: in.titleOf, limit: a.limit, maxBlocks: maxBlocks}
	return w.renderPage(ctx, one)
}
