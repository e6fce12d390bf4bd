package main

import (
	"archive/tar"
	"compress/gzip"
	"database/sql"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/runs"
	"github.com/cairn-bot/cairn/internal/runs/embedded"
	"github.com/cairn-bot/cairn/internal/sqlite"
)

// TestDataOfAFormerProgramIsKept opens a data directory that a former program made, see
// testdata/upgrade/make.sh, and looks at everything in it.
func TestDataOfAFormerProgramIsKept(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	unpackFile(t, "testdata/upgrade/data.tar.gz", home)
	data := filepath.Join(home, "data")
	waiting, err := filepath.Glob(filepath.Join(data, "waiting", "*"))
	if err != nil || len(waiting) != 1 {
		t.Fatalf("the runs that wait are %q, %v", waiting, err)
	}
	makeRecent(t, filepath.Join(data, "cairn.db"))

	checkThreads(t, data)
	cairn := &program{t: t, env: append(os.Environ(), "HOME="+home, "CAIRN_DATA_DIR="+data)}
	for _, asked := range []struct {
		args string
		want []string
	}{
		{"status", []string{"threads and runs  " + data + ": answers", "2 documents, 4 passages"}},
		{"ask Where do I return my laptop?", []string{"Return your laptop to the IT desk on your last day.", "laptops.md#returning-a-laptop"}},
		{"runs", []string{"  answer  ", "  page  ", "  waiting  "}},
		{"sources list", []string{"handbook  files"}},
		{"page list", []string{"Paid leave, p", "version 2"}},
		{"reply " + filepath.Base(waiting[0]) + " approve --out " + home, []string{"last-day_analysis.md"}},
	} {
		out, err := cairn.command(strings.Fields(asked.args)...).CombinedOutput()
		if err != nil {
			t.Errorf("cairn %s: %v\n%s", asked.args, err, out)
		}
		for _, want := range asked.want {
			if !strings.Contains(string(out), want) {
				t.Errorf("cairn %s does not say %q:\n%s", asked.args, want, out)
			}
		}
	}
}

// checkThreads looks into the conversation that was had, the records of its runs, and their rating.
func checkThreads(t *testing.T, data string) {
	t.Helper()
	ctx := t.Context()
	db, err := sqlite.OpenData(ctx, data)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	kept, err := embedded.Open(ctx, db, runs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	records, err := kept.Records().List(ctx, runs.Filter{Status: runs.Done}, 10)
	if err != nil {
		t.Fatal(err)
	}
	said := make(map[string]bool)
	rated := 0
	for _, listed := range records {
		record, err := kept.Records().Load(ctx, listed.ID)
		if err != nil {
			t.Fatal(err)
		}
		rated += len(record.Ratings)
		saved, err := kept.Sessions().Load(ctx, record.Thread)
		if err != nil {
			t.Fatal(err)
		}
		for _, turn := range saved.Turns {
			said[turn.Text] = true
			if turn.Reply != nil {
				said[turn.Reply.Text] = true
			}
		}
	}
	for _, want := range []string{
		"Where do I return my laptop?", "Return your laptop to the IT desk on your last day. [1]",
		"Who orders a new one?", "New laptops are ordered by the IT desk in room 4. Delivery takes five working days. [1]",
	} {
		if !said[want] {
			t.Errorf("nobody said %q any more: %v", want, said)
		}
	}
	if len(records) != 4 || rated != 1 {
		t.Errorf("%d runs with %d ratings, want 4 with 1", len(records), rated)
	}
}

// makeRecent has a database say that everything in it was saved just now: what is a month old is
// forgotten.
func makeRecent(t *testing.T, file string) {
	t.Helper()
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, table := range []string{"checkpoint", "session", "record"} {
		if _, err := db.ExecContext(t.Context(), "UPDATE "+table+" SET updated = ?", time.Now().Unix()); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
	}
}

// unpackFile unpacks a .tar.gz into a folder.
func unpackFile(t *testing.T, file, folder string) {
	t.Helper()
	packed, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	unpacked, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	for archive := tar.NewReader(unpacked); ; {
		entry, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(folder, filepath.FromSlash(entry.Name))
		if entry.Typeflag == tar.TypeDir {
			err = os.MkdirAll(to, 0o700)
		} else {
			var content []byte
			if content, err = io.ReadAll(archive); err == nil {
				err = os.WriteFile(to, content, 0o600)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
