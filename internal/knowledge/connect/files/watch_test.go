package files

import (
	"context"
	"os"
	"testing"
	"time"
)

func TestWatchTellsOfChanges(t *testing.T) {
	f := newFolder(t)
	f.Put("a.md", "text")
	f.Put("sub/b.md", "text")
	ctx, stop := context.WithCancel(t.Context())
	told, ended := make(chan struct{}, 1000), make(chan error, 1)
	go func() { ended <- New(f.options).Watch(ctx, func() { told <- struct{}{} }) }()
	// Watch has begun once a change is told: until then the first file is written again.
	for begun := false; !begun; {
		f.Put("a.md", "again")
		select {
		case <-told:
			begun = true
		case <-time.After(10 * time.Millisecond):
		}
	}
	// waitFor gives what was told before an action time to be taken, and then wants one more.
	waitFor := func(what string, act func()) {
		t.Helper()
		for quiet := false; !quiet; {
			select {
			case <-told:
			case <-time.After(50 * time.Millisecond):
				quiet = true
			}
		}
		act()
		select {
		case <-told:
		case <-time.After(10 * time.Second):
			t.Fatalf("%s was not told", what)
		}
	}
	waitFor("a change in a folder below", func() { f.Put("sub/b.md", "other") })
	waitFor("a deletion", func() { f.Remove("sub/b.md") })
	waitFor("a new folder", func() { f.must(os.MkdirAll(f.path("new"), 0o755)) })
	waitFor("a file in the new folder", func() { f.Put("new/c.md", "text") })
	stop()
	f.must(<-ended)
}

func TestWatchOfAFolderThatIsNotThere(t *testing.T) {
	if err := New(Options{Root: t.TempDir() + "/none", Source: "docs"}).Watch(t.Context(), func() {}); err == nil {
		t.Error("no error")
	}
}
