package transfer_test

import (
	"bytes"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/settings"
	"github.com/cairn-bot/cairn/internal/curated"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/knowledge"
	index "github.com/cairn-bot/cairn/internal/knowledge/index/postgres"
	"github.com/cairn-bot/cairn/internal/pages"
	"github.com/cairn-bot/cairn/internal/pages/pagestest"
	serverpages "github.com/cairn-bot/cairn/internal/pages/postgres"
	"github.com/cairn-bot/cairn/internal/redis/conn/conntest"
	"github.com/cairn-bot/cairn/internal/runs"
	embeddedruns "github.com/cairn-bot/cairn/internal/runs/embedded"
	"github.com/cairn-bot/cairn/internal/runs/redis/redistest"
	"github.com/cairn-bot/cairn/internal/servertest"
	"github.com/cairn-bot/cairn/internal/session"
	"github.com/cairn-bot/cairn/internal/sqlite/sqlitetest"
	"github.com/cairn-bot/cairn/internal/transfer"
)

var at = time.Date(2026, 3, 14, 15, 9, 26, 535_000_000, time.UTC)

func openEmbedded(t *testing.T) transfer.Stores {
	t.Helper()
	db := sqlitetest.Open(t, t.TempDir())
	threads, err := embeddedruns.Open(t.Context(), db, runs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return transfer.Stores{Records: threads.Records(), Sessions: threads.Sessions(), Settings: settings.OpenSQLite(db), Pinned: curated.OpenSQLite(db), Pages: pages.OpenSQLite(db)}
}

func openServers(t *testing.T) transfer.Stores {
	t.Helper()
	address, database := servertest.Redis(t), servertest.Postgres(t)
	if _, err := index.Migrate(t.Context(), index.Options{URL: database, Logger: slog.New(slog.DiscardHandler)}); err != nil {
		t.Fatal(err)
	}
	written, err := serverpages.Open(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := written.Close(); err != nil {
			t.Error(err)
		}
	})
	threads := redistest.Place{Address: address, Prefix: "transfer"}.OpenStore(t, runs.Options{})
	return transfer.Stores{
		Records: threads.Records(), Sessions: threads.Sessions(), Settings: settings.OpenRedis(conntest.Connect(t, address)), Pinned: curated.OpenRedis(conntest.Connect(t, address)), Pages: written,
	}
}

