package forge

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
)

// gitea is Gitea, and Forgejo, which Codeberg runs.
type gitea struct{}

func (gitea) sizeName() string { return "limit" }

func (gitea) api(base *url.URL) string { return base.JoinPath("api/v1").String() }

func (gitea) authorize(header http.Header, token string) {
	header.Set("Accept", "application/json")
	if token != "" {
		header.Set("Authorization", "token "+token)
	}
}

func (gitea) repositoryPath(name string) string { return repositoryPathOf(name) }

func (gitea) ownedPaths(owner string) []string {
	return []string{"/orgs/" + url.PathEscape(owner) + "/repos", "/users/" + url.PathEscape(owner) + "/repos"}
}

func (gitea) readRepository(raw json.RawMessage) (repository, error) {
	var read restRepository
	err := decode(raw, &read)
	return read.repository(), err
}

func (gitea) listing(r repository, part Part) (listing, bool) {
	path := repositoryPathOf(r.Name)
	switch part {
	case Issues:
		return listing{
			path: path + "/issues", query: url.Values{"state": {"all"}, "type": {"issues"}}, since: "since", read: readRestIssue,
			comments: func(i item) string { return path + "/issues/" + i.Key + "/comments" }, readComment: readRestComment,
			single:  func(key string) string { return path + "/issues/" + key },
			touched: path + "/issues/comments", readTouched: readRestTouched,
		}, true
	case Releases:
		return listing{
			path: path + "/releases", query: url.Values{"draft": {"false"}}, read: readRestRelease,
			single: func(key string) string { return path + "/releases/tags/" + url.PathEscape(key) },
		}, true
	}
	return listing{}, false
}

// readerLists are the collaborators, and the members of the teams that may read both code and
// issues. A repository without teams is one of a person.
func (gitea) readerLists(r repository) []readerList {
	path := repositoryPathOf(r.Name)
	return []readerList{
		{path: path + "/collaborators", read: readPerson},
		{path: path + "/teams", more: readTeam, instead: &r.Owner},
	}
}

func readTeam(raw json.RawMessage) (readerList, bool) {
	var read struct {
		ID         int64    `json:"id"`
		Permission string   `json:"permission"`
		Units      []string `json:"units"`
	}
	if err := json.Unmarshal(raw, &read); err != nil || read.ID <= 0 {
		return readerList{}, false
	}
	everything := read.Permission == "owner" || read.Permission == "admin"
	if !everything && (!slices.Contains(read.Units, "repo.code") || !slices.Contains(read.Units, "repo.issues")) {
		return readerList{}, false
	}
	return readerList{path: "/teams/" + strconv.FormatInt(read.ID, 10) + "/members", read: readPerson}, true
}

func (gitea) profilePath(account) string { return "" } // lists tell addresses to those who may know them
