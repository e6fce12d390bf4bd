package runs_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/runs"
)

// pressed is the job of testdata/job1.json.
var pressed = runs.Job{
	Event: "Ev1", Kind: runs.Said, Run: "run-1",
	Message: chat.Message{
		ID: "m1", Thread: "slack:T1:C1:1.2", Author: "U1", Text: "which?", Depth: chat.Brief,
		At: time.Date(2026, 3, 1, 12, 0, 0, 123_000_000, time.UTC), Answers: &chat.Press{Question: "q1", Choice: "a"},
	},
}

func TestJobsOfFormat1AreRead(t *testing.T) {
	body, err := os.ReadFile(filepath.Join("testdata", "job1.json"))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := runs.DecodeJob(body); err != nil || !reflect.DeepEqual(got, pressed) {
		t.Errorf("got %+v, %v, want %+v", got, err, pressed)
	}
	written, err := runs.EncodeJob(pressed)
	if err != nil || string(written) != strings.TrimSpace(string(body)) {
		t.Errorf("written as %s, %v; want %s", written, err, body)
	}
}

func TestJobsThatCannotBeKeptAreRefused(t *testing.T) {
	large := pressed
	large.Message.Text = strings.Repeat("x", runs.MaxJob)
	if _, err := runs.EncodeJob(large); !errors.Is(err, runs.ErrTooLarge) {
		t.Errorf("a job that is too large gives %v", err)
	}
	for _, job := range []runs.Job{{Event: "e"}, {Message: chat.Message{Thread: "t"}}} {
		if _, err := runs.EncodeJob(job); err == nil {
			t.Errorf("%+v was taken", job)
		}
	}
	for body, want := range map[string]string{
		`{"version":99}`: "upgrade",
		`{}`:             "version 0",
		`{"version":1}`:  "lacks",
		`nonsense`:       "read job",
	} {
		if _, err := runs.DecodeJob([]byte(body)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s gives %v, want %q in it", body, err, want)
		}
	}
}

func TestOptionsNameWhatIsWrong(t *testing.T) {
	standard, err := runs.Options{}.Complete()
	if err != nil || standard.LeaseTTL+standard.ClaimInterval > 12*time.Second {
		t.Errorf("the defaults are %+v, %v", standard, err)
	}
	_, err = runs.Options{LeaseTTL: time.Millisecond, Keep: -1, EventsKept: -1}.Complete()
	for _, name := range []string{"LeaseTTL", "Keep", "EventsKept"} {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v does not name %s", err, name)
		}
	}
}

func TestAJobKeepsItsLane(t *testing.T) {
	job := runs.Job{Event: "Ev1", Lane: runs.LaneCommands, Message: chat.Message{Thread: "web:1"}}
	body, err := runs.EncodeJob(job)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := runs.DecodeJob(body); err != nil || got.Lane != runs.LaneCommands {
		t.Errorf("got %+v, %v", got, err)
	}
	job.Lane = "x:jobs"
	if _, err := runs.EncodeJob(job); err == nil {
		t.Error("a job of an invalid lane was taken")
	}
}

func FuzzDecodeJob(f *testing.F) {
	for _, seed := range []string{`{"version":1,"event":"e","thread":"t","press":{}}`, `{"version":1,"event":"e","thread":"t","at":"x"}`, `null`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		job, err := runs.DecodeJob(body)
		if err != nil {
			return
		}
		again, err := runs.EncodeJob(job)
		if err != nil {
			return // larger than it was: the text is written with escapes
		}
		if _, err := runs.DecodeJob(again); err != nil {
			t.Errorf("%s was read and written as %s, which gives %v", body, again, err)
		}
	})
}

func TestAJobKeepsItsCollections(t *testing.T) {
	body, err := runs.EncodeJob(runs.Job{Event: "Ev1", Message: chat.Message{Thread: "web:1", Collections: []string{"handbook", "wiki"}}})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := runs.DecodeJob(body); err != nil || !slices.Equal(got.Message.Collections, []string{"handbook", "wiki"}) {
		t.Errorf("got %+v, %v", got, err)
	}
}
