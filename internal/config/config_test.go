package config

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/retrieve"
	"github.com/cairn-bot/cairn/internal/llm"
)

// testHost is a machine with an empty home, working directory and environment.
func testHost(t *testing.T) Host {
	t.Helper()
	return Host{OS: "linux", Home: t.TempDir(), WorkDir: t.TempDir(), Getenv: func(string) string { return "" }}
}

func (h Host) with(variables map[string]string) Host {
	h.Getenv = func(name string) string { return variables[name] }
	return h
}

func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// What holds where nothing is said.
var (
	defaultSlack   = Slack{Mode: SlackOff, Listen: "127.0.0.1:3000", Listening: SlackHearsMentions}
	defaultDiscord = Discord{Mode: DiscordOff, Listen: "127.0.0.1:3001", PerSecond: 50, Listening: DiscordHearsMentions, Reply: DiscordInThread}
	defaultAccess  = Access{Web: WebPublic, Retract: RetractDeleted}
	defaultSearch  = Search{Fusion: retrieve.DefaultFusion.Method, DenseWeight: retrieve.DefaultFusion.Dense, QueryLog: QueriesHashed, QueryDays: 30}
)

func TestLoadWithoutFile(t *testing.T) {
	host := testHost(t)
	got, err := host.Load("")
	if err != nil {
		t.Fatal(err)
	}
	want := Config{
		DataDir:  filepath.Join(host.Home, ".local/share/cairn"),
		Postgres: Postgres{Connections: 8, Statement: 10 * time.Second, BuildMemory: 512 << 20},
		Web:      Web{Listen: "127.0.0.1:0"},
		Slack:    defaultSlack,
		Discord:  defaultDiscord,
		Access:   defaultAccess,
		Answer:   Answer{Depth: chat.Detailed, MaxSources: 10, SidePages: 0.75, PinDays: 180},
		Search:   defaultSearch,
		Log:      Log{Level: slog.LevelInfo, Format: LogText},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("config %+v, want %+v", got, want)
	}
}

func TestExampleHoldsTheDefaults(t *testing.T) {
	host := testHost(t)
	write(t, host.WorkDir, "cairn.yaml", Example())
	got, err := host.Load("")
	if err != nil {
		t.Fatal(err)
	}
	want := Defaults(host)
	want.File = filepath.Join(host.WorkDir, "cairn.yaml")
	want.Sources = []Source{{
		Name: "docs", Kind: SourceFiles, Path: filepath.Join(host.WorkDir, "docs"),
		Documents: knowledge.KindDocumentation, MaxDocumentBytes: 32 << 20,
	}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("config %+v, want %+v", got, want)
	}
}

func TestLoadEverySetting(t *testing.T) {
	host := testHost(t)
	path := write(t, host.WorkDir, "etc/c.yaml", `
data_dir: ../data
redis: {url: "redis+sentinel://h:1/main"}
postgres:
  url: postgres://cairn@h:5432/cairn?sslmode=verify-full
  read_url: postgresql://h/cairn
  connections: 3
  statement_timeout: 2s
  build_memory: 2GiB
web: {listen: ":0"}
access:
  web: everything
  groups: ["legal=user:Ada@example.com", "legal=group:slack:S1", "hr=team:slack:T1"]
  operators: ["user:Ada@example.com"]
  retract: closed
answer:
  depth: brief
  max_sources: 3
  pin_days: 30
search:
  fusion: rrf
  dense_weight: 1
  query_log: plain
  query_log_days: 7
log: {level: debug, format: json}
sources:
  - name: handbook
    kind: files
    path: ~/handbook
    include: ["**/*.md", '*.pdf']
    exclude:
      - drafts/**
    url_base: https://example.com/h
    kind_of_documents: page
    max_document_bytes: 1.5 MB
    audience: ["group:legal", "user:Bob@example.com"]
    owner: Legal team
    owners: ["group:legal"]
  - {name: b, kind: files, path: /srv/b}
`)
	got, err := host.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	want := Config{
		File:    path,
		DataDir: filepath.Join(host.WorkDir, "data"),
		Redis:   Redis{Address{URL: llm.NewSecret("redis+sentinel://h:1/main")}},
		Postgres: Postgres{
			Address: Address{URL: llm.NewSecret("postgres://cairn@h:5432/cairn?sslmode=verify-full")},
			Read:    Address{URL: llm.NewSecret("postgresql://h/cairn")}, Connections: 3, Statement: 2 * time.Second,
			BuildMemory: 2 << 30,
		},
		Web:     Web{Listen: ":0"},
		Answer:  Answer{Depth: chat.Brief, MaxSources: 3, SidePages: 0.75, PinDays: 30},
		Search:  Search{Fusion: retrieve.RRF, DenseWeight: 1, QueryLog: QueriesPlain, QueryDays: 7},
		Slack:   defaultSlack,
		Discord: defaultDiscord,
		Access: Access{Web: WebEverything, Retract: RetractClosed, Operators: []knowledge.Principal{"user:ada@example.com"}, Groups: map[knowledge.Principal][]knowledge.Principal{
			"group:legal": {"user:ada@example.com", "group:slack:S1"}, "group:hr": {"team:slack:T1"},
		}},
		Log: Log{Level: slog.LevelDebug, Format: LogJSON},
		Sources: []Source{
			{
				Name: "handbook", Kind: SourceFiles, Path: filepath.Join(host.Home, "handbook"),
				Include: []string{"**/*.md", "*.pdf"}, Exclude: []string{"drafts/**"},
				URLBase: "https://example.com/h", Documents: knowledge.KindPage, MaxDocumentBytes: 1_500_000,
				Audience: []knowledge.Principal{"group:legal", "user:bob@example.com"}, Owner: "Legal team", Owners: []knowledge.Principal{"group:legal"},
			},
			{Name: "b", Kind: SourceFiles, Path: "/srv/b", Documents: knowledge.KindDocumentation, MaxDocumentBytes: 32 << 20},
		},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("config %+v, want %+v", got, want)
	}
}

