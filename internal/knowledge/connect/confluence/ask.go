package confluence

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/cairn-bot/cairn/internal/knowledge/connect/remote"
)

const (
	pageSize  = 200      // entries of one response, the most that are given with restrictions
	maxPage   = 64 << 20 // bytes of one response at most
	maxPages  = 10_000   // of one list
	maxSpaces = 2000

	// expanded is what is asked for of each page beside what identifies it.
	expanded = "space,version,history,ancestors,restrictions.read.restrictions.user,restrictions.read.restrictions.group"
)

// asker asks one site.
type asker struct {
	client *remote.Client
	at     site
	token  string
	limit  int64
}

func (c *Connector) newAsker() (*asker, error) {
	at, err := parseSite(c.options.URL)
	if err != nil {
		return nil, err
	}
	return &asker{at: at, token: c.options.Token, limit: c.options.MaxBytes, client: remote.NewClient(remote.Options{
		MaxBytes: min(maxPage, 2*c.options.MaxBytes+1<<20), AllowPrivate: c.options.AllowPrivate, TLS: c.options.TLS,
	})}, nil
}

// get asks for a path below the site and decodes the answer. A status other than 200 is a
// *remote.StatusError.
func (a *asker) get(ctx context.Context, path string, query url.Values, into any) error {
	answer, err := a.client.Do(ctx, func(ctx context.Context) (*http.Request, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, a.at.base+path+"?"+query.Encode(), nil)
		if err == nil {
			a.authorize(request.Header)
		}
		return request, err
	})
	if err == nil && answer.Status != http.StatusOK {
		err = &remote.StatusError{Status: answer.Status}
	}
	if err == nil {
		err = json.Unmarshal(answer.Body, into)
	}
	if err != nil {
		return fmt.Errorf("ask for %s: %w", path, err)
	}
	return nil
}

func (a *asker) authorize(header http.Header) {
	header.Set("Accept", "application/json")
	switch {
	case strings.Contains(a.token, ":"):
		header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(a.token)))
	case a.token != "":
		header.Set("Authorization", "Bearer "+a.token)
	}
}

// refusedStatus gives the status with which Confluence refused one thing: it is not there, or not
// for us.
func refusedStatus(err error) (status int, ok bool) {
	refused, isStatus := errors.AsType[*remote.StatusError](err)
	if !isStatus {
		return 0, false
	}
	switch refused.Status {
	case http.StatusForbidden, http.StatusNotFound, http.StatusGone:
		return refused.Status, true
	}
	return refused.Status, false
}

// explainError says what helps against an error of the site as a whole.
func explainError(err error) error {
	switch status, _ := refusedStatus(err); status {
	case http.StatusUnauthorized:
		return fmt.Errorf("%w: Confluence does not accept the token: want EMAIL:TOKEN, with an API token of that account", err)
	case http.StatusNotFound:
		return fmt.Errorf("%w: check the address and the key of the space, and that the account may read it", err)
	}
	return err
}

// links tell where a list goes on.
type links struct {
	Next string `json:"next"`
}

// cursor gives the parameter with which the next page is asked for. ok is false at the end.
func (l links) cursor() (cursor string, ok bool) {
	next, err := url.Parse(l.Next)
	if l.Next == "" || err != nil {
		return "", false
	}
	cursor = next.Query().Get("cursor")
	return cursor, cursor != ""
}

// listAll asks for all pages of a list that goes on by cursors, and passes each entry.
func listAll[T any](ctx context.Context, a *asker, path string, query url.Values, pass func(T) error) error {
	seen := ""
	for range maxPages {
		var page struct {
			Results []T   `json:"results"`
			Links   links `json:"_links"`
		}
		if err := a.get(ctx, path, query, &page); err != nil {
			return err
		}
		for _, entry := range page.Results {
			if err := pass(entry); err != nil {
				return err
			}
		}
		cursor, ok := page.Links.cursor()
		if !ok {
			if page.Links.Next != "" {
				return fmt.Errorf("ask for %s: the next page has no cursor", path)
			}
			return nil
		}
		if cursor == seen {
			return fmt.Errorf("ask for %s: the list goes in a circle", path)
		}
		seen = cursor
		query.Set("cursor", cursor)
	}
	return fmt.Errorf("ask for %s: the list has no end", path)
}

// space is a space of the site.
type space struct {
	ID  string `json:"id"`
	Key string `json:"key"`
}

// spaces gives the spaces that are read.
func (a *asker) spaces(ctx context.Context) ([]space, error) {
	query := url.Values{"limit": {"250"}, "status": {"current"}}
	if a.at.space != "" {
		query.Set("keys", a.at.space)
	} else {
		query.Set("type", "global")
	}
	var found []space
	err := listAll(ctx, a, "/api/v2/spaces", query, func(s space) error {
		if !isSafeName(s.Key) || !isSafeName(s.ID) || len(found) == maxSpaces {
			return fmt.Errorf("the space %.60q can't be read: it has no usable key, or there are more than %d", s.Key, maxSpaces)
		}
		found = append(found, s)
		return nil
	})
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("there is no such space, or the account may not read it: %w", &remote.StatusError{Status: http.StatusNotFound})
	}
	return found, err
}

