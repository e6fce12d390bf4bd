package jira

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/cairn-bot/cairn/internal/knowledge/connect/atlassian"
	"github.com/cairn-bot/cairn/internal/knowledge/connect/remote"
)

const (
	pageSize        = 1000 // issues of one response; Jira gives fewer where it likes
	projectPageSize = 50   // projects of one response
	commentPageSize = 100  // comments of one response
	maxPages        = 10_000
	maxProjects     = 2000
	maxComments     = 5000 // of one issue; what is beyond is left out

	// listedFields are asked for of each issue of a list, readFields of one that is read.
	listedFields = "summary,updated,project,security,issuerestriction,assignee"
	readFields   = listedFields + ",status,issuetype,labels,resolution,resolutiondate,created,duedate,description"
)

// asker asks one site.
type asker struct {
	*atlassian.Client
	at    site
	limit int64
}

// newAsker returns what asks the site, once the site knows the account: Jira answers a request
// without a valid token as if nothing were there.
func (c *Connector) newAsker(ctx context.Context) (*asker, error) {
	at, err := parseSite(c.options.URL)
	if err != nil {
		return nil, err
	}
	a := &asker{Client: atlassian.NewClient(at.base, c.options), at: at, limit: c.options.MaxBytes}
	if err := a.checkToken(ctx); err != nil {
		a.Close()
		return nil, err
	}
	return a, nil
}

// checkToken asks who the account is.
func (a *asker) checkToken(ctx context.Context) error {
	var who person
	err := a.Get(ctx, "/rest/api/3/myself", url.Values{}, &who)
	if err == nil && who.ID == "" {
		err = errors.New("the site does not say whose token it is")
	}
	return err
}

// person is somebody as Jira describes them.
type person struct {
	ID     string `json:"accountId"`
	Type   string `json:"accountType"` // "atlassian", "app" or "customer"
	Active bool   `json:"active"`
	Email  string `json:"emailAddress"`
	Name   string `json:"displayName"`
}

// named is a status, a type or whatever else has a name.
type named struct {
	Name string `json:"name"`
}

// stamp is a time as Jira writes it: 2026-05-01T12:00:01.000+0000.
type stamp struct{ time.Time }

// UnmarshalJSON implements json.Unmarshaler.
func (s *stamp) UnmarshalJSON(text []byte) error {
	var written string
	if err := json.Unmarshal(text, &written); err != nil || written == "" {
		return err
	}
	var err error
	for _, layout := range []string{"2006-01-02T15:04:05.999-0700", time.RFC3339, time.DateOnly} {
		if s.Time, err = time.Parse(layout, written); err == nil {
			return nil
		}
	}
	return err
}

// date gives the day, "" for none.
func (s stamp) date() string {
	if s.IsZero() {
		return ""
	}
	return s.UTC().Format(time.DateOnly)
}

// issue is an issue as a list has it, or as it is read.
type issue struct {
	ID     string `json:"id"`
	Key    string `json:"key"`
	Fields struct {
		Summary string `json:"summary"`
		Updated stamp  `json:"updated"`
		Project struct {
			Key string `json:"key"`
		} `json:"project"`
		Security    json.RawMessage `json:"security"` // null: none
		Restriction struct {        // of a project that its team manages
			Restrictions map[string]json.RawMessage `json:"issuerestrictions"`
		} `json:"issuerestriction"`
		Assignee person `json:"assignee"`

		// The following are of an issue that is read alone.
		Status      named           `json:"status"`
		Type        named           `json:"issuetype"`
		Labels      []string        `json:"labels"`
		Resolution  named           `json:"resolution"`
		Resolved    stamp           `json:"resolutiondate"`
		Created     stamp           `json:"created"`
		Due         stamp           `json:"duedate"`
		Description json.RawMessage `json:"description"`
	} `json:"fields"`
}

// isRestricted reports whether the issue is for some of those who may read its project: it has a
// security level, of whatever form, or restrictions.
func (i issue) isRestricted() bool {
	return isSet(i.Fields.Security) || len(i.Fields.Restriction.Restrictions) > 0
}

// isSet reports whether a field has a value.
func isSet(value json.RawMessage) bool {
	value = bytes.TrimSpace(value)
	return len(value) > 0 && !bytes.Equal(value, []byte("null"))
}

func (i issue) title() string { return i.Key + " " + atlassian.OneLine(i.Fields.Summary) }

// check tells why what Jira gave can't be relied on.
func (i issue) check() error {
	if !atlassian.IsSafeName(i.ID) || !atlassian.IsSafeName(i.Key) || !projectKey.MatchString(i.Fields.Project.Key) || i.Fields.Updated.IsZero() {
		return fmt.Errorf("the issue %.60q has no usable id, key, project or time of its last change", i.Key)
	}
	return nil
}

