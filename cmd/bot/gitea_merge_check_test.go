//go:build forgecheck

package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/cairn-bot/cairn/internal/adapters/slack/slacktest"
	"github.com/cairn-bot/cairn/internal/knowledge/connect/forge/giteatest"
)

// mergeTeam talks in Slack about the documents of a real Gitea.
type mergeTeam struct {
	office
	gitea *giteatest.Server
}

const (
	jobsText  = "# Jobs\n\nJobs are retried after 30 seconds by default.\n\nA job that failed five times is parked.\n"
	jobsAsked = "after how many seconds are jobs retried?"
	jobsSaid  = "jobs are retried after 45 seconds by default, not 30"
)

var mergeRepositories = []string{"jobs", "crates", "winches", "ovens", "wheels"}

func newMergeTeam(t *testing.T) *mergeTeam {
	g := giteatest.Start(t)
	g.Do(http.MethodPost, "/orgs", giteatest.Map{"username": "acme"}, nil)
	for _, name := range mergeRepositories {
		g.AddRepository("acme/"+name, false)
		g.WriteFile("acme/"+name, "docs/guide.md", strings.NewReplacer("Jobs", capital(name), "job ", name[:len(name)-1]+" ").Replace(jobsText))
	}
	g.AddUser("cairn")
	var made struct {
		Token string `json:"sha1"`
	}
	g.DoAs("cairn", http.MethodPost, "/users/cairn/tokens", giteatest.Map{"name": "merges", "scopes": []string{"write:repository"}}, &made)
	for _, name := range mergeRepositories {
		g.Do(http.MethodPut, "/repos/acme/"+name+"/collaborators/cairn", giteatest.Map{"permission": "write"}, nil)
	}
	folder := t.TempDir()
	file := filepath.Join(folder, "cairn.yaml")
	if err := os.WriteFile(file, fmt.Appendf(nil, `
data_dir: %s/data
sources:
  - {name: code, kind: gitea, url: "%s/acme", private_network: true, key_env: GITEA_TOKEN, merge_key_env: GITEA_MERGES, every: 24h}
`, folder, g.URL), 0o600); err != nil {
		t.Fatal(err)
	}
	m := &mergeTeam{gitea: g, office: office{Server: slacktest.New(slacktest.Options{Unlimited: true}), program: program{t: t}}}
	t.Cleanup(m.Close)
	m.ann, m.general = m.Person("U0ANN", "Ann"), m.Channel("C0GENERAL", "general")
	m.env = append(os.Environ(), "HOME="+folder, "CAIRN_CONFIG="+file, "SSL_CERT_FILE="+g.Cert, "GITEA_TOKEN="+g.Token, "GITEA_MERGES="+made.Token,
		"CAIRN_SLACK_MODE=socket", "CAIRN_SLACK_API_URL="+m.APIURL(), "CAIRN_SLACK_BOT_TOKEN="+slacktest.BotToken, "CAIRN_SLACK_APP_TOKEN="+slacktest.AppToken)
	if out, err := m.command("sources", "sync").CombinedOutput(); err != nil {
		t.Fatalf("sources sync: %v\n%s", err, out)
	}
	return m
}

func capital(word string) string { return strings.ToUpper(word[:1]) + word[1:] }

// corrects has Ann ask about a repository's document and correct the answer, and gives the thread, which
// asks whether to open a merge request.
func (m *mergeTeam) corrects(name string) (root string) {
	m.t.Helper()
	about := strings.NewReplacer("jobs", name)
	root = m.ann.Says(m.general, "", mention+about.Replace(jobsAsked))
	m.shows(root, "30 seconds")
	m.ann.Says(m.general, root, mention+"page: correct "+about.Replace(jobsSaid))
	m.shows(root, "Open a merge request of the change?")
	return root
}

// approves has Ann approve what was asked last, and gives what is said then.
func (m *mergeTeam) approves(root, want string) string {
	m.t.Helper()
	m.ann.Presses(m.general, "Open a merge request")
	m.shows(root, want)
	return m.last(root)
}

// pull is a merge request as Gitea tells of it.
type pull struct {
	Number int    `json:"number"`
	Title  string `json:"title"`
	Body   string `json:"body"`
	URL    string `json:"html_url"`
	State  string `json:"state"`
	Head   struct {
		Ref string `json:"ref"`
	} `json:"head"`
	Base struct {
		Ref string `json:"ref"`
	} `json:"base"`
	User struct {
		Login string `json:"login"`
	} `json:"user"`
}

func (m *mergeTeam) pulls(name string) (all []pull) {
	m.t.Helper()
	m.gitea.Do(http.MethodGet, "/repos/acme/"+name+"/pulls?state=all", nil, &all)
	return all
}

