package main

import (
	"bufio"
	"context"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/cairn-bot/cairn/internal/knowledge/index/postgres/postgrestest"
	"github.com/cairn-bot/cairn/internal/servertest"
)

// database is an empty one, and who may take it off the network.
type database struct{ name, address, administrator string }

func newDatabase(t *testing.T) database {
	t.Helper()
	d := database{address: servertest.Postgres(t)}
	address, err := url.Parse(d.address)
	if err != nil {
		t.Fatal(err)
	}
	d.name = strings.TrimPrefix(address.Path, "/")
	address.Path = "/postgres"
	d.administrator = address.String()
	return d
}

// down ends all connections to the database and has it take no other.
func (d database) down(ctx context.Context) error {
	_, err := postgrestest.Execute(ctx, d.administrator, "ALTER DATABASE "+d.name+" WITH ALLOW_CONNECTIONS false",
		"SELECT pg_terminate_backend(pid)::text FROM pg_stat_activity WHERE datname = '"+d.name+"'")
	return err
}

func (d database) up(ctx context.Context) error {
	_, err := postgrestest.Execute(ctx, d.administrator, "ALTER DATABASE "+d.name+" WITH ALLOW_CONNECTIONS true")
	return err
}

// databaseCommands are the commands by which scripts have a database that ends with a test.
func databaseCommands(t *testing.T) map[string]func(ts *testscript.TestScript, neg bool, args []string) {
	return map[string]func(ts *testscript.TestScript, neg bool, args []string){
		// postgres has $CAIRN_POSTGRES_URL name an empty database, and $ASKER who asks.
		"postgres": func(ts *testscript.TestScript, neg bool, args []string) {
			if neg || len(args) > 0 {
				ts.Fatalf("usage: postgres")
			}
			made := newDatabase(t)
			ts.Setenv("CAIRN_POSTGRES_URL", made.address)
			ts.Setenv("ASKER", string(author()))
		},
		// sql runs statements on it and prints the first column of the last one.
		"sql": func(ts *testscript.TestScript, neg bool, args []string) {
			if neg || len(args) == 0 {
				ts.Fatalf("usage: sql STATEMENT...")
			}
			column, err := postgrestest.Execute(t.Context(), ts.Getenv("CAIRN_POSTGRES_URL"), args...)
			ts.Check(err)
			_, err = io.WriteString(ts.Stdout(), strings.Join(column, "\n")+"\n")
			ts.Check(err)
		},
	}
}

// TestChatOutlivesAnOutage asks before, while and after the database is away, in one
// conversation.
func TestChatOutlivesAnOutage(t *testing.T) {
	made := newDatabase(t)
	home := t.TempDir()
	for name, value := range map[string]string{"HOME": home, "CAIRN_DATA_DIR": filepath.Join(home, "data"), "CAIRN_POSTGRES_URL": made.address, "CAIRN_CONFIG": ""} {
		t.Setenv(name, value)
	}
	docs := filepath.Join(home, "docs")
	if err := os.Mkdir(docs, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(docs, "leave.md"), []byte("# Leave\n\nYou have 28 days of leave a year.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	command := func(in *os.File, out *os.File, args ...string) {
		if code := run(t.Context(), args, stdio{In: in, Out: out, Err: out}); code != exitOK {
			t.Errorf("cairn %s ends with %d", args, code)
		}
	}
	nothing, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	command(nothing, os.Stderr, "migrate")
	command(nothing, os.Stderr, "ingest", "--quiet", docs)
	if err := nothing.Close(); err != nil {
		t.Error(err)
	}

	heard, typed := pipe(t)
	printed, screen := pipe(t)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer screen.Close()
		command(heard, screen, "chat")
	}()
	lines := bufio.NewScanner(printed)
	ask := func(want string) {
		t.Helper()
		if _, err := io.WriteString(typed, "how many days of leave\n"); err != nil {
			t.Fatal(err)
		}
		for lines.Scan() {
			if strings.Contains(lines.Text(), "secret") {
				t.Errorf("printed: %s", lines.Text())
			}
			if strings.Contains(lines.Text(), want) {
				return
			}
		}
		t.Fatalf("%q was never printed", want)
	}
	ask("28 days")
	if err := made.down(t.Context()); err != nil {
		t.Fatal(err)
	}
	ask("Something went wrong on my side, and there is no answer")
	if err := made.up(t.Context()); err != nil {
		t.Fatal(err)
	}
	ask("28 days")
	if err := typed.Close(); err != nil {
		t.Error(err)
	}
	for lines.Scan() { // until it has left
	}
	<-ended
}

func pipe(t *testing.T) (read, write *os.File) {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	return read, write
}