// projects gives the keys of the projects that are read.
func (a *asker) projects(ctx context.Context) ([]string, error) {
	if a.at.project != "" {
		return []string{a.at.project}, nil
	}
	var keys []string
	for len(keys) <= maxProjects {
		var page struct {
			Last   bool `json:"isLast"`
			Values []struct {
				Key string `json:"key"`
			} `json:"values"`
		}
		query := url.Values{"startAt": {strconv.Itoa(len(keys))}, "maxResults": {strconv.Itoa(projectPageSize)}, "orderBy": {"key"}, "action": {"browse"}}
		if err := a.Get(ctx, "/rest/api/3/project/search", query, &page); err != nil {
			return nil, err
		}
		for _, project := range page.Values {
			if !projectKey.MatchString(project.Key) {
				return nil, fmt.Errorf("the project %.60q has no usable key", project.Key)
			}
			keys = append(keys, project.Key)
		}
		switch {
		case len(page.Values) > 0 && !page.Last:
		case len(keys) == 0:
			return nil, fmt.Errorf("there is no project that the account may read: %w", &remote.StatusError{Status: http.StatusNotFound})
		default:
			return keys, nil
		}
	}
	return nil, fmt.Errorf("there are more than %d projects: read them by several sources", maxProjects)
}

// listIssues lists all issues.
func (a *asker) listIssues(ctx context.Context) ([]issue, error) {
	projects, err := a.projects(ctx)
	if err != nil {
		return nil, err
	}
	var listed []issue
	seen := make(map[string]bool)
	for _, project := range projects {
		err := a.search(ctx, `project = "`+project+`" order by created`, func(one issue) {
			if !seen[one.ID] {
				seen[one.ID] = true
				listed = append(listed, one)
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return listed, nil
}

// search passes what a query in Jira's language finds.
func (a *asker) search(ctx context.Context, jql string, pass func(issue)) error {
	const path = "/rest/api/3/search/jql"
	query := url.Values{"jql": {jql}, "fields": {listedFields}, "maxResults": {strconv.Itoa(pageSize)}}
	for range maxPages {
		var page struct {
			Last   *bool   `json:"isLast"`
			Next   string  `json:"nextPageToken"`
			Issues []issue `json:"issues"`
		}
		if err := a.Get(ctx, path, query, &page); err != nil {
			return err
		}
		for _, one := range page.Issues {
			if err := one.check(); err != nil {
				return err
			}
			pass(one)
		}
		switch {
		case page.Next == "" && page.Last != nil && !*page.Last:
			return fmt.Errorf("ask for %s: the list goes on and does not say where", path)
		case page.Next == "":
			return nil
		case page.Next == query.Get("nextPageToken"):
			return fmt.Errorf("ask for %s: the list goes in a circle", path)
		}
		query.Set("nextPageToken", page.Next)
	}
	return fmt.Errorf("ask for %s: the list has no end", path)
}

// findIssue asks for what a list has of one issue.
func (a *asker) findIssue(ctx context.Context, id string) (issue, error) {
	return a.getIssue(ctx, id, listedFields)
}

// readIssue reads a whole issue.
func (a *asker) readIssue(ctx context.Context, listed issue) (issue, error) {
	return a.getIssue(ctx, listed.ID, readFields)
}

func (a *asker) getIssue(ctx context.Context, id, fields string) (issue, error) {
	var one issue
	if err := a.Get(ctx, "/rest/api/3/issue/"+id, url.Values{"fields": {fields}}, &one); err != nil {
		return issue{}, err
	}
	if one.ID != id {
		return issue{}, fmt.Errorf("asked for issue %s, Jira gave %.60q", id, one.ID)
	}
	return one, one.check()
}

// covers reports whether an issue is in what the source reads.
func (a *asker) covers(one issue) bool {
	return a.at.project == "" || one.Fields.Project.Key == a.at.project
}

// comment is what somebody wrote below an issue.
type comment struct {
	ID         string          `json:"id"`
	Author     person          `json:"author"`
	Created    stamp           `json:"created"`
	Body       json.RawMessage `json:"body"`
	Visibility json.RawMessage `json:"visibility"` // null: as the issue
	Public     *bool           `json:"jsdPublic"`  // false: of a service project, for its staff
}

// isRestricted reports whether a comment is for some of those who may read the issue.
func (c comment) isRestricted() bool {
	return isSet(c.Visibility) || c.Public != nil && !*c.Public
}

// listComments lists the comments of an issue that are for all who may read it, the oldest first.
func (a *asker) listComments(ctx context.Context, one issue) ([]comment, error) {
	var comments []comment
	for start := 0; start < maxComments; {
		var page struct {
			Total    int       `json:"total"`
			Comments []comment `json:"comments"`
		}
		query := url.Values{"startAt": {strconv.Itoa(start)}, "maxResults": {strconv.Itoa(commentPageSize)}, "orderBy": {"created"}}
		if err := a.Get(ctx, "/rest/api/3/issue/"+one.ID+"/comment", query, &page); err != nil {
			return nil, err
		}
		for _, said := range page.Comments {
			if !said.isRestricted() {
				comments = append(comments, said)
			}
		}
		start += len(page.Comments)
		if len(page.Comments) == 0 || start >= page.Total {
			break
		}
	}
	return comments, nil
}