func TestEnvironmentGoesOverTheFile(t *testing.T) {
	host := testHost(t)
	write(t, host.WorkDir, "cairn.yaml", "answer: {depth: brief, max_sources: 3}")
	got, err := host.with(map[string]string{"CAIRN_ANSWER_DEPTH": "comprehensive", "CAIRN_DATA_DIR": "here", "CAIRN_LOG_LEVEL": ""}).Load("")
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got.Answer, Answer{Depth: chat.Comprehensive, MaxSources: 3, SidePages: 0.75, PinDays: 180}) || got.DataDir != filepath.Join(host.WorkDir, "here") || got.Log.Level != slog.LevelInfo {
		t.Errorf("config %+v", got)
	}
}

func TestLoadReportsEverythingAtOnce(t *testing.T) {
	host := testHost(t)
	path := write(t, host.WorkDir, "cairn.yaml", `data_dir: ""
web:
  listn: 127.0.0.1:1
  listen: 8080
colour: red
answer: brief
search:
  fusion: magic
  dense_weight: 1.5
log:
  level: [info]
  format:
sources:
  - name: Docs
    kind: files
    include: "*.md"
    exclude: ["", "[", {a: b}]
  - kind: folder
    path: /srv
    url_base: example.com
    max_document_bytes: 3GiB
  - &a {name: x, kind: files, path: p}
  - just text
  - {name: y, kind: files, path: p}
  - {name: y, kind: files, path: ~}
`)
	_, err := host.with(map[string]string{"CAIRN_ANSWER_MAX_SOURCES": "0", "CAIRN_WEB_LISTEN": "h:99999"}).Load("")
	if err == nil {
		t.Fatal("no error")
	}
	want := []string{
		`1: data_dir: must not be empty`,
		`3: web.listn: unknown key, did you mean listen?`,
		`4: web.listen: "8080": want host:port, such as 127.0.0.1:8080`,
		`5: colour: unknown key, want one of sources, models, data_dir, redis, postgres, slack, discord, flows, inspect, access, limits, audit, web, webhooks, answer, search, budget, ocr, log, telemetry, operations`,
		`6: answer: want keys with values, such as "key: value"`,
		`8: search.fusion: "magic": want convex, rrf`,
		`9: search.dense_weight: "1.5": want a number from 0 to 1`,
		`11: log.level: want a single plain value`,
		`14: sources[0].name: "Docs": want 1 to 64 lower-case letters, digits, - and _, a letter or digit first`,
		`16: sources[0].include: want a list, such as ["a", "b"]`,
		`17: sources[0].exclude: an empty pattern matches nothing: remove it`,
		`17: sources[0].exclude: "[" is no valid pattern: want one such as docs/**/*.md`,
		`17: sources[0].exclude: want a single plain value`,
		`14: sources[0].path: is missing`,
		`18: sources[1].kind: "folder": want files, git, website, github, gitlab, gitea, conversation, mcp, confluence, jira, notion, drive`,
		`20: sources[1].url_base: "example.com": want an address that starts with http:// or https://`,
		`21: sources[1].max_document_bytes: "3GiB": want a size from 1.0 KiB to 1.0 GiB, such as 32MiB`,
		`18: sources[1].name: is missing`,
		`22: sources[2]: want keys with values, such as "key: value"`,
		`23: sources[3]: want keys with values, such as "key: value"`,
		`25: sources[5].name: "y": another source has this name`,
		`25: sources[5].path: is missing`,
	}
	for i := range want {
		want[i] = path + ":" + want[i]
	}
	want = append(want,
		`environment variable CAIRN_WEB_LISTEN: "h:99999": want host:port, such as 127.0.0.1:8080`,
		`environment variable CAIRN_ANSWER_MAX_SOURCES: "0": want a whole number from 1 to 50`)
	if got := strings.Split(err.Error(), "\n"); !slices.Equal(got, want) {
		t.Errorf("errors:\n%s\nwant:\n%s", err, strings.Join(want, "\n"))
	}
}