// person is somebody as Confluence describes them.
type person struct {
	ID    string `json:"accountId"`
	Email string `json:"email"`
	Name  string `json:"displayName"`
}

// group is a group of people.
type group struct {
	ID string `json:"id"`
}

// restriction says who may read a page; nobody named is everybody.
type restriction struct {
	Restrictions struct {
		User struct {
			Results []person `json:"results"`
		} `json:"user"`
		Group struct {
			Results []group `json:"results"`
		} `json:"group"`
	} `json:"restrictions"`
}

func (r restriction) isSet() bool {
	return len(r.Restrictions.User.Results)+len(r.Restrictions.Group.Results) > 0
}

// content is a page or a blog post, as a list has it.
type content struct {
	ID    string `json:"id"`
	Type  string `json:"type"`
	Title string `json:"title"`
	Space struct {
		Key string `json:"key"`
	} `json:"space"`
	Version struct {
		Number int       `json:"number"`
		When   time.Time `json:"when"`
	} `json:"version"`
	History struct {
		Author person `json:"createdBy"`
	} `json:"history"`
	Ancestors []struct {
		ID string `json:"id"`
	} `json:"ancestors"`
	Restrictions struct {
		Read restriction `json:"read"`
	} `json:"restrictions"`
	Links struct {
		Web string `json:"webui"`
	} `json:"_links"`
}

// webPath is where people open it, below the site.
func (c content) webPath() string {
	if strings.HasPrefix(c.Links.Web, "/") && !strings.HasPrefix(c.Links.Web, "//") {
		return c.Links.Web
	}
	return "/pages/viewpage.action?pageId=" + c.ID
}

// check tells why what was listed can't be relied on.
func (c content) check() error {
	if !isSafeName(c.ID) || !isSafeName(c.Space.Key) || c.Version.Number < 1 || c.Version.When.IsZero() {
		return fmt.Errorf("the page %.60q has no usable id, space or version", c.ID)
	}
	return nil
}

// listContents lists all pages and blog posts with what decides who may read them.
func (a *asker) listContents(ctx context.Context) (*catalog, error) {
	spaces, err := a.spaces(ctx)
	if err != nil {
		return nil, err
	}
	in := newCatalog(a.at.base)
	for _, space := range spaces {
		query := url.Values{
			"cql": {`space = "` + space.Key + `" and type in (page, blogpost) order by created`}, "limit": {strconv.Itoa(pageSize)}, "expand": {expanded},
		}
		err := listAll(ctx, a, "/rest/api/content/search", query, func(one content) error {
			if err := one.check(); err != nil {
				return err
			}
			in.add(one)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	for _, one := range in.contents {
		if err := a.addAncestors(ctx, in, one); err != nil {
			return nil, err
		}
	}
	return in, nil
}

// addAncestors adds the restrictions of ancestors that were not listed.
func (a *asker) addAncestors(ctx context.Context, in *catalog, one content) error {
	for _, ancestor := range one.Ancestors {
		if _, ok := in.byID[ancestor.ID]; ok {
			continue
		}
		if !isSafeName(ancestor.ID) {
			return fmt.Errorf("the page %s has an ancestor %.60q", one.ID, ancestor.ID)
		}
		found := content{ID: ancestor.ID}
		err := a.get(ctx, "/rest/api/content/"+ancestor.ID+"/restriction/byOperation/read", url.Values{"expand": {"restrictions.user,restrictions.group"}, "limit": {strconv.Itoa(pageSize)}}, &found.Restrictions.Read)
		if err != nil {
			return err
		}
		in.byID[ancestor.ID] = found
	}
	return nil
}

// findContent asks for one page or blog post.
func (a *asker) findContent(ctx context.Context, id string) (content, error) {
	var one content
	if err := a.get(ctx, "/rest/api/content/"+id, url.Values{"expand": {expanded}}, &one); err != nil {
		return content{}, err
	}
	if one.ID != id {
		return content{}, fmt.Errorf("asked for page %s, Confluence gave %.60q", id, one.ID)
	}
	return one, one.check()
}

// covers reports whether a page is in what the source reads.
func (a *asker) covers(one content) bool { return a.at.space == "" || one.Space.Key == a.at.space }

// errUnreadable is that the content of one page can't be read.
var errUnreadable = errors.New("the page can't be read")

// readBody reads the content of a page as Markdown.
func (a *asker) readBody(ctx context.Context, one content) ([]byte, error) {
	path := "/api/v2/pages/" + one.ID
	if one.Type == "blogpost" {
		path = "/api/v2/blogposts/" + one.ID
	}
	var read struct {
		Body struct {
			Storage struct {
				Value string `json:"value"`
			} `json:"storage"`
		} `json:"body"`
	}
	if err := a.get(ctx, path, url.Values{"body-format": {"storage"}}, &read); err != nil {
		return nil, err
	}
	return renderPage(one, read.Body.Storage.Value, a.limit)
}
