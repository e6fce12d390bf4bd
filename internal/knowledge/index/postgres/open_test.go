package postgres

import (
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"net"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/knowledge/index/engine"
	"github.com/cairn-bot/cairn/internal/knowledge/index/indextest"
	"github.com/cairn-bot/cairn/internal/servertest"
)

// mustOpen opens an index; a database that is to be written to is migrated first.
func mustOpen(t *testing.T, options Options) *Index {
	t.Helper()
	if !options.ReadOnly {
		if _, err := Migrate(t.Context(), options); err != nil {
			t.Fatal(err)
		}
	}
	x, err := Open(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	})
	return x
}

// execute runs statements on a database as its owner.
func execute(t *testing.T, address string, statements ...string) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context()) // cleaning up does, too
	connection, err := pgx.Connect(ctx, address)
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range statements {
		if _, err := connection.Exec(ctx, statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	if err := connection.Close(ctx); err != nil {
		t.Error(err)
	}
}

// change gives an address with other parts.
func change(t *testing.T, address string, edit func(*url.URL)) string {
	t.Helper()
	parsed, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	edit(parsed)
	return parsed.String()
}

func withParameter(t *testing.T, address, name, value string) string {
	return change(t, address, func(u *url.URL) {
		values := u.Query()
		values.Set(name, value)
		u.RawQuery = values.Encode()
	})
}

// wantOpenError checks that an index can't be opened, for which reason, and that the
// person is told what to do and no password.
func wantOpenError(t *testing.T, options Options, reason error, remedy string) {
	t.Helper()
	x, err := Open(t.Context(), options)
	if err == nil {
		t.Fatal(errors.Join(errors.New("it opened"), x.Close()))
	}
	if reason != nil && !errors.Is(err, reason) {
		t.Errorf("error %q, want %q", err, reason)
	}
	if !strings.Contains(err.Error(), remedy) || strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "sec/") {
		t.Errorf("error %q, want it to say %q and no password", err, remedy)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	good := suiteOptions("postgres://nowhere")
	for name, spoil := range map[string]func(*Options){
		"no URL":             func(o *Options) { o.URL = "" },
		"no embedder":        func(o *Options) { o.Embedder = "" },
		"no dimension":       func(o *Options) { o.Dimension = 0 },
		"too many":           func(o *Options) { o.Dimension = 4001 },
		"connections":        func(o *Options) { o.Connections = -1 },
		"time of statements": func(o *Options) { o.Statement = -1 },
		"no logger":          func(o *Options) { o.Logger = nil },
	} {
		options := good
		spoil(&options)
		if _, err := Open(t.Context(), options); err == nil {
			t.Errorf("%s: it was opened", name)
		}
	}
}

func TestWrongAddressesAreExplained(t *testing.T) {
	address := servertest.Postgres(t)
	nobody := change(t, address, func(u *url.URL) { u.User = url.UserPassword("nobody-known", "secret") })
	closed := change(t, address, func(u *url.URL) { u.Host, u.User = closedPort(t), url.UserPassword("postgres", "secret") })
	for remedy, wrong := range map[string]string{
		"write postgres://":                  "postgres://user:secret@host:port/x",
		"no address of a database":           "postgres://user:sec/ret@host/x",
		"parameter that can't be":            "postgres://host/x?password=secret&sslmode=sometimes",
		"check that it runs":                 closed,
		"user or the password":               nobody,
		"has no database of the URL's name":  change(t, address, func(u *url.URL) { u.Path = "/never_created" }),
		"user or the password of the URL: c": "postgres://user:secret@" + refusingServer(t, invalidPassword) + "/database?sslmode=disable",
		"raise max_connections":              "postgres://user:secret@" + refusingServer(t, tooManyConnections) + "/database?sslmode=disable",
	} {
		for _, readOnly := range []bool{false, true} {
			options := suiteOptions(wrong)
			options.ReadOnly = readOnly
			wantOpenError(t, options, nil, remedy)
		}
	}
}

func closedPort(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // closed at once
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := listener.Close(); err != nil {
			t.Error(err)
		}
	}()
	return listener.Addr().String()
}

// refusingServer speaks PostgreSQL's protocol as far as refusing everybody.
func refusingServer(t *testing.T, code string) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it listens until the test ends
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			backend := pgproto3.NewBackend(connection, connection)
			if _, err := backend.ReceiveStartupMessage(); err == nil {
				backend.Send(&pgproto3.ErrorResponse{Severity: "FATAL", Code: code, Message: "refused"})
				err = backend.Flush()
				if err != nil {
					t.Errorf("refuse: %v", err)
				}
			}
			if err := connection.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		}
	}()
	t.Cleanup(func() {
		if err := listener.Close(); err != nil {
			t.Error(err)
		}
		<-ended
	})
	return listener.Addr().String()
}