func TestLoadRefusesWhatIsNoSettingsFile(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"syntax", "web:\n  listen: \"x\n", "cairn.yaml:2: "},
		{"key twice", "log:\n  level: info\n  level: warn\n", "cairn.yaml:3: "},
		{"two documents", "---\nlog: {}\n---\nweb: {}\n", "holds 2 YAML documents, want one"},
		{"a list", "- a\n", `cairn.yaml:1: the file: want keys with values`},
		{"not UTF-8", "log: \xff", "is not UTF-8 text"},
		{"too large", strings.Repeat("#", maxFile+1), "is larger than 1048576 bytes: is it the right file?"},
		{"merged in", "web: &w {listen: \":1\"}\nlog:\n  <<: *w\n", "log.<<: unknown key, want one of level, format"},
	} {
		t.Run(test.name, func(t *testing.T) {
			host := testHost(t)
			write(t, host.WorkDir, "cairn.yaml", test.text)
			_, err := host.Load("")
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}

func TestLoadEmptyFiles(t *testing.T) {
	for _, text := range []string{"", "\n", "# nothing\n", "---\n", "sources:\nweb:\n  listen:\n"} {
		host := testHost(t)
		path := write(t, host.WorkDir, "cairn.yaml", text)
		got, err := host.Load("")
		want := Defaults(host)
		want.File = path
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: config %+v, error %v", text, got, err)
		}
	}
}

func TestLoadWithoutHome(t *testing.T) {
	host := testHost(t)
	host.Home = ""
	if _, err := host.Load(""); err == nil || !strings.Contains(err.Error(), "set data_dir or CAIRN_DATA_DIR") {
		t.Errorf("error %v", err)
	}
	config, err := host.with(map[string]string{"CAIRN_DATA_DIR": "/data"}).Load("")
	if err != nil || config.DataDir != "/data" {
		t.Errorf("data_dir %q, error %v", config.DataDir, err)
	}
	if _, err := host.Load("~/c.yaml"); err == nil || !strings.Contains(err.Error(), "no home directory") {
		t.Errorf("error %v", err)
	}
}

func TestLocate(t *testing.T) {
	host := testHost(t)
	user := write(t, host.Home, ".config/cairn/cairn.yaml", "")
	check := func(flag string, host Host, want string) {
		t.Helper()
		if got, err := host.Locate(flag); err != nil || got != want {
			t.Errorf("Locate(%q) = %q, %v; want %q", flag, got, err, want)
		}
	}
	check("", host, user)
	local := write(t, host.WorkDir, "cairn.yaml", "")
	check("", host, local)
	named := write(t, host.WorkDir, "named.yaml", "")
	byVariable := host.with(map[string]string{"CAIRN_CONFIG": "named.yaml"})
	check("", byVariable, named)
	check(local, byVariable, local)

	for flag, want := range map[string]string{
		"nowhere.yaml": "--config names " + filepath.Join(host.WorkDir, "nowhere.yaml") + ", which is not there",
		host.Home:      "is a folder, not a configuration file",
	} {
		if _, err := host.Locate(flag); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Locate(%q): error %v, want %q", flag, err, want)
		}
	}
}

