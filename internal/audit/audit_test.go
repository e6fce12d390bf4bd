package audit_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/audit"
)

// line is an entry as it is written.
type line struct {
	Time                                        time.Time
	Level, Msg                                  string
	Actor, Action, Target, Outcome, From, Extra string
}

func read(t *testing.T, data []byte) []line {
	t.Helper()
	var all []line
	for text := range strings.Lines(string(data)) {
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.DisallowUnknownFields()
		var one line
		if err := decoder.Decode(&one); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		all = append(all, one)
	}
	return all
}

func open(t *testing.T, stream *bytes.Buffer, path string) *audit.Writer {
	t.Helper()
	log, err := audit.Open(stream, path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	})
	return log
}

func TestRecord(t *testing.T) {
	var stream bytes.Buffer
	path := filepath.Join(t.TempDir(), "audit.log")
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	entry := audit.Entry{Time: at, Actor: "ann", Action: audit.CancelRun, Target: "run-1", Outcome: audit.Done, From: "terminal"}
	for range 2 { // a second process appends
		if err := open(t, &stream, path).Record(t.Context(), entry); err != nil {
			t.Fatal(err)
		}
	}
	want := line{Time: at, Level: "AUDIT", Msg: "audit", Actor: "ann", Action: "run.cancel", Target: "run-1", Outcome: "done", From: "terminal"}
	filed, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, where := range [][]byte{stream.Bytes(), filed} {
		if got := read(t, where); len(got) != 2 || got[0] != want || got[1] != want {
			t.Errorf("got %+v, want twice %+v", got, want)
		}
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if mode := info.Mode().Perm(); mode != 0o600 {
		t.Errorf("the file's mode is %o", mode)
	}
}

func TestAnEntryStaysOneBoundedLine(t *testing.T) {
	var stream bytes.Buffer
	log := open(t, &stream, "")
	entry := audit.Entry{Actor: "a\n{\"level\":\"AUDIT\"}\x1b[0m\xff", Action: audit.SignIn, Target: strings.Repeat("é", 1000), Outcome: audit.Refused}
	if err := log.Record(t.Context(), entry); err != nil {
		t.Fatal(err)
	}
	got := read(t, stream.Bytes())
	if len(got) != 1 || got[0].Actor != `a{"level":"AUDIT"}[0m` || got[0].Target != strings.Repeat("é", 200) {
		t.Errorf("got %+v", got)
	}
	if got[0].Time.IsZero() {
		t.Error("the entry has no time")
	}
}

func TestWhatIsNoEntry(t *testing.T) {
	var stream bytes.Buffer
	log := open(t, &stream, "")
	for _, entry := range []audit.Entry{
		{Action: audit.SignIn, Outcome: audit.Done},
		{Actor: "ann", Outcome: audit.Done},
		{Actor: "ann", Action: audit.SignIn},
	} {
		if err := log.Record(t.Context(), entry); err == nil {
			t.Errorf("%+v was recorded", entry)
		}
	}
	if stream.Len() != 0 {
		t.Errorf("written: %s", stream.Bytes())
	}
}

func TestAFileThatCanNotBeWritten(t *testing.T) {
	_, err := audit.Open(&bytes.Buffer{}, filepath.Join(t.TempDir(), "missing", "audit.log"))
	if err == nil || !strings.Contains(err.Error(), "set audit.file") {
		t.Errorf("got %v", err)
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("no room") }

func TestAStreamThatFails(t *testing.T) {
	log, err := audit.Open(broken{}, "")
	if err != nil {
		t.Fatal(err)
	}
	err = log.Record(t.Context(), audit.Entry{Actor: "ann", Action: audit.SignIn, Outcome: audit.Done})
	if err == nil || !strings.Contains(err.Error(), "no room") {
		t.Errorf("got %v", err)
	}
}

func TestManyAtOnce(t *testing.T) {
	var stream bytes.Buffer
	log := open(t, &stream, "")
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			if err := log.Record(t.Context(), audit.Entry{Actor: "ann", Action: audit.ReplayRun, Outcome: audit.Of(errors.New("x"))}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	got := read(t, stream.Bytes())
	if len(got) != 50 || got[0].Outcome != "failed" {
		t.Errorf("%d entries, the first %+v", len(got), got[0])
	}
}

// FuzzRecord: whatever an entry is made of, it is one line of JSON that holds its texts
// cleaned and cut.
func FuzzRecord(f *testing.F) {
	f.Add("ann", "run-1", "terminal")
	f.Add("a\n{\"level\":\"AUDIT\"}", "\x1b]0;x\x07", "\xff\u2028")
	f.Fuzz(func(t *testing.T, actor, target, from string) {
		var stream bytes.Buffer
		log, err := audit.Open(&stream, "")
		if err != nil {
			t.Fatal(err)
		}
		entry := audit.Entry{Actor: actor, Action: audit.SignIn, Target: target, Outcome: audit.Refused, From: from}
		if err := log.Record(t.Context(), entry); actor == "" && err != nil {
			return
		} else if err != nil {
			t.Fatal(err)
		}
		got := read(t, stream.Bytes())
		if len(got) != 1 || got[0].Level != "AUDIT" || got[0].Outcome != "refused" {
			t.Fatalf("got %q", stream.Bytes())
		}
		for _, text := range []string{got[0].Actor, got[0].Target, got[0].From} {
			if len([]rune(text)) > 200 || strings.ContainsAny(text, "\n\r\x1b\x00") {
				t.Fatalf("got %q", text)
			}
		}
	})
}