// fill keeps something of each kind in stores.
func fill(t *testing.T, s transfer.Stores) {
	t.Helper()
	ctx := t.Context()
	done := runs.Record{ID: "run-1", Thread: "web:A", Flow: "answer", Author: "ann", Message: "m1", Request: "Where? <b>", Collections: []string{"handbook"}}
	done.Move(runs.Queued, at, "its message came")
	done.Move(runs.Done, at.Add(time.Second), string(chat.Answered))
	waiting := runs.Record{ID: "run-2", Thread: "web:A", Flow: "answer", Author: "ann", Message: "m2"}
	waiting.Move(runs.Waiting, at, "it asked a question")
	question := chat.Question{ID: "q1", Run: "run-2", Text: "Which?"}
	remembered := session.Session{Thread: "web:A", Flow: "answer", Waiting: &session.Waiting{Run: "run-2", Question: question}}
	remembered.Add(chat.Turn{Role: chat.Person, Author: "ann", Message: "m1", Text: "Where?", At: at})
	remembered.Add(chat.Turn{Role: chat.Bot, Message: "m1", At: at, Reply: &chat.Reply{Run: "run-1", Outcome: chat.Answered, Text: "Here [1]."}})
	remembered.Add(chat.Turn{Role: chat.Bot, Message: "m2", At: at, Question: &question})
	remembered.Rename("Places")
	created := pages.Page{ID: "p1", Title: "Leave", Audience: "group:hr", Version: 3, Root: pagestest.Root(t, "# Leave\n\nAsk Maria."), Created: at, Updated: at}
	versions := []pages.Version{
		{Page: "p1", Number: 3, Base: 2, Author: "ann", At: at, Why: "page: new", Key: "k3", Title: "Leave", Root: created.Root},
		{Page: "p1", Number: 4, Base: 3, Author: "bob", At: at.Add(time.Hour), Why: "page: append", Run: "run-1", Key: "k4", Name: "signed off", Title: "Paid leave", Root: pagestest.Root(t, "# Leave\n\n- [x] Ask *Bob*.")},
	}
	for _, err := range []error{
		s.Records.Save(ctx, done), s.Records.Save(ctx, waiting),
		s.Records.Rate(ctx, "run-1", chat.Rating{By: "ann", Verdict: chat.Down, Reason: "It is out of date.", At: at}),
		s.Sessions.Save(ctx, remembered),
		s.Settings.Put(ctx, "slack:T1", "C1", settings.Setting{Mode: settings.ModeQuestions, Collections: []string{"handbook"}}),
		s.Pinned.Put(ctx, curated.Answer{
			ID: "pin-1", Question: "Where is it?", Text: "Here.[1]", Author: "ann", Name: "Ann", Run: "run-1", RestsOn: []knowledge.DocumentID{"d:a"}, Pinned: at, Expires: at.Add(time.Hour),
			Groups: []flows.SourceGroup{{Kind: "page", Sources: []flows.Source{{Document: "d:a", Sections: []flows.Section{{Number: 1}}}}}},
		}),
		s.Pages.Create(ctx, created, versions[0]), s.Pages.Commit(ctx, versions[1]),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// exported gives the lines of an export in an order of their own.
func exported(t *testing.T, from transfer.Stores) []string {
	t.Helper()
	var file bytes.Buffer
	if _, err := transfer.Export(t.Context(), from, transfer.Source{Program: "dev", At: at, Configuration: []transfer.Shown{{Key: "log.level", Value: "info"}}}, &file); err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(file.String()), "\n")
}

// TestAnExportIsTheSameEverywhere moves all that is kept from SQLite to Redis and PostgreSQL, and
// back into another SQLite.
func TestAnExportIsTheSameEverywhere(t *testing.T) {
	first, servers, last := openEmbedded(t), openServers(t), openEmbedded(t)
	fill(t, first)
	lines := exported(t, first)
	for name, to := range map[string]transfer.Stores{"servers": servers, "another directory": last} {
		file := strings.Join(lines, "\n")
		counts, err := transfer.Import(t.Context(), to, strings.NewReader(file))
		want := transfer.Counts{Pages: 1, Versions: 2, Runs: 1, Ratings: 1, Threads: 1, Pinned: 1, Settings: 1}
		if err != nil || counts != want {
			t.Fatalf("%s: imported %+v, %v", name, counts, err)
		}
		got := exported(t, to)
		if !slices.Equal(got, lines) {
			t.Errorf("%s: exported again\n%s\nwas\n%s", name, strings.Join(got, "\n"), file)
		}
		if counts, err = transfer.Import(t.Context(), to, strings.NewReader(file)); err != nil || counts != (transfer.Counts{Kept: 5}) {
			t.Errorf("%s: imported again %+v, %v", name, counts, err)
		}
		remembered, err := to.Sessions.Load(t.Context(), "web:A")
		if err != nil || remembered.Waiting != nil || remembered.Title != "Places" || remembered.Turns[2].Answer != "left open" {
			t.Errorf("%s: the thread is %+v, %v", name, remembered, err)
		}
		page, err := to.Pages.Load(t.Context(), "p1")
		if err != nil || page.Title != "Paid leave" || page.Version != 4 || page.Audience != "group:hr" || !reflect.DeepEqual(page.Updated, at.Add(time.Hour)) {
			t.Errorf("%s: the page is %+v, %v", name, page, err)
		}
	}
}

func TestAPageGoesOnWhereAnImportBrokeOff(t *testing.T) {
	from, to := openEmbedded(t), openEmbedded(t)
	fill(t, from)
	lines := exported(t, from)
	page, err := from.Pages.LoadVersion(t.Context(), "p1", 3)
	if err != nil {
		t.Fatal(err)
	}
	created := pages.Page{ID: "p1", Title: page.Title, Audience: "group:hr", Version: 3, Root: page.Root, Created: at, Updated: page.At}
	if err := to.Pages.Create(t.Context(), created, page); err != nil {
		t.Fatal(err)
	}
	if _, err := transfer.Import(t.Context(), to, strings.NewReader(strings.Join(lines, "\n"))); err != nil {
		t.Fatal(err)
	}
	if got := exported(t, to); !slices.Equal(got, lines) {
		t.Errorf("exported again:\n%s", strings.Join(got, "\n"))
	}
}

func TestWhatIsNoExportIsRefusedByItsLine(t *testing.T) {
	const head = `{"kind":"cairn export","header":{"version":1}}` + "\n"
	for file, want := range map[string]string{
		"": "line 1: it is empty", "{}": "no export of Cairn", "hello": "line 1",
		`{"kind":"cairn export","header":{"version":2}}`:                   "upgrade cairn",
		head + `{"kind":"spell"}`:                                          "line 2: there is no entry",
		head + `{"kind":"page","page":{"id":"p","versions":1}}`:            "unexpected EOF",
		head + `{"kind":"page","page":{"id":"p","versions":-1}}`:           "no id or no version",
		head + `{"kind":"run","run":{"id":"r","record":{"version":1}}}`:    "no end",
		head + `{"kind":"run","run":{"id":"r","record":{"version":999}}}`:  "line 2: run r",
		head + `{"kind":"setting","setting":{"setting":{"mode":"shout"}}}`: "line 2",
		head + `{"kind":"thread","thread":{"id":"t","session":{}}}`:        "line 2: thread t",
	} {
		_, err := transfer.Import(t.Context(), openEmbedded(t), strings.NewReader(file))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s gives %v, want %q", file, err, want)
		}
	}
}
