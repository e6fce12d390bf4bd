package forge

import (
	"encoding/json"
	"net/http"
	"net/url"
)

// gitHub is GitHub, and GitHub Enterprise Server on a host of its own.
type gitHub struct{}

func (gitHub) sizeName() string { return "per_page" }

func (gitHub) api(base *url.URL) string {
	if base.Host == "github.com" {
		return "https://api.github.com"
	}
	return base.JoinPath("api/v3").String()
}

func (gitHub) authorize(header http.Header, token string) {
	header.Set("Accept", "application/vnd.github+json")
	header.Set("X-GitHub-Api-Version", "2022-11-28")
	if token != "" {
		header.Set("Authorization", "Bearer "+token)
	}
}

func (gitHub) repositoryPath(name string) string { return repositoryPathOf(name) }

func (gitHub) ownedPaths(owner string) []string {
	return []string{"/orgs/" + url.PathEscape(owner) + "/repos", "/users/" + url.PathEscape(owner) + "/repos"}
}

func (gitHub) readRepository(raw json.RawMessage) (repository, error) {
	var read restRepository
	err := decode(raw, &read)
	return read.repository(), err
}

func (gitHub) listing(r repository, part Part) (listing, bool) {
	path := repositoryPathOf(r.Name)
	switch part {
	case Issues:
		return listing{
			path: path + "/issues", query: url.Values{"state": {"all"}, "sort": {"created"}, "direction": {"asc"}}, since: "since", read: readRestIssue,
			comments: func(i item) string { return path + "/issues/" + i.Key + "/comments" }, readComment: readRestComment,
			single:  func(key string) string { return path + "/issues/" + key },
			touched: path + "/issues/comments", readTouched: readRestTouched,
		}, true
	case Releases:
		return listing{
			path: path + "/releases", read: readRestRelease, single: func(key string) string { return path + "/releases/tags/" + url.PathEscape(key) },
		}, true
	case Discussions:
		return listing{graph: newGraphListing(r.Name)}, true
	}
	return listing{}, false
}

func (gitHub) readerLists(r repository) []readerList {
	return []readerList{{path: repositoryPathOf(r.Name) + "/collaborators?affiliation=all", read: readPerson}}
}

func (gitHub) profilePath(account account) string { return "/users/" + url.PathEscape(account.Name) }