// TestGiteaMergeRequests has a correction become a merge request on a real Gitea, and Gitea refuse some.
func TestGiteaMergeRequests(t *testing.T) {
	m := newMergeTeam(t)
	p := m.serve("--listen", "127.0.0.1:0")

	root := m.corrects("jobs")
	if all := m.pulls("jobs"); len(all) != 0 {
		t.Fatalf("before anybody approved: %+v", all)
	}
	said := m.approves(root, "The merge request is open")
	all := m.pulls("jobs")
	if len(all) != 1 {
		t.Fatalf("merge requests %+v after %s", all, said)
	}
	first := all[0]
	if !strings.Contains(said, first.URL) || first.State != "open" || first.Base.Ref != "main" || !strings.HasPrefix(first.Head.Ref, "cairn/correct-") || first.User.Login != "cairn" ||
		!strings.Contains(first.Title, "Correct") || !strings.Contains(first.Body, "> "+jobsSaid) || strings.Contains(first.Body, "Ann") || strings.Contains(first.Body, "U0ANN") {
		t.Errorf("the merge request is %+v", first)
	}
	diff := string(m.gitea.Get(fmt.Sprintf("/acme/jobs/pulls/%d.diff", first.Number)))
	if want := "-Jobs are retried after 30 seconds by default.\n+Jobs are retried after 45 seconds by default.\n"; !strings.Contains(diff, want) || strings.Count(diff, "\n+") != 2 || !strings.Contains(diff, "docs/guide.md") {
		t.Errorf("its diff is %s", diff)
	}
	if text := string(m.gitea.Get("/acme/jobs/raw/branch/main/docs/guide.md")); text != jobsText {
		t.Errorf("the default branch has %s", text)
	}

	// The same correction is approved in another thread: it is the same merge request.
	said = m.approves(m.corrects("jobs"), "The merge request is open")
	if all := m.pulls("jobs"); len(all) != 1 || !strings.Contains(said, first.URL) {
		t.Errorf("approved again: %s\n%+v", said, all)
	}

	// The file was changed while the question waited.
	root = m.corrects("crates")
	var file struct {
		SHA string `json:"sha"`
	}
	m.gitea.Do(http.MethodGet, "/repos/acme/crates/contents/docs/guide.md", nil, &file)
	m.gitea.Do(http.MethodPut, "/repos/acme/crates/contents/docs/guide.md", giteatest.Map{"content": "T3RoZXJzIHdyb3RlIHRoaXMuCg==", "message": "rewrite", "sha": file.SHA}, nil)
	m.approves(root, "was changed meanwhile")

	// The bot's branches are protected.
	root = m.corrects("winches")
	m.gitea.Do(http.MethodPost, "/repos/acme/winches/branch_protections", giteatest.Map{"rule_name": "cairn/**", "enable_push": false}, nil)
	m.approves(root, "where a rule of the repository protects branches")
	m.gitea.Do(http.MethodDelete, "/repos/acme/winches/branch_protections/cairn%2F%2A%2A", nil, nil)
	m.ann.Says(m.general, root, mention+"page: correct "+strings.ReplaceAll(jobsSaid, "jobs", "winches"))
	m.shows(root, "Open a merge request of the change?")
	m.approves(root, "The merge request is open")

	// The bot may read, but not write any more.
	m.gitea.Do(http.MethodPut, "/repos/acme/ovens/collaborators/cairn", giteatest.Map{"permission": "read"}, nil)
	root = m.corrects("ovens")
	m.approves(root, "may not write there")
	m.gitea.Do(http.MethodPut, "/repos/acme/ovens/collaborators/cairn", giteatest.Map{"permission": "write"}, nil)

	// The repository was deleted while the question waited.
	root = m.corrects("ovens")
	m.gitea.Do(http.MethodDelete, "/repos/acme/ovens", nil, nil)
	m.approves(root, "is not there any more")

	// The token was revoked while the question waited, and before the next was asked.
	root = m.corrects("wheels")
	m.gitea.DoAs("cairn", http.MethodDelete, "/users/cairn/tokens/merges", nil, nil)
	m.approves(root, "the forge does not know the token")
	m.ann.Says(m.general, root, mention+"page: correct "+strings.ReplaceAll(jobsSaid, "jobs", "wheels"))
	m.shows(root, "be read where they come from: the forge does not know the token")
	p.end(syscall.SIGTERM)
	if strings.Contains(p.String(), m.gitea.Token) {
		t.Error("a token is in the log")
	}
	for _, name := range []string{"crates", "winches", "wheels"} {
		if all := m.pulls(name); len(all) != map[string]int{"crates": 0, "winches": 1}[name] {
			t.Errorf("%s has the merge requests %+v", name, all)
		}
	}
}
