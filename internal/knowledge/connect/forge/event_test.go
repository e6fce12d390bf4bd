package forge_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"testing"

	"github.com/cairn-bot/cairn/internal/knowledge/connect/forge"
)

func sign(secret, body string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(body))
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

func TestDeliveriesAreSigned(t *testing.T) {
	const body = `{"a":1}`
	for _, c := range []struct {
		kind   forge.Kind
		header http.Header
		ok     bool
	}{
		{forge.GitHub, http.Header{"X-Hub-Signature-256": {sign("s3cret", body)}}, true},
		{forge.Gitea, http.Header{"X-Hub-Signature-256": {sign("s3cret", body)}}, true},
		{forge.GitHub, http.Header{"X-Hub-Signature-256": {sign("other", body)}}, false},
		{forge.GitHub, http.Header{"X-Hub-Signature-256": {sign("s3cret", body+" ")}}, false},
		{forge.GitHub, http.Header{"X-Hub-Signature-256": {"sha256=zz"}}, false},
		{forge.GitHub, http.Header{"X-Gitlab-Token": {"s3cret"}}, false},
		{forge.GitHub, nil, false},
		{forge.GitLab, http.Header{"X-Gitlab-Token": {"s3cret"}}, true},
		{forge.GitLab, http.Header{"X-Gitlab-Token": {"s3cre"}}, false},
		{forge.GitLab, nil, false},
	} {
		if err := forge.VerifyDelivery(c.kind, "s3cret", c.header, []byte(body)); (err == nil) != c.ok {
			t.Errorf("%s %v: %v", c.kind, c.header, err)
		}
		if forge.VerifyDelivery(c.kind, "", c.header, []byte(body)) == nil {
			t.Errorf("%s: without a secret everything is taken", c.kind)
		}
	}
}

// deliveries are shortened bodies of the shapes that forges document, with what they tell.
var deliveries = []struct {
	kind        forge.Kind
	event, body string
	want        forge.Event
	ok          bool
}{
	{forge.GitHub, "issues", `{"action":"deleted","issue":{"number":12},"repository":{"full_name":"acme/app"}}`, forge.Event{"acme/app", forge.Issues, "12"}, true},
	{forge.GitHub, "issue_comment", `{"action":"deleted","issue":{"number":12},"comment":{"id":5},"repository":{"full_name":"acme/app"}}`, forge.Event{"acme/app", forge.Issues, "12"}, true},
	{forge.GitHub, "discussion", `{"discussion":{"number":3},"repository":{"full_name":"acme/app"}}`, forge.Event{"acme/app", forge.Discussions, "3"}, true},
	{forge.GitHub, "gollum", `{"pages":[],"repository":{"full_name":"acme/app"}}`, forge.Event{Repository: "acme/app", Part: forge.Wiki}, true},
	{forge.GitHub, "member", `{"action":"removed","repository":{"full_name":"acme/app"}}`, forge.Event{Repository: "acme/app"}, true},
	{forge.GitHub, "membership", `{"action":"removed","organization":{"login":"acme"}}`, forge.Event{}, true},
	{forge.GitHub, "ping", `{"zen":"x","repository":{"full_name":"acme/app"}}`, forge.Event{}, false},
	{forge.GitHub, "pull_request", `{"number":1,"repository":{"full_name":"acme/app"}}`, forge.Event{}, false},
	{forge.Gitea, "issues", `{"action":"deleted","number":4,"issue":{"number":4},"repository":{"full_name":"acme/app"}}`, forge.Event{"acme/app", forge.Issues, "4"}, true},
	{forge.Gitea, "push", `{"ref":"refs/heads/main","repository":{"full_name":"acme/app"}}`, forge.Event{Repository: "acme/app", Part: forge.Files}, true},
	{forge.Gitea, "release", `{"release":{"tag_name":"v1.0"},"repository":{"full_name":"acme/app"}}`, forge.Event{"acme/app", forge.Releases, "v1.0"}, true},
	{forge.GitLab, "", `{"object_kind":"issue","project":{"path_with_namespace":"acme/tools/app"},"object_attributes":{"iid":9,"action":"close"}}`, forge.Event{"acme/tools/app", forge.Issues, "9"}, true},
	{forge.GitLab, "", `{"object_kind":"note","project":{"path_with_namespace":"acme/app"},"object_attributes":{"id":5},"issue":{"iid":9}}`, forge.Event{"acme/app", forge.Issues, "9"}, true},
	{forge.GitLab, "", `{"object_kind":"note","project":{"path_with_namespace":"acme/app"},"merge_request":{"iid":9}}`, forge.Event{}, false},
	{forge.GitLab, "", `{"object_kind":"wiki_page","project":{"path_with_namespace":"acme/app"}}`, forge.Event{Repository: "acme/app", Part: forge.Wiki}, true},
}

func header(kind forge.Kind, event string) http.Header {
	set := make(http.Header)
	set.Set(map[forge.Kind]string{forge.GitHub: "X-GitHub-Event", forge.Gitea: "X-Gitea-Event", forge.GitLab: "X-Gitlab-Event"}[kind], event)
	return set
}

func TestEvents(t *testing.T) {
	for _, d := range deliveries {
		got, ok, err := forge.ReadEvent(d.kind, header(d.kind, d.event), []byte(d.body))
		if got != d.want || ok != d.ok || err != nil {
			t.Errorf("%s %s: %+v, %v, %v, want %+v", d.kind, d.event, got, ok, err, d.want)
		}
	}
	for _, body := range []string{``, `[]`, `{"issue":{"number":1},"repository":{"full_name":"../../etc"}}`, `{"issue":{"number":1},"repository":{"full_name":"a/b#c"}}`} {
		if event, ok, err := forge.ReadEvent(forge.GitHub, header(forge.GitHub, "issues"), []byte(body)); err == nil {
			t.Errorf("%s: %+v, %v", body, event, ok)
		}
	}
}

func FuzzReadEvent(f *testing.F) {
	for _, d := range deliveries {
		f.Add(string(d.kind), d.event, []byte(d.body))
	}
	f.Fuzz(func(t *testing.T, kind, event string, body []byte) {
		read, ok, err := forge.ReadEvent(forge.Kind(kind), header(forge.Kind(kind), event), body)
		if err == nil && ok && read.Key != "" && read.Repository == "" {
			t.Errorf("an item of no repository: %+v", read)
		}
	})
}