func TestSecondWriterIsLockedOut(t *testing.T) {
	options := suiteOptions(servertest.Postgres(t))
	x, err := migrateAndOpen(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	wantOpenError(t, options, index.ErrLocked, "wait until")
	options.ReadOnly = true
	reader := mustOpen(t, options)
	if err := reader.Write(t.Context(), index.Batch{}); !errors.Is(err, engine.ErrReadOnly) {
		t.Errorf("write by a reader: %v", err)
	}
	if err := reader.WriteVectors(t.Context(), nil); !errors.Is(err, engine.ErrReadOnly) {
		t.Errorf("write of vectors by a reader: %v", err)
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	options.ReadOnly = false
	mustOpen(t, options)
}

func TestOtherSchemasAreRefused(t *testing.T) {
	options := suiteOptions(servertest.Postgres(t))
	reader := options
	reader.ReadOnly = true
	both := []Options{reader, options}
	for _, refused := range both {
		wantOpenError(t, refused, index.ErrSchema, "run `cairn migrate`")
	}
	if _, err := Migrate(t.Context(), options); err != nil {
		t.Fatal(err)
	}
	wantOpenError(t, reader, fs.ErrNotExist, "run `cairn ingest` first")
	execute(t, options.URL, "DELETE FROM "+versionTable+" WHERE version_id > 1")
	for _, refused := range both {
		wantOpenError(t, refused, index.ErrSchema, "run `cairn migrate`")
	}
	execute(t, options.URL, "INSERT INTO "+versionTable+" (version_id, is_applied) VALUES (9999, true)")
	for _, refused := range both {
		wantOpenError(t, refused, index.ErrSchema, "use the newer")
	}
	if _, err := Migrate(t.Context(), options); !errors.Is(err, index.ErrSchema) {
		t.Errorf("migrate from a newer schema: %v", err)
	}
}

func TestAnOtherAnalysisIsRefusedUntilTheIndexIsBuiltAnew(t *testing.T) {
	options := suiteOptions(servertest.Postgres(t))
	if _, err := Migrate(t.Context(), options); err != nil {
		t.Fatal(err)
	}
	write := func(x *Index, text string) {
		t.Helper()
		if err := x.Write(t.Context(), index.Batch{Put: []index.Entry{indextest.TextEntry("a", text)}}); err != nil {
			t.Fatal(err)
		}
	}
	x := mustOpen(t, options)
	write(x, "alpha")
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	execute(t, options.URL, "UPDATE cairn.meta SET analysis = 1")
	reader := options
	reader.ReadOnly = true
	for _, refused := range []Options{reader, options} {
		wantOpenError(t, refused, index.ErrSchema, "--rebuild")
	}
	rebuilt := options
	rebuilt.Rebuild = true
	x = mustOpen(t, rebuilt)
	if err := x.Clear(t.Context()); err != nil {
		t.Fatal(err)
	}
	write(x, "beta")
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	if x = mustOpen(t, reader); indextest.CountHits(t, x, "beta") != 1 {
		t.Error("what was built anew is not found")
	}
}

// TestMigrationSaysWhatItDoes begins with the first schema, filled as its program did.
func TestMigrationSaysWhatItDoes(t *testing.T) {
	options := suiteOptions(servertest.Postgres(t))
	due, err := DueMigration(t.Context(), options)
	if err != nil || due.From != 0 || due.To != newestSchema() || due.Extension != "" || !due.IsDue() {
		t.Errorf("due on an empty database: %+v, %v", due, err)
	}
	first, err := migrations.ReadFile("migrations/00001_index.sql")
	if err != nil {
		t.Fatal(err)
	}
	execute(t, options.URL, "CREATE EXTENSION vector", "CREATE SCHEMA cairn", string(first),
		"CREATE TABLE "+versionTable+" (id integer PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY, version_id bigint NOT NULL, is_applied boolean NOT NULL, tstamp timestamp NOT NULL DEFAULT now())",
		"INSERT INTO "+versionTable+" (version_id, is_applied) VALUES (0, true), (1, true)",
		"INSERT INTO cairn.embedder (name, dimension) VALUES ('whole', 3), ('half', 3)", "CREATE TABLE cairn.vector_1 (slot integer, class integer)", "CREATE TABLE cairn.vector_2 (slot integer, class integer)",
		"INSERT INTO cairn.slot SELECT n, 1, 1, n, 0, 0, 0 FROM generate_series(0, 9) n", "UPDATE cairn.meta SET next_slot = 10",
		"INSERT INTO cairn.vector_1 SELECT slot FROM cairn.slot", "INSERT INTO cairn.vector_2 SELECT slot FROM cairn.slot WHERE slot <> 4")
	made, err := Migrate(t.Context(), options)
	if err != nil || made.From != 1 || made.To != newestSchema() || made.Installed || made.Extension == "" || !made.IsDue() {
		t.Fatalf("migrate from the first schema: %+v, %v", made, err)
	}
	connection, err := pgx.Connect(t.Context(), options.URL)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := connection.Query(t.Context(), "SELECT embedded_below FROM cairn.embedder ORDER BY id")
	if err != nil {
		t.Fatal(err)
	}
	progress, err := pgx.CollectRows(rows, pgx.RowTo[int])
	if err != nil || !slices.Equal(progress, []int{10, 4}) {
		t.Errorf("embedders are at %v, %v", progress, err)
	}
	if err := connection.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if again, err := Migrate(t.Context(), options); err != nil || again.IsDue() {
		t.Errorf("migrate again: %+v, %v", again, err)
	}
}

// TestMigrationFillsWhatWritesKeepUp empties what a migration made of the passages that were
// there, and has it make it again.
func TestMigrationFillsWhatWritesKeepUp(t *testing.T) {
	options := suiteOptions(servertest.Postgres(t))
	x := mustOpen(t, options)
	random := rand.New(rand.NewPCG(3, 8))
	for range 30 {
		mustWrite(t, x, indextest.RandomBatch(random))
	}
	if err := x.Verify(t.Context()); err != nil {
		t.Fatal(err)
	}
	execute(t, options.URL, "TRUNCATE cairn.block", "UPDATE cairn.class SET documents = -1, passages = 0, generation = 0",
		"UPDATE cairn.meta SET next_class = 0, title_terms = 0, heading_terms = 0, body_terms = 0")
	script, err := migrations.ReadFile("migrations/00008_blocks.sql")
	if err != nil {
		t.Fatal(err)
	}
	for statement := range strings.SplitSeq(string(script), ";\n") {
		lines := strings.Split(strings.TrimSpace(statement), "\n")
		lines = slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, "--") || line == "" })
		if len(lines) > 0 && (strings.HasPrefix(lines[0], "UPDATE") || strings.HasPrefix(lines[0], "INSERT")) {
			execute(t, options.URL, strings.Join(lines, "\n"))
		}
	}
	again := mustOpen(t, func() Options { o := options; o.ReadOnly = true; return o }())
	if err := again.Verify(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestUnfitExtensionsAreExplained puts views in front of the server's catalogue.
func TestUnfitExtensionsAreExplained(t *testing.T) {
	for remedy, views := range map[string][]string{
		"install its package": {"CREATE VIEW front.pg_available_extensions AS SELECT 'other'::text AS name"},
		"0.8.0 or later":      {"CREATE VIEW front.pg_extension AS SELECT 'vector'::text AS extname, '0.7.4'::text AS extversion"},
	} {
		options := suiteOptions(servertest.Postgres(t))
		execute(t, options.URL, append([]string{"CREATE SCHEMA front"}, views...)...)
		options.URL = withParameter(t, options.URL, "search_path", "front,pg_catalog,public")
		if _, err := Migrate(t.Context(), options); err == nil || !strings.Contains(err.Error(), remedy) {
			t.Errorf("migrate: %v, want %q", err, remedy)
		}
	}
}

func TestMissingRightsAreExplained(t *testing.T) {
	address := servertest.Postgres(t)
	database := strings.TrimPrefix(change(t, address, func(u *url.URL) { *u = url.URL{Path: u.Path} }), "/")
	user := "weak_" + database
	execute(t, address, "CREATE ROLE "+user+" LOGIN")
	t.Cleanup(func() { execute(t, address, "DROP OWNED BY "+user, "DROP ROLE "+user) })
	weak := suiteOptions(change(t, address, func(u *url.URL) { u.User = url.User(user) }))
	wantRefused := func(remedy string) {
		t.Helper()
		if _, err := Migrate(t.Context(), weak); err == nil || !strings.Contains(err.Error(), remedy) {
			t.Errorf("migrate: %v, want %q", err, remedy)
		}
	}
	wantRefused("have an administrator run CREATE EXTENSION vector in database " + database)
	execute(t, address, "CREATE EXTENSION vector")
	wantRefused("lacks a right")
	execute(t, address, "GRANT CREATE ON DATABASE "+database+" TO "+user)
	mustOpen(t, weak)
}
