package forge

import (
	"encoding/json"
	"net/http"
	"net/url"
	"time"
)

// dialect is how one kind of forge is asked, and how it answers. Paths are below its API's address.
type dialect interface {
	endpoint
	access
	// repositoryPath names one repository; ownedPaths list those of an owner, the first that is
	// there counts.
	repositoryPath(name string) string
	ownedPaths(owner string) []string
	readRepository(raw json.RawMessage) (repository, error)
	// listing says how a part is listed; ok is false where the forge has no such part.
	listing(r repository, part Part) (listing, bool)
}

// endpoint is how a forge's API is reached.
type endpoint interface {
	// sizeName is the parameter for how many entries a page of a list has.
	sizeName() string
	// api gives the address of the API of the forge at an address.
	api(base *url.URL) string
	// authorize adds the token to a request.
	authorize(header http.Header, token string)
}

// access is how a forge is asked who may read a repository.
type access interface {
	// readerLists name those who may read a private repository.
	readerLists(r repository) []readerList
	// profilePath tells the address of an account that a list told without one; "": none does.
	profilePath(account account) string
}

var dialects = map[Kind]dialect{GitHub: gitHub{}, GitLab: gitLab{}, Gitea: gitea{}}

// repository is a repository as a forge describes it.
type repository struct {
	Name    string  // its full name: "acme/app"
	Owner   account // a person or an organization
	Private bool    // not everybody who reaches the forge may read it
	Empty   bool
	Branch  string
	Clone   string // the address for git over HTTPS
	Web     string // where people open it
	Has     map[Part]bool
}

// listing is how items of a repository are listed by REST.
type listing struct {
	// path is asked for with query, and since, where it is not "", for what changed after a time.
	path     string
	query    url.Values
	since    string
	read     func(raw json.RawMessage) (item, error)
	comments func(i item) string // the path of an item's comments; nil: it has none
	// readComment reads a comment; one without text is none.
	readComment func(raw json.RawMessage) (comment, error)
	single      func(key string) string // the path of one item; nil: it can't be asked for
	// touched lists comments that changed after since, where items' own times don't tell of them;
	// "" where they do. readTouched gives the key of the item of one.
	touched     string
	readTouched func(raw json.RawMessage) (key string, err error)
	// graph asks by GraphQL instead; nil: by REST.
	graph *graphListing
}

// item is an issue, a discussion or a release.
type item struct {
	Key      string // by which it is asked for and named: its number, or a tag
	Title    string
	Body     string
	Author   string
	State    string // "open", "closed"; "" has none
	Labels   []string
	Created  time.Time
	Updated  time.Time
	Closed   time.Time
	URL      string
	Count    int  // of comments
	Left     bool // no document: a pull request, a draft, what is confidential
	Comments []comment
}

// comment is what somebody wrote to an item.
type comment struct {
	Anchor  string // its id on the item's page, "" where it has none
	Author  string
	Body    string
	Created time.Time
	Answer  bool // it was accepted as the answer
	Reply   bool // to the comment before
}

// account is a person on a forge.
type account struct {
	Name   string
	ID     int64
	Email  string
	Active bool
}

// readerList lists people who may read a repository, or things that lead to further lists.
type readerList struct {
	path string
	read func(raw json.RawMessage) (account, error)
	// more names a further list for an entry, such as the members of a team; nil: entries are people.
	more func(raw json.RawMessage) (readerList, bool)
	// instead is the only reader where the forge has no such list for a repository (404, 405).
	instead *account
}