func TestUserDirectories(t *testing.T) {
	variables := map[string]string{"XDG_DATA_HOME": "/xdg/data", "XDG_CONFIG_HOME": "relative", "LocalAppData": "/local", "AppData": "/roaming"}
	for _, test := range []struct{ os, data, config string }{
		{"linux", "/xdg/data/cairn", "/home/u/.config/cairn"},
		{"freebsd", "/xdg/data/cairn", "/home/u/.config/cairn"},
		{"darwin", "/home/u/Library/Application Support/cairn", "/home/u/Library/Application Support/cairn"},
		{"windows", "/local/cairn", "/roaming/cairn"},
	} {
		host := Host{OS: test.os, Home: "/home/u"}.with(variables)
		if data, config := host.dataDir(), host.configDir(); data != test.data || config != test.config {
			t.Errorf("%s: data %q, config %q; want %q and %q", test.os, data, config, test.data, test.config)
		}
	}
}

func TestStringReadsBack(t *testing.T) {
	host := testHost(t)
	want := Defaults(host)
	want.DataDir = "/a b/ü\t\"#:"
	want.Log.Level = slog.LevelWarn
	want.Sources = []Source{
		{
			Name: "null", Kind: SourceFiles, Path: "/null", Include: []string{"*.md", "a, b"},
			URLBase: "https://example.com/#x", Documents: knowledge.KindWeb, MaxDocumentBytes: 1500,
		},
		{Name: "1", Kind: SourceFiles, Path: "/p", Documents: knowledge.KindCode, MaxDocumentBytes: 1 << 30},
	}
	got := Defaults(host)
	if err := errors.Join(decode(&got, "/c.yaml", []byte(want.String()), host)...); err != nil {
		t.Fatalf("%v in\n%s", err, want)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("read back %+v, want %+v\n%s", got, want, want)
	}
}

// The page that describes the settings must name each one, its variable and the
// example as it is.
func TestDocumentation(t *testing.T) {
	data, err := os.ReadFile("../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	want := []string{Example(), "`CAIRN_CONFIG`"}
	for _, s := range settings {
		want = append(want, "`"+s.key+"`", "`"+s.env+"`")
	}
	for _, s := range sourceSettings {
		want = append(want, "`"+s.key+"`")
	}
	for _, s := range modelSettings {
		want = append(want, "`"+s.key+"`")
	}
	for _, variable := range []string{envModelURL, envModelName, envModelKey, envModelKeyFile} {
		want = append(want, "`"+variable+"`")
	}
	for _, text := range want {
		if !strings.Contains(page, text) {
			t.Errorf("docs/configuration.md does not hold:\n%s", text)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(Example())
	f.Add("data_dir: x\nsources: [{name: a, kind: files, path: ~/p, include: ['**']}]\n")
	f.Add("web: {listen: \"\\x41:1\"}\nlog: {level: warn}\n# c\n")
	f.Add("models: [{roles: [embed], model: e, base_url: 'http://h/', context: 512, retries: 0}]\nbudget: {day_cost: 1e-7}\n")
	f.Add("models:\n- {roles: [answer, verify], model: m, base_url: http://h, temperature: 0.1, timeout: 90s, price_prompt: 0.15}\nanswer: {link_hosts: [a.b]}\n")
	f.Add("redis: {url: 'redis://h'}\npostgres: {url: 'postgres://u@h:1/d?sslmode=disable', read_url: 'postgres://h/d', build_memory: 3MB}\nsearch: {query_log: off}\n")
	f.Add("? a\n: - &b !!str |\n   x\n...\n")
	host := Host{OS: "linux", Home: "/home/u", WorkDir: "/work", Getenv: func(string) string { return "" }}
	f.Fuzz(func(t *testing.T, text string) {
		config := Defaults(host)
		if len(decode(&config, "/etc/cairn.yaml", []byte(text), host)) > 0 {
			return
		}
		// What is accepted is shown so that it reads back as the same settings.
		again := Defaults(host)
		if err := errors.Join(decode(&again, "/elsewhere/cairn.yaml", []byte(config.String()), host)...); err != nil {
			t.Fatalf("%v in\n%s", err, config.String())
		}
		if !slices.EqualFunc(config.Sources, again.Sources, sameSource) {
			t.Errorf("sources %+v read back as %+v", config.Sources, again.Sources)
		}
		config.Sources, again.Sources = nil, nil
		if len(config.Answer.LinkHosts) == 0 { // [] and nothing are the same
			config.Answer.LinkHosts, again.Answer.LinkHosts = nil, nil
		}
		if !reflect.DeepEqual(config, again) {
			t.Errorf("%+v reads back as %+v", config, again)
		}
	})
}

func sameSource(a, b Source) bool {
	same := slices.Equal(a.Include, b.Include) && slices.Equal(a.Exclude, b.Exclude)
	a.Include, b.Include, a.Exclude, b.Exclude = nil, nil, nil, nil
	return same && reflect.DeepEqual(a, b)
}
