package confluence

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/cairn-bot/cairn/internal/knowledge/connect/atlassian"
	"github.com/cairn-bot/cairn/internal/knowledge/connect/remote"
)

const (
	pageSize  = 200    // entries of one response, the most that are given with restrictions
	maxPages  = 10_000 // of one list
	maxSpaces = 2000

	// expanded is what is asked for of each page beside what identifies it.
	expanded = "space,version,history,ancestors,restrictions.read.restrictions.user,restrictions.read.restrictions.group"
)

// asker asks one site.
type asker struct {
	*atlassian.Client
	at    site
	limit int64
}

func (c *Connector) newAsker() (*asker, error) {
	at, err := parseSite(c.options.URL)
	if err != nil {
		return nil, err
	}
	return &asker{Client: atlassian.NewClient(at.base, c.options), at: at, limit: c.options.MaxBytes}, nil
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
		if err := a.Get(ctx, path, query, &page); err != nil {
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
		if !atlassian.IsSafeName(s.Key) || !atlassian.IsSafeName(s.ID) || len(found) == maxSpaces {
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
	if !atlassian.IsSafeName(c.ID) || !atlassian.IsSafeName(c.Space.Key) || c.Version.Number < 1 || c.Version.When.IsZero() {
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
		if !atlassian.IsSafeName(ancestor.ID) {
			return fmt.Errorf("the page %s has an ancestor %.60q", one.ID, ancestor.ID)
		}
		found := content{ID: ancestor.ID}
		err := a.Get(ctx, "/rest/api/content/"+ancestor.ID+"/restriction/byOperation/read", url.Values{"expand": {"restrictions.user,restrictions.group"}, "limit": {strconv.Itoa(pageSize)}}, &found.Restrictions.Read)
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
	if err := a.Get(ctx, "/rest/api/content/"+id, url.Values{"expand": {expanded}}, &one); err != nil {
		return content{}, err
	}
	if one.ID != id {
		return content{}, fmt.Errorf("asked for page %s, Confluence gave %.60q", id, one.ID)
	}
	return one, one.check()
}

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
	if err := a.Get(ctx, path, url.Values{"body-format": {"storage"}}, &read); err != nil {
		return nil, err
	}
	return renderPage(one, read.Body.Storage.Value, a.limit)
}
