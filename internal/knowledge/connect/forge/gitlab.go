package forge

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// gitLab is GitLab, on gitlab.com or a host of its own.
type gitLab struct{}

func (gitLab) sizeName() string { return "per_page" }

func (gitLab) api(base *url.URL) string { return base.JoinPath("api/v4").String() }

func (gitLab) authorize(header http.Header, token string) {
	header.Set("Accept", "application/json")
	if token != "" {
		header.Set("Private-Token", token)
	}
}

func projectPath(name string) string { return "/projects/" + url.PathEscape(name) }

func (gitLab) repositoryPath(name string) string { return projectPath(name) }

func (gitLab) ownedPaths(owner string) []string {
	return []string{"/groups/" + url.PathEscape(owner) + "/projects?include_subgroups=true", "/users/" + url.PathEscape(owner) + "/projects"}
}

func (gitLab) readRepository(raw json.RawMessage) (repository, error) {
	var read struct {
		Name       string `json:"path_with_namespace"`
		Visibility string `json:"visibility"`
		Empty      bool   `json:"empty_repo"`
		Branch     string `json:"default_branch"`
		Clone      string `json:"http_url_to_repo"`
		Web        string `json:"web_url"`
		Issues     string `json:"issues_access_level"`
		Wiki       string `json:"wiki_access_level"`
		Code       string `json:"repository_access_level"`
		Releases   string `json:"releases_access_level"`
	}
	err := decode(raw, &read)
	made := repository{
		Name: read.Name, Private: read.Visibility != "public", Empty: read.Empty, Branch: read.Branch, Clone: read.Clone, Web: read.Web,
		Has: map[Part]bool{},
	}
	// A part may be for members alone in a project that is public.
	for part, level := range map[Part]string{Files: read.Code, Wiki: read.Wiki, Issues: read.Issues, Releases: read.Releases} {
		made.Has[part] = level != "disabled"
		made.Private = made.Private || level == "private"
	}
	return made, err
}

func (gitLab) listing(r repository, part Part) (listing, bool) {
	path := projectPath(r.Name)
	switch part {
	case Issues:
		return listing{
			path:  path + "/issues",
			query: url.Values{"scope": {"all"}, "order_by": {"created_at"}, "sort": {"asc"}, "confidential": {"false"}}, since: "updated_after", read: readGitLabIssue,
			comments: func(i item) string {
				return path + "/issues/" + i.Key + "/notes?sort=asc&order_by=created_at"
			}, readComment: readNote,
			single: func(key string) string { return path + "/issues/" + key },
		}, true
	case Releases:
		return listing{
			path: path + "/releases", read: readGitLabRelease, single: func(key string) string { return path + "/releases/" + url.PathEscape(key) },
		}, true
	}
	return listing{}, false
}

func readGitLabIssue(raw json.RawMessage) (item, error) {
	var read struct {
		Number       int64      `json:"iid"`
		Title        string     `json:"title"`
		Body         string     `json:"description"`
		State        string     `json:"state"`
		Labels       []string   `json:"labels"`
		Author       gitLabUser `json:"author"`
		Created      time.Time  `json:"created_at"`
		Updated      time.Time  `json:"updated_at"`
		Closed       *time.Time `json:"closed_at"`
		Count        int        `json:"user_notes_count"`
		Web          string     `json:"web_url"`
		Confidential bool       `json:"confidential"`
	}
	if err := decode(raw, &read); err != nil {
		return item{}, err
	}
	if read.Number <= 0 || read.Updated.IsZero() {
		return item{}, errors.New("an issue has no number or no time")
	}
	made := item{
		Key: strconv.FormatInt(read.Number, 10), Title: read.Title, Body: read.Body, Author: read.Author.Name, State: read.State, Labels: read.Labels,
		Created: read.Created, Updated: read.Updated, URL: read.Web, Count: read.Count, Left: read.Confidential,
	}
	if made.State == "opened" {
		made.State = "open"
	}
	if read.Closed != nil {
		made.Closed = *read.Closed
	}
	return made, nil
}

type gitLabUser struct {
	ID          int64  `json:"id"`
	Name        string `json:"username"`
	State       string `json:"state"`
	AccessLevel int    `json:"access_level"`
	Email       string `json:"email"`
	PublicEmail string `json:"public_email"`
}

// readNote reads a comment. What GitLab itself notes, and what is for members of the team alone,
// is none.
func readNote(raw json.RawMessage) (comment, error) {
	var read struct {
		ID           int64      `json:"id"`
		Body         string     `json:"body"`
		Author       gitLabUser `json:"author"`
		Created      time.Time  `json:"created_at"`
		System       bool       `json:"system"`
		Internal     bool       `json:"internal"`
		Confidential bool       `json:"confidential"`
	}
	if err := decode(raw, &read); err != nil || read.System || read.Internal || read.Confidential {
		return comment{}, err
	}
	return comment{Anchor: "note_" + strconv.FormatInt(read.ID, 10), Author: read.Author.Name, Body: read.Body, Created: read.Created}, nil
}

func readGitLabRelease(raw json.RawMessage) (item, error) {
	var read struct {
		Tag      string     `json:"tag_name"`
		Name     string     `json:"name"`
		Body     string     `json:"description"`
		Author   gitLabUser `json:"author"`
		Created  time.Time  `json:"created_at"`
		Released *time.Time `json:"released_at"`
		Upcoming bool       `json:"upcoming_release"`
		Links    struct {
			Self string `json:"self"`
		} `json:"_links"`
	}
	if err := decode(raw, &read); err != nil {
		return item{}, err
	}
	if read.Tag == "" {
		return item{}, errors.New("a release has no tag")
	}
	made := item{Key: read.Tag, Title: read.Name, Body: read.Body, Author: read.Author.Name, Created: read.Created, URL: read.Links.Self, Left: read.Upcoming}
	if made.Title == "" {
		made.Title = read.Tag
	}
	if read.Released != nil {
		made.Created = *read.Released
	}
	return made, nil
}

// reporter is the least role with which a member may read a private project's code.
const reporter = 20

func (gitLab) readerLists(r repository) []readerList {
	return []readerList{{path: projectPath(r.Name) + "/members/all", read: func(raw json.RawMessage) (account, error) {
		var read gitLabUser
		err := decode(raw, &read)
		return account{
			Name: read.Name, ID: read.ID, Email: read.Email, Active: read.State == "active" && read.AccessLevel >= reporter,
		}, err
	}}}
}

func (gitLab) profilePath(account account) string {
	return "/users/" + strconv.FormatInt(account.ID, 10)
}
