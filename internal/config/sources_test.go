package config

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

func hostWith(t *testing.T, variables map[string]string) Host {
	t.Helper()
	dir := t.TempDir()
	return Host{OS: "linux", Home: dir, WorkDir: dir, Getenv: func(name string) string { return variables[name] }}
}

func readSources(t *testing.T, host Host, text string) error {
	t.Helper()
	config := Defaults(host)
	return errors.Join(decode(&config, filepath.Join(host.WorkDir, "cairn.yaml"), []byte(text), host)...)
}

func TestSourcesThatDoNotFitTogether(t *testing.T) {
	host := hostWith(t, map[string]string{"TOKEN": "secret-token"})
	for text, want := range map[string]string{
		"{name: a, kind: git}":                                                               "url: is missing",
		"{name: a, kind: files}":                                                             "path: is missing",
		"{name: a, kind: git, url: 'https://h/x', path: x}":                                  "path: means nothing for a source of the kind git",
		"{name: a, kind: files, path: x, url: 'https://h/x'}":                                "url: means nothing",
		"{name: a, kind: website, url: 'ssh://git@h/x'}":                                     "starts with https://",
		"{name: a, kind: git, url: 'git@h:x.git'}":                                           "name the private key",
		"{name: a, kind: git, url: 'https://u:p@h/x'}":                                       "without a name, a password",
		"{name: a, kind: git, url: 'file:///etc'}":                                           "want an address",
		"{name: a, kind: git, url: 'ssh://git:pw@h/x'}":                                      "no password",
		"{name: a, kind: website, url: 'http://h/x'}":                                        "want https://",
		"{name: a, kind: website, url: 'http://h/x', private_network: true, key_env: TOKEN}": "over https:// alone",
		"{name: a, kind: website, url: 'https://h/x', key_env: TOKEN, key_file: x}":          "keep one of them",
		"{name: a, kind: website, url: 'https://h/x', key_env: NONE}":                        "NONE is not set",
		"{name: a, kind: website, url: 'https://h/x', every: 5s}":                            "want a time from 1m0s",
		"{name: a, kind: website, url: 'https://h/x', languages: [English]}":                 "want a language",
		"{name: a, kind: files, path: x}, {name: a, kind: files, path: y}":                   "another source has this name",
		"{name: a, kind: conversation}":                                                      "channel: is missing",
		"{name: a, kind: conversation, channel: 'slack:C1'}":                                 "want slack:WORKSPACE:CHANNEL",
		"{name: a, kind: conversation, channel: 'slack:T1:C1', audience: [public]}":          "for those who may read it there",
		"{name: a, kind: conversation, channel: 'slack:T1:C1', url: 'https://h/x'}":          "url: means nothing",
		"{name: a, kind: mcp}":                                                               "url: is missing",
		"{name: a, kind: mcp, url: 'https://h/x', command: [x]}":                             "command says already",
		"{name: a, kind: website, url: 'https://h/x', command: [x]}":                         "command: means nothing",
		"{name: a, kind: files, path: x, digest_channel: general}":                           "want slack:WORKSPACE:CHANNEL",
		"{name: a, kind: files, path: x, digest_day: Mon}":                                   "want monday, tuesday",
		"{name: a, kind: files, path: x, digest_time: '9:00'}":                               "want hours and minutes",
		"{name: a, kind: files, path: x, digest_zone: Local}":                                "want the name of a time zone",
	} {
		err := readSources(t, host, "sources: ["+text+"]")
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func TestSourcesOfAllKinds(t *testing.T) {
	host := hostWith(t, map[string]string{"TOKEN": "secret-token"})
	config := Defaults(host)
	if err := errors.Join(decode(&config, "/c.yaml", []byte(`
sources:
  - {name: f, kind: files, path: /f, watch: true}
  - {name: g, kind: git, url: "git@Git.example:team/app.git", key_file: /key, known_hosts: /hosts, branch: main}
  - {name: w, kind: website, url: "https://Docs.example/guide/", key_env: TOKEN, max_pages: 50, languages: [en, pt-BR], every: never}
  - {name: c, kind: conversation, channel: "discord:1:2"}
  - {name: m, kind: mcp, command: [npx, -y, "@acme/notes"]}
`), host)...); err != nil {
		t.Fatal(err)
	}
	f, g, w := config.Sources[0], config.Sources[1], config.Sources[2]
	if c, m := config.Sources[3], config.Sources[4]; c.Place() != "discord:1:2" || c.Documents != "conversation" || m.Place() != "npx -y @acme/notes" || m.Interval() != time.Hour {
		t.Errorf("%+v, %+v", c, m)
	}
	if f.Place() != "/f" || f.Interval() != 0 || !f.Watch || f.Documents != "documentation" {
		t.Errorf("%+v", f)
	}
	if g.Place() != "ssh://git@git.example/team/app.git" || g.Interval() != time.Hour || g.Key.File != "/key" {
		t.Errorf("%+v", g)
	}
	if w.Place() != "https://docs.example/guide/" || w.Interval() != 0 || w.Key.Secret.Reveal() != "secret-token" || w.Documents != "web" {
		t.Errorf("%+v", w)
	}
	if strings.Contains(config.String(), "secret-token") {
		t.Error("the token is shown")
	}
}

func TestAddedSourcesAreKept(t *testing.T) {
	host := hostWith(t, map[string]string{"TOKEN": "secret-token"})
	file := filepath.Join(host.WorkDir, "cairn.yaml")
	text := "data_dir: data\nsources: [{name: docs, kind: files, path: docs}, {name: old, kind: files, path: old, paused: true}]\n"
	if err := errors.Join(os.WriteFile(file, []byte(text), 0o600), os.Mkdir(filepath.Join(host.WorkDir, "data"), 0o700)); err != nil {
		t.Fatal(err)
	}
	load := func() Config {
		t.Helper()
		config, err := host.Load(file)
		if err != nil {
			t.Fatal(err)
		}
		return config
	}
	config := load()
	site, err := host.ReadSource(host.WorkDir, map[string][]string{
		"name": {"site"}, "kind": {"website"}, "url": {"https://docs.example/"}, "include": {"a/**", "b/**"}, "key_env": {"TOKEN"}, "every": {"never"},
	})
	if err != nil {
		t.Fatal(err)
	}
	site.Added, site.Suspended = true, true
	config.Sources[0].Suspended = true
	config.Sources = append(config.Sources, site)
	if err := config.SaveSources(); err != nil {
		t.Fatal(err)
	}
	again := load()
	if !reflect.DeepEqual(again.Sources, config.Sources) {
		t.Errorf("read back as %+v, want %+v", again.Sources, config.Sources)
	}
	again.Sources[0].Suspended = false
	again.Sources = again.Sources[:2]
	if err := again.SaveSources(); err != nil {
		t.Fatal(err)
	}
	if last := load(); len(last.Sources) != 2 || last.Sources[0].IsPaused() || !last.Sources[1].IsPaused() {
		t.Errorf("%+v", last.Sources)
	}
	if err := os.WriteFile(filepath.Join(host.WorkDir, "data", addedFile), []byte("sources: [{name: docs, kind: files, path: x}]"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := host.Load(file); err == nil || !strings.Contains(err.Error(), "sources.yaml:1: sources[0].name: \"docs\": another source has this name") {
		t.Errorf("a name that the configuration has: %v", err)
	}
}

func TestReadSourceTellsAllThatIsWrong(t *testing.T) {
	_, err := hostWith(t, nil).ReadSource("/", map[string][]string{"name": {"A"}, "kind": {"git"}, "path": {"x"}})
	for _, want := range []string{"name: \"A\"", "path: means nothing", "url: is missing"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestGuessSourceKind(t *testing.T) {
	for place, want := range map[string]SourceKind{
		"https://acme.atlassian.net": SourceJira, "https://acme.atlassian.net/jira/software/projects/ENG/boards/1": SourceJira,
		"https://acme.atlassian.net/wiki": SourceConfluence, "https://acme.atlassian.net/wiki/spaces/ENG": SourceConfluence,
		"https://acme.atlassian.net/wikis": SourceJira, "https://atlassian.net.example.com": SourceWebsite, "https://www.notion.so": SourceNotion,
		"https://github.com": SourceWebsite, "https://github.com/acme/app": SourceGitHub, "https://github.com/acme/app.git": SourceGit,
		"https://docs.example.com/a": SourceWebsite, "git@example.com:team/app.git": SourceGit, "./docs": SourceFiles, "slack:T1:C1": SourceConversation,
	} {
		if got := GuessSourceKind(place); got != want {
			t.Errorf("%s looks like %s, want %s", place, got, want)
		}
	}
}
