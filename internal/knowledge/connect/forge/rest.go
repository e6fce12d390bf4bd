package forge

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/mail"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// person is a person as GitHub and Gitea describe one. Gitea says "active" of people to its
// administrators alone, and false to all others.
type person struct {
	ID       int64  `json:"id"`
	Login    string `json:"login"`
	Email    string `json:"email"`
	Prohibit bool   `json:"prohibit_login"`
}

// restRepository is a repository as GitHub and Gitea describe one.
type restRepository struct {
	Name        string `json:"full_name"`
	Owner       person `json:"owner"`
	Private     bool   `json:"private"`
	Internal    bool   `json:"internal"`
	Visibility  string `json:"visibility"`
	Empty       bool   `json:"empty"`
	Branch      string `json:"default_branch"`
	Clone       string `json:"clone_url"`
	Web         string `json:"html_url"`
	Issues      *bool  `json:"has_issues"`
	Wiki        *bool  `json:"has_wiki"`
	Discussions *bool  `json:"has_discussions"`
	Releases    *bool  `json:"has_releases"`
}

func (r restRepository) repository() repository {
	return repository{
		Name: r.Name, Owner: r.Owner.account(), Private: r.Private || r.Internal || r.Visibility == "internal" || r.Visibility == "private", Empty: r.Empty,
		Branch: r.Branch, Clone: r.Clone, Web: r.Web,
		Has: map[Part]bool{
			Files: true, Wiki: isOn(r.Wiki), Issues: isOn(r.Issues), Releases: isOn(r.Releases), Discussions: r.Discussions != nil && *r.Discussions,
		},
	}
}

// isOn reports what a field says, and true where it is missing.
func isOn(field *bool) bool { return field == nil || *field }

// restIssue is an issue as GitHub and Gitea describe one.
type restIssue struct {
	Number  int64           `json:"number"`
	Title   string          `json:"title"`
	Body    string          `json:"body"`
	State   string          `json:"state"`
	User    person          `json:"user"`
	Count   int             `json:"comments"`
	Created time.Time       `json:"created_at"`
	Updated time.Time       `json:"updated_at"`
	Closed  *time.Time      `json:"closed_at"`
	Web     string          `json:"html_url"`
	Pull    json.RawMessage `json:"pull_request"`
	Labels  []struct {
		Name string `json:"name"`
	} `json:"labels"`
}

func readRestIssue(raw json.RawMessage) (item, error) {
	var read restIssue
	if err := decode(raw, &read); err != nil {
		return item{}, err
	}
	if read.Number <= 0 || read.Updated.IsZero() {
		return item{}, errors.New("an issue has no number or no time")
	}
	made := item{
		Key: strconv.FormatInt(read.Number, 10), Title: read.Title, Body: read.Body, Author: read.User.Login, State: read.State,
		Created: read.Created, Updated: read.Updated, URL: read.Web, Count: read.Count, Left: len(read.Pull) > 0 && string(read.Pull) != "null",
	}
	if read.Closed != nil {
		made.Closed = *read.Closed
	}
	for _, label := range read.Labels {
		made.Labels = append(made.Labels, label.Name)
	}
	return made, nil
}

func readRestComment(raw json.RawMessage) (comment, error) {
	var read struct {
		ID      int64     `json:"id"`
		Body    string    `json:"body"`
		User    person    `json:"user"`
		Created time.Time `json:"created_at"`
	}
	err := decode(raw, &read)
	return comment{Anchor: "issuecomment-" + strconv.FormatInt(read.ID, 10), Author: read.User.Login, Body: read.Body, Created: read.Created}, err
}

// readRestTouched gives the issue of a comment in a list of a repository's comments.
func readRestTouched(raw json.RawMessage) (string, error) {
	var read struct {
		Issue string `json:"issue_url"`
	}
	err := decode(raw, &read)
	key := read.Issue[strings.LastIndexByte(read.Issue, '/')+1:]
	if _, failed := strconv.ParseUint(key, 10, 63); failed != nil {
		key = "" // of a pull request
	}
	return key, err
}

func readRestRelease(raw json.RawMessage) (item, error) {
	var read struct {
		ID        int64      `json:"id"`
		Tag       string     `json:"tag_name"`
		Name      string     `json:"name"`
		Body      string     `json:"body"`
		Draft     bool       `json:"draft"`
		Author    person     `json:"author"`
		Created   time.Time  `json:"created_at"`
		Published *time.Time `json:"published_at"`
		Web       string     `json:"html_url"`
	}
	if err := decode(raw, &read); err != nil {
		return item{}, err
	}
	if read.Tag == "" && !read.Draft {
		return item{}, errors.New("a release has no tag")
	}
	made := item{Key: read.Tag, Title: read.Name, Body: read.Body, Author: read.Author.Login, Created: read.Created, URL: read.Web, Left: read.Draft}
	if made.Title == "" {
		made.Title = read.Tag
	}
	if read.Published != nil {
		made.Created = *read.Published
	}
	return made, nil
}

// readPerson reads somebody in a list of people.
func readPerson(raw json.RawMessage) (account, error) {
	var read person
	err := decode(raw, &read)
	return read.account(), err
}

func (p person) account() account {
	return account{Name: p.Login, ID: p.ID, Email: p.Email, Active: !p.Prohibit}
}

// decode reads JSON of a forge.
func decode(raw []byte, into any) error {
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("what the forge says can't be read: %w", err)
	}
	return nil
}

// isAddress reports whether a text is an e-mail address that somebody can have.
func isAddress(text string) bool {
	read, err := mail.ParseAddress(text)
	return err == nil && read.Address == text && !strings.Contains(text, "noreply")
}

// repositoryPathOf is the path of a repository with GitHub and Gitea.
func repositoryPathOf(name string) string {
	owner, repository, _ := strings.Cut(name, "/")
	return "/repos/" + url.PathEscape(owner) + "/" + url.PathEscape(repository)
}
