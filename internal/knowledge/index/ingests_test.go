package index

import (
	"errors"
	"os"
	"reflect"
	"testing"
	"time"
)

func TestAStateOfTheFirstVersionIsRead(t *testing.T) {
	body, err := os.ReadFile("testdata/ingest1.json")
	if err != nil {
		t.Fatal(err)
	}
	got, err := DecodeIngest("docs", body)
	if err != nil {
		t.Fatal(err)
	}
	want := IngestState{
		Source: "docs", Began: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), Ended: time.Date(2026, 3, 1, 12, 0, 9, 250000000, time.UTC),
		Seen: 12, Changed: 3, Deleted: 1, Passages: 40, Failed: 2, Reason: "interrupted",
		Failures: []IngestFailure{{Document: "a/broken.pdf", Reason: "it is no PDF"}, {Document: "b/secret.docx", Reason: "it is encrypted"}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestAStateOfANewerProgramIsRefused(t *testing.T) {
	if _, err := DecodeIngest("docs", []byte(`{"version":2}`)); !errors.Is(err, ErrSchema) {
		t.Errorf("got %v, want ErrSchema", err)
	}
}

func FuzzDecodeIngest(f *testing.F) {
	f.Add([]byte(`{"version":1,"began":"2026-03-01T12:00:00Z","seen":1,"failures":[{"document":"a","reason":"b"}]}`))
	f.Add([]byte(`{"version":1,"failures":null}`))
	f.Add([]byte(`{"version":99}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		state, err := DecodeIngest("docs", body)
		if err != nil || state.Began.IsZero() {
			return
		}
		again, err := EncodeIngest(state)
		if err != nil {
			return // a time of a year that has not four digits in UTC
		}
		if _, err := DecodeIngest("docs", again); err != nil {
			t.Errorf("%q was read and written as %q, which is not read: %v", body, again, err)
		}
	})
}

func TestWhenASourceIsReadNext(t *testing.T) {
	began := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		last IngestState
		want time.Duration
	}{
		"after a good one":           {IngestState{Began: began}, time.Hour},
		"after a failure":            {IngestState{Began: began, Attempts: 1}, time.Minute},
		"after three":                {IngestState{Began: began, Attempts: 3}, 4 * time.Minute},
		"after very many":            {IngestState{Began: began, Attempts: 100}, time.Hour},
		"where it is left alone":     {IngestState{Began: began, NotBefore: began.Add(2 * time.Hour)}, 2 * time.Hour},
		"where it was left alone":    {IngestState{Began: began, NotBefore: began.Add(time.Minute)}, time.Hour},
		"left alone after a failure": {IngestState{Began: began, Attempts: 1, NotBefore: began.Add(2 * time.Minute)}, 2 * time.Minute},
	} {
		if got := test.last.NextAt(time.Hour); !got.Equal(began.Add(test.want)) {
			t.Errorf("%s: next %s after it began, want %s", name, got.Sub(began), test.want)
		}
	}
	if (IngestState{}).NextAt(time.Hour).After(time.Unix(0, 0)) {
		t.Error("a source that was never read is not due")
	}
}
