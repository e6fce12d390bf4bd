package forge

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// Event is what a forge told by a webhook to have changed.
type Event struct {
	Repository string // full name; "": any, such as who is in a team
	Part       Part   // "": any, such as who may read it
	Key        string // of the item; "": any
}

// ErrSignature is a delivery that was not signed with the secret.
var ErrSignature = errors.New("the delivery is not signed with the webhook's secret: set the same one in the forge and in webhook_key_env or webhook_key_file")

// VerifyDelivery checks that a delivery was sent by who knows the secret. GitHub and Gitea sign the
// body, GitLab sends the secret itself.
func VerifyDelivery(kind Kind, secret string, header http.Header, body []byte) error {
	if secret == "" {
		return ErrSignature
	}
	if kind == GitLab {
		given, wanted := sha256.Sum256([]byte(header.Get("X-Gitlab-Token"))), sha256.Sum256([]byte(secret))
		if subtle.ConstantTimeCompare(given[:], wanted[:]) != 1 {
			return ErrSignature
		}
		return nil
	}
	signature, ok := strings.CutPrefix(header.Get("X-Hub-Signature-256"), "sha256=")
	if !ok {
		return ErrSignature
	}
	given, err := hex.DecodeString(signature)
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	if err != nil || !hmac.Equal(given, mac.Sum(nil)) {
		return ErrSignature
	}
	return nil
}

// delivery is what is read of a webhook's body. GitHub and Gitea name what changed by a field of
// its name; GitLab in object_attributes.
type delivery struct {
	Repository struct {
		Name string `json:"full_name"`
	} `json:"repository"`
	Issue      *numbered `json:"issue"`
	Discussion *numbered `json:"discussion"`
	Release    *struct {
		Tag string `json:"tag_name"`
	} `json:"release"`

	Project struct {
		Name string `json:"path_with_namespace"`
	} `json:"project"`
	Kind       string    `json:"object_kind"`
	Attributes *numbered `json:"object_attributes"`
	Tag        string    `json:"tag"`
}

type numbered struct {
	Number int64 `json:"number"` // of GitHub and Gitea
	IID    int64 `json:"iid"`    // of GitLab
}

// ReadEvent reads what a delivery tells to have changed. ok is false where it is nothing that is
// read: a test, a pull request, a star.
func ReadEvent(kind Kind, header http.Header, body []byte) (event Event, ok bool, err error) {
	var read delivery
	if err := json.Unmarshal(body, &read); err != nil {
		return Event{}, false, fmt.Errorf("read the delivery: %w", err)
	}
	name := header.Get("X-Github-Event")
	switch kind {
	case GitLab:
		event, ok = read.gitLabEvent()
	case Gitea:
		name = header.Get("X-Gitea-Event")
		event, ok = read.namedEvent(name)
	case GitHub:
		event, ok = read.namedEvent(name)
	default:
		return Event{}, false, fmt.Errorf("%q is no kind of forge", kind)
	}
	if event.Repository != "" && !isSafeName(event.Repository) {
		return Event{}, false, fmt.Errorf("read the delivery: a repository has the name %.100q", event.Repository)
	}
	return event, ok, nil
}

// namedEvent reads an event of GitHub or Gitea.
func (d delivery) namedEvent(name string) (Event, bool) {
	at := d.Repository.Name
	switch name {
	case "push":
		return Event{Repository: at, Part: Files}, at != ""
	case "wiki", "gollum":
		return Event{Repository: at, Part: Wiki}, at != ""
	case "issues", "issue_comment":
		return d.Issue.event(at, Issues)
	case "discussion", "discussion_comment":
		return d.Discussion.event(at, Discussions)
	case "release":
		if d.Release == nil {
			return Event{}, false
		}
		return Event{Repository: at, Part: Releases, Key: d.Release.Tag}, at != ""
	case "member", "team_add", "repository", "public":
		return Event{Repository: at}, at != ""
	case "membership", "team", "organization":
		return Event{}, true
	}
	return Event{}, false
}

// event names an item that was told of.
func (n *numbered) event(repository string, part Part) (Event, bool) {
	if n == nil || repository == "" {
		return Event{}, false
	}
	number := n.Number
	if number == 0 {
		number = n.IID
	}
	if number <= 0 {
		return Event{}, false
	}
	return Event{Repository: repository, Part: part, Key: strconv.FormatInt(number, 10)}, true
}

// gitLabEvent reads an event of GitLab.
func (d delivery) gitLabEvent() (Event, bool) {
	at := d.Project.Name
	switch d.Kind {
	case "push", "tag_push":
		return Event{Repository: at, Part: Files}, at != ""
	case "wiki_page":
		return Event{Repository: at, Part: Wiki}, at != ""
	case "issue", "work_item":
		return d.Attributes.event(at, Issues)
	case "note":
		return d.Issue.event(at, Issues)
	case "release":
		return Event{Repository: at, Part: Releases, Key: d.Tag}, at != ""
	case "access_request", "member", "project", "subgroup", "group":
		return Event{}, true
	}
	return Event{}, false
}

// changed is what events told of one repository.
type changed struct {
	named bool
	keys  map[Part][]string
}

// collectEvents gives what events tell of a repository.
func collectEvents(events []Event, repository string) changed {
	told := changed{keys: make(map[Part][]string)}
	for _, event := range events {
		if event.Repository != "" && event.Repository != repository {
			continue
		}
		told.named = true
		if event.Key != "" {
			told.keys[event.Part] = append(told.keys[event.Part], event.Key)
		}
	}
	return told
}

// items gives the items of a part that were told of.
func (c changed) items(part Part) map[string]bool {
	items := make(map[string]bool)
	for _, key := range c.keys[part] {
		if isSafeKey(key) {
			items[key] = true
		}
	}
	return items
}
