//go:build forgecheck

package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/knowledge/connect/forge/giteatest"
)

// giteaTeam is the program over a real Gitea, with a private repository that ada may read.
type giteaTeam struct {
	program
	gitea *giteatest.Server
}

func newGiteaTeam(t *testing.T) *giteaTeam {
	server := giteatest.Start(t)
	server.AddUser("ada")
	server.AddUser("bob")
	server.Do(http.MethodPost, "/orgs", giteatest.Map{"username": "acme"}, nil)
	server.AddRepository("acme/app", true)
	server.Do(http.MethodPut, "/repos/acme/app/collaborators/ada", giteatest.Map{"permission": "read"}, nil)
	server.AddIssue("acme/app", "The turbine rattles at startup", "Tighten the flange of the turbine with 40 newton metres.")
	server.AddIssue("acme/app", "The kettle leaks", "Replace the gasket of the kettle every spring.")
	folder := t.TempDir()
	settings := fmt.Sprintf(`
data_dir: %s/data
webhooks:
  listen: 127.0.0.1:0
sources:
  - {name: code, kind: gitea, url: "%s/acme", private_network: true, key_env: GITEA_TOKEN, webhook_key_env: GITEA_SECRET, every: 24h}
`, folder, server.URL)
	file := filepath.Join(folder, "cairn.yaml")
	if err := os.WriteFile(file, []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	return &giteaTeam{gitea: server, program: program{t: t, env: append(os.Environ(),
		"HOME="+folder, "CAIRN_CONFIG="+file, "SSL_CERT_FILE="+server.Cert, "GITEA_TOKEN="+server.Token, "GITEA_SECRET=a-secret-of-the-webhook")}}
}

func (g *giteaTeam) must(args ...string) string {
	g.t.Helper()
	out, err := g.command(args...).CombinedOutput()
	if err != nil {
		g.t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return string(out)
}

// within waits until something holds, and gives how long that took.
func (g *giteaTeam) within(limit time.Duration, what string, holds func() bool) time.Duration {
	g.t.Helper()
	began := time.Now()
	for ; time.Since(began) < limit; time.Sleep(200 * time.Millisecond) {
		if holds() {
			return time.Since(began)
		}
	}
	g.t.Errorf("%s: not within %s", what, limit)
	return limit
}

// TestGiteaDeletionsAndRemovalsReachAnswers measures what issue 26 asks for.
func TestGiteaDeletionsAndRemovalsReachAnswers(t *testing.T) {
	g := newGiteaTeam(t)
	t.Log(g.must("sources", "sync"))
	for _, line := range strings.Split(g.must("doctor"), "\n") {
		if strings.Contains(line, "code") {
			t.Log(line)
		}
	}
	asAda := func(question string) string { return g.must("ask", "--as", "ada@example.com", question) }
	const turbine, kettle = "how do I stop the turbine from rattling?", "what do I do when the kettle leaks?"
	if said := asAda(turbine); !strings.Contains(said, "40 newton metres") {
		t.Fatalf("ada is answered %s", said)
	}
	if said := g.must("ask", "--as", "bob@example.com", turbine); strings.Contains(said, "newton") || strings.Contains(said, "turbine rattles") {
		t.Errorf("bob is answered %s", said)
	}

	served := g.start(regexp.MustCompile(`Webhooks at (\S+)`), "--listen", "127.0.0.1:0")
	g.gitea.Do(http.MethodPost, "/repos/acme/app/hooks", giteatest.Map{
		"type": "gitea", "active": true, "events": []string{"issues", "issue_comment", "push", "wiki", "release", "repository"},
		"config": giteatest.Map{"url": served.address + "code", "content_type": "json", "secret": "a-secret-of-the-webhook"},
	}, nil)
	g.gitea.AddIssue("acme/app", "The crane squeaks", "Oil the winch of the crane with graphite.")
	took := g.within(time.Minute, "a new issue is answered from", func() bool { return strings.Contains(asAda("why does the crane squeak?"), "graphite") })
	t.Logf("a new issue was in an answer after %s", took.Round(100*time.Millisecond))
	g.gitea.Do(http.MethodDelete, "/repos/acme/app/issues/2", nil, nil)
	took = g.within(time.Minute, "a deleted issue is gone from answers", func() bool { return !strings.Contains(asAda(kettle), "gasket") })
	if said := asAda(kettle); strings.Contains(said, "gasket") {
		t.Logf("ada is answered %s", said)
	}
	t.Logf("a deleted issue was gone from answers after %s", took.Round(100*time.Millisecond))

	g.gitea.Do(http.MethodDelete, "/repos/acme/app/collaborators/ada", nil, nil) // Gitea tells nobody of that
	began := time.Now()
	if said := asAda(turbine); strings.Contains(said, "newton") || strings.Contains(said, "turbine rattles") || strings.Contains(said, "acme/app") {
		t.Errorf("the next answer of a removed collaborator, after %s: %s", time.Since(began), said)
	}
	t.Logf("the next answer of a removed collaborator took %s", time.Since(began).Round(100*time.Millisecond))
	if said := g.must("who-sees", "code:acme/app//issues/1"); strings.Contains(said, "ada@example.com") {
		t.Errorf("who sees it: %s", said)
	}
	served.end(syscall.SIGTERM)
	if strings.Contains(served.String(), g.gitea.Token) || strings.Contains(served.String(), "a-secret-of-the-webhook") {
		t.Error("a secret is in the log")
	}
}
