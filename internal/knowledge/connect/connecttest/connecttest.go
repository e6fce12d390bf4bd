// Package connecttest is the suite that every connector passes.
package connecttest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/connect"
)

// Place is a place that the suite fills, with a connector that reads it.
type Place interface {
	Connector() connect.Connector
	// Put makes or replaces the document of a path such as "a/b.md".
	Put(path, content string)
	Remove(path string)
}

// Below is an optional interface of a Place whose documents' paths begin with a name that it gives,
// with a slash at its end.
type Below interface {
	PathPrefix() string
}

func pathPrefix(place Place) string {
	if below, ok := place.(Below); ok {
		return below.PathPrefix()
	}
	return ""
}

// Run runs the suite. open gives a new empty place each time.
func Run(t *testing.T, open func(t *testing.T) Place) {
	for name, test := range map[string]func(*testing.T, Place){
		"first sync yields every document":      testFirst,
		"what is known and the same":            testUnchanged,
		"what changed and what is gone":         testChanged,
		"what can't be read is named":           testFailed,
		"other sources' documents are let be":   testForeign,
		"the caller may stop at any change":     testStop,
		"a cancelled sync ends with its cause":  testCancelled,
		"the estimate is the number of changes": testEstimate,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

func fillPlace(place Place) {
	place.Put("b.md", "# B\n\nText of b.\n")
	place.Put("a.md", "# A\n\nText of a.\n")
	place.Put("sub/c.md", "# C\n\nText of c.\n")
}

func mustSync(t *testing.T, place Place, known connect.Known) []connect.Change {
	t.Helper()
	var changes []connect.Change
	for change, err := range place.Connector().Sync(t.Context(), known) {
		if err != nil {
			t.Fatal(err)
		}
		name, ok := strings.CutPrefix(change.Document.Path, pathPrefix(place))
		if !ok {
			t.Errorf("path %s does not begin with %s", change.Document.Path, pathPrefix(place))
		}
		change.Document.Path = name
		changes = append(changes, change)
	}
	return changes
}

// knownAfter returns what a caller knows after it took the changes.
func knownAfter(changes []connect.Change) connect.Known {
	known := connect.Known{}
	for _, change := range changes {
		if change.Kind == connect.Upserted || change.Kind == connect.Unchanged {
			known[change.Document.ID] = change.Document.Hash
		}
	}
	return known
}

func changedPaths(changes []connect.Change, kind connect.ChangeKind) []string {
	var found []string
	for _, change := range changes {
		if change.Kind == kind {
			found = append(found, change.Document.Path)
		}
	}
	return found
}

func wantPaths(t *testing.T, changes []connect.Change, kind connect.ChangeKind, want ...string) {
	t.Helper()
	if got := changedPaths(changes, kind); !slices.Equal(got, want) {
		t.Errorf("changes of kind %d: %q, want %q", kind, got, want)
	}
}

func testFirst(t *testing.T, place Place) {
	fillPlace(place)
	changes := mustSync(t, place, nil)
	wantPaths(t, changes, connect.Upserted, "a.md", "b.md", "sub/c.md")
	ids := make(map[knowledge.DocumentID]bool)
	for _, change := range changes {
		document := change.Document
		ids[document.ID] = true
		if document.Source != place.Connector().Source() || document.Hash == "" || document.URL == "" ||
			document.Kind == "" || document.Modified.IsZero() || document.State != knowledge.StateLive {
			t.Errorf("document %+v", document)
		}
		if change.MediaType != "text/markdown" || len(change.Content) == 0 || change.Reason != nil {
			t.Errorf("%s: media type %s, %d bytes, reason %v", document.Path, change.MediaType, len(change.Content), change.Reason)
		}
	}
	if len(ids) != len(changes) {
		t.Errorf("%d ids for %d documents", len(ids), len(changes))
	}
}

func testUnchanged(t *testing.T, place Place) {
	fillPlace(place)
	changes := mustSync(t, place, knownAfter(mustSync(t, place, nil)))
	wantPaths(t, changes, connect.Unchanged, "a.md", "b.md", "sub/c.md")
	wantPaths(t, changes, connect.Upserted)
	for _, change := range changes {
		if change.Content != nil {
			t.Errorf("%s: content of an unchanged document", change.Document.Path)
		}
	}
}

func testChanged(t *testing.T, place Place) {
	fillPlace(place)
	known := knownAfter(mustSync(t, place, nil))
	place.Put("b.md", "# B\n\nAnother text.\n")
	place.Remove("a.md")
	place.Put("d.md", "# D\n")
	changes := mustSync(t, place, known)
	wantPaths(t, changes, connect.Upserted, "b.md", "d.md")
	wantPaths(t, changes, connect.Deleted, "a.md")
	wantPaths(t, changes, connect.Unchanged, "sub/c.md")
	last := changes[len(changes)-1]
	if _, ok := known[last.Document.ID]; last.Kind != connect.Deleted || !ok {
		t.Errorf("the last change is %+v, want the deletion of a known document", last)
	}
}

func testFailed(t *testing.T, place Place) {
	fillPlace(place)
	place.Put("picture.md", "\x89PNG\r\n\x1a\n\x00\x00\x00")
	changes := mustSync(t, place, nil)
	wantPaths(t, changes, connect.Upserted, "a.md", "b.md", "sub/c.md")
	wantPaths(t, changes, connect.Failed, "picture.md")
	for _, change := range changes {
		if change.Kind == connect.Failed && (change.Reason == nil || change.Document.ID == "") {
			t.Errorf("failed without a reason or id: %+v", change)
		}
	}
}

func testForeign(t *testing.T, place Place) {
	fillPlace(place)
	known := knownAfter(mustSync(t, place, nil))
	known["another source:x.md"] = "hash"
	wantPaths(t, mustSync(t, place, known), connect.Deleted)
}

func testStop(t *testing.T, place Place) {
	fillPlace(place)
	taken := 0
	for _, err := range place.Connector().Sync(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		taken++
		break
	}
	if taken != 1 {
		t.Errorf("%d changes taken", taken)
	}
}

func testCancelled(t *testing.T, place Place) {
	fillPlace(place)
	ctx, cancel := context.WithCancel(t.Context())
	var failed error
	for _, err := range place.Connector().Sync(ctx, nil) {
		cancel()
		failed = err
	}
	cancel()
	if !errors.Is(failed, context.Canceled) {
		t.Errorf("ended with %v, want context.Canceled", failed)
	}
}

func testEstimate(t *testing.T, place Place) {
	fillPlace(place)
	estimator, ok := place.Connector().(connect.Estimator)
	if !ok {
		return // an optional interface
	}
	estimate, err := estimator.Estimate(t.Context())
	if err != nil || estimate != 3 {
		t.Errorf("estimate %d, %v; want 3", estimate, err)
	}
}
