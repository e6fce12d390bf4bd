package drive_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/connect"
	"github.com/cairn-bot/cairn/internal/knowledge/connect/connecttest"
	"github.com/cairn-bot/cairn/internal/knowledge/connect/drive"
	"github.com/cairn-bot/cairn/internal/publicnet"
)

// named gives what is gone the path of the suite's document: its id is all that Drive leaves of it.
type named struct{ connect.Connector }

func (n named) Sync(ctx context.Context, known connect.Known) iter.Seq2[connect.Change, error] {
	return func(yield func(connect.Change, error) bool) {
		for change, err := range n.Connector.Sync(ctx, known) {
			if change.Kind == connect.Deleted {
				change.Document.Path = strings.ReplaceAll(strings.ReplaceAll(change.Document.Path, "--", "/"), "-md", ".md")
			}
			if !yield(change, err) {
				return
			}
		}
	}
}

type place struct{ *fake }

func (p place) Connector() connect.Connector { return named{drive.New(p.options())} }

func suiteID(path string) string {
	return strings.ReplaceAll(strings.ReplaceAll(path, "/", "--"), ".md", "-md")
}

func (p place) Put(path, content string) {
	made := item{id: suiteID(path), name: path, kind: "text/markdown", content: content}
	if folder, name, ok := strings.Cut(path, "/"); ok {
		p.folder(folder, folder, rootID)
		made.parent, made.name = folder, name
	}
	p.put(made)
}

func (p place) Remove(path string) { p.remove(suiteID(path)) }

func TestSuite(t *testing.T) {
	connecttest.Run(t, func(t *testing.T) connecttest.Place { return place{newFake(t)} })
}

// read syncs and gives the changes by the ids of their files, and notes what is known then.
func read(t *testing.T, f *fake, known connect.Known) map[string]connect.Change {
	t.Helper()
	changes := make(map[string]connect.Change)
	for change, err := range drive.New(f.options()).Sync(t.Context(), known) {
		if err != nil {
			t.Fatal(err)
		}
		id := strings.TrimPrefix(string(change.Document.ID), "papers:")
		if _, twice := changes[id]; twice {
			t.Errorf("file %s is yielded twice", id)
		}
		changes[id] = change
		switch change.Kind {
		case connect.Upserted:
			known[change.Document.ID] = change.Document.Hash
		case connect.Deleted:
			delete(known, change.Document.ID)
		}
	}
	return changes
}

const (
	xlsx = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
	pptx = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
)

// doc makes a document of Google Docs.
func doc(id, name, markdown string) item {
	return item{id: id, name: name, kind: googleIs + "document", exports: map[string]string{"text/markdown": markdown}}
}

func TestFilesBecomeDocuments(t *testing.T) {
	f := newFake(t)
	f.folder("teams", "Teams / all", rootID)
	made := doc("doc", "On call", "# On call\n\n![][image1]\n\n[image1]: <data:image/png;base64,iVBORw0KGgo=>\n")
	made.parent, made.owner = "teams", "Ada  Lovelace"
	f.put(made)
	f.put(item{id: "old", name: "Old", kind: googleIs + "document", exports: map[string]string{"text/html": "<p>Old</p>"}})
	f.put(item{id: "sheet", name: "Ports", kind: googleIs + "spreadsheet", exports: map[string]string{xlsx: "PK"}})
	f.put(item{id: "slides", name: "Talk", kind: googleIs + "presentation", exports: map[string]string{pptx: "PK"}})
	f.put(item{id: "pdf", name: "Scan.pdf", kind: "application/pdf", content: "%PDF-1.7\n"})
	f.put(item{id: "zip", name: "backup.zip", kind: "application/zip", content: "PK\x03\x04"})
	for at, kind := range []string{googleIs + "shortcut", googleIs + "form", "image/png", "video/mp4"} {
		f.put(item{id: fmt.Sprintf("other%d", at), name: "x", kind: kind})
	}
	f.put(item{id: "code", name: "main.go", kind: "text/x-go", content: "package main"})
	trashed := f.put(doc("bin", "Bin", "x"))
	trashed.trashed = true

	connector := drive.New(f.options())
	changes := make(map[string]connect.Change)
	for change, err := range connector.Sync(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		changes[change.Document.Path] = change
	}
	for path, want := range map[string]string{
		"Teams - all/On call": "text/markdown", "Old": "text/html", "Ports": xlsx, "Talk": pptx, "Scan.pdf": "application/pdf", "backup.zip": "",
	} {
		if got := changes[path]; got.MediaType != want || (want == "") != (got.Kind == connect.Failed) {
			t.Errorf("%s: kind %d, %s, %v", path, got.Kind, got.MediaType, got.Reason)
		}
	}
	if len(changes) != 6 {
		t.Errorf("%q", slices.Sorted(maps.Keys(changes)))
	}
	one := changes["Teams - all/On call"]
	if got := string(one.Content); got != "# On call\n\n![][image1]\n\n" {
		t.Errorf("%q", got)
	}
	if d := one.Document; d.Title != "On call" || d.URL != "https://drive.google.com/file/d/doc/view?usp=drivesdk" || d.Audience != "group:staff" || d.Kind != knowledge.KindDrive ||
		!d.Modified.Equal(time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)) || !strings.HasPrefix(d.Owner, "Ada") {
		t.Errorf("%+v", d)
	}
	for target, want := range map[string]string{"https://example.com/a": "https://example.com/a", "mailto:ada@example.com": "mailto:ada@example.com", "b.md": "", "javascript:alert(1)": "", "#top": ""} {
		if got := one.Link(target); got != want {
			t.Errorf("%s leads to %q", target, got)
		}
	}
	want := []connect.Skipped{{Reason: "forms, drawings, sites, maps and scripts of Google", Count: 1}, {Reason: "pictures, sound and films", Count: 2}, {Reason: "shortcuts", Count: 1}, {Reason: "source code", Count: 1}}
	if got := connector.Skipped(); !slices.Equal(got, want) {
		t.Errorf("passed over: %+v", got)
	}
}

func TestUnchangedFilesAreNotRead(t *testing.T) {
	f := newFake(t)
	for _, id := range []string{"a", "b", "c"} {
		f.put(doc(id, id, "x"))
	}
	known := connect.Known{}
	read(t, f, known)
	f.put(doc("b", "b", "y"))
	f.asked = nil
	read(t, f, known)
	files := "/drive/v3/files"
	if want := []string{"/token", files + "/" + rootID, files, files, files + "/b/export"}; !slices.Equal(f.asked, want) {
		t.Errorf("asked for %q", f.asked)
	}
}

func TestCheck(t *testing.T) {
	f := newFake(t)
	f.folder("outer", "Outer", rootID)
	f.folder("inner", "Inner", "outer")
	f.folder("elsewhere", "Elsewhere", "unknown")
	made := doc("a", "A", "x")
	made.parent = "inner"
	f.put(made)
	document := read(t, f, connect.Known{})["a"].Document
	if document.Path != "Outer/Inner/A" {
		t.Errorf("path %s", document.Path)
	}
	connector := drive.New(f.options())
	wants := func(want knowledge.State) {
		t.Helper()
		if state, err := connector.Check(t.Context(), document); state != want || err != nil {
			t.Errorf("%s, %v, want %s", state, err, want)
		}
	}
	wants(knowledge.StateLive)
	f.put(made)
	wants(knowledge.StateChanged)
	f.change(func() { f.find("a").parent = "elsewhere" })
	wants(knowledge.StateGone)
	f.change(func() { f.find("a").parent = "inner"; f.find("outer").trashed = true })
	wants(knowledge.StateGone)
	f.change(func() { f.find("outer").trashed = false; f.find("a").trashed = true })
	wants(knowledge.StateGone)
	f.remove("a")
	wants(knowledge.StateGone)
	f.refuse = func(string, url.Values) (int, string, http.Header) { return http.StatusForbidden, "", nil }
	if state, err := connector.Check(t.Context(), document); err == nil {
		t.Errorf("a file that can't be asked for is %s", state)
	}
	if _, err := connector.Check(t.Context(), knowledge.Document{ID: "papers:../about"}); err == nil {
		t.Error("an id that is none was asked for")
	}
}

// TestWhatIsGone tells files that were deleted, thrown away or moved out from those that the list forgot.
func TestWhatIsGone(t *testing.T) {
	f := newFake(t)
	f.folder("in", "In", rootID)
	for _, id := range []string{"deleted", "trashed", "moved-out", "moved-in", "forgotten", "stays"} {
		f.put(doc(id, id, "x"))
	}
	known := connect.Known{}
	read(t, f, known)
	f.remove("deleted")
	f.change(func() {
		f.find("trashed").trashed = true
		f.find("moved-out").parent = "another"
		f.find("moved-in").parent = "in"
		f.find("forgotten").forgotten = true
	})
	changes := read(t, f, known)
	for id, want := range map[string]connect.ChangeKind{
		"deleted": connect.Deleted, "trashed": connect.Deleted, "moved-out": connect.Deleted, "moved-in": connect.Upserted, "forgotten": connect.Unchanged, "stays": connect.Unchanged,
	} {
		if changes[id].Kind != want {
			t.Errorf("%s: change of kind %d, want %d", id, changes[id].Kind, want)
		}
	}
	if got := changes["moved-in"].Document.Path; got != "In/moved-in" {
		t.Errorf("path %s", got)
	}
}

// TestTroubleRemovesNothing has Google answer badly in each way.
func TestTroubleRemovesNothing(t *testing.T) {
	const list = "/drive/v3/files"
	for name, one := range map[string]struct {
		status int
		reason string
		at     string // the path
		second bool   // response of the list
		want   string
	}{
		"400 for a token":  {status: 400, at: "/token", want: "refused by Google"},
		"302 for a token":  {status: 302, at: "/token", want: "refused by Google"},
		"500 for a token":  {status: 500, at: "/token", want: "status 500"},
		"401":              {status: 401, at: list, want: "does not accept the access token"},
		"API not enabled":  {status: 403, reason: "accessNotConfigured", at: list, want: "enable it"},
		"404 for the root": {status: 404, at: list + "/" + rootID, want: "share the folder with " + account},
		"403 half-way":     {status: 403, at: list, second: true, want: "status 403"},
		"500 half-way":     {status: 500, at: list, second: true, want: "status 500"},
		"redirect":         {status: 302, at: list, want: "status 302"},
		"403 for a file":   {status: 403, at: list + "/e", want: "status 403"},
		"500 for a file":   {status: 500, at: list + "/e", want: "status 500"},
		"401 for content":  {status: 401, at: list + "/a/export", want: "does not accept the access token"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			for _, id := range []string{"a", "b", "c", "d", "e"} { // two responses of the list, also without one of them
				f.put(doc(id, id, "x"))
			}
			known := connect.Known{}
			read(t, f, known)
			f.refuse = func(path string, query url.Values) (int, string, http.Header) {
				if path == one.at && (!one.second || query.Get("pageToken") != "") {
					return one.status, one.reason, http.Header{"Location": {"http://169.254.169.254/"}}
				}
				return 0, "", nil
			}
			f.remove("e")
			known["papers:a"] = "old"
			wantFailure(t, f.options(), known, one.want)
		})
	}
}

// wantFailure syncs, and wants an error and nothing gone.
func wantFailure(t *testing.T, options drive.Options, known connect.Known, want string) {
	t.Helper()
	var failed error
	for change, err := range drive.New(options).Sync(t.Context(), known) {
		if change.Kind == connect.Deleted {
			t.Errorf("%s is gone", change.Document.ID)
		}
		failed = err
	}
	if failed == nil || !strings.Contains(failed.Error(), want) {
		t.Errorf("%v, want %s", failed, want)
	}
}

func TestAnIncompleteListRemovesNothing(t *testing.T) {
	f := newFake(t)
	f.put(doc("a", "a", "x"))
	f.incomplete = true
	wantFailure(t, f.options(), connect.Known{"papers:b": "old"}, "incomplete")
}

func TestAServerThatAsksForPatience(t *testing.T) {
	f := newFake(t)
	f.put(doc("a", "a", "x"))
	for _, one := range []struct {
		at, reason string
		status     int
		header     http.Header
		want       time.Duration
	}{
		{at: "/drive/v3/files", status: 429, header: http.Header{"Retry-After": {"3600"}}, want: time.Hour},
		{at: "/drive/v3/files", status: 403, reason: "rateLimitExceeded", want: time.Minute},
		{at: "/drive/v3/files/a/export", status: 403, reason: "userRateLimitExceeded", want: time.Minute},
		{at: "/drive/v3/files/a/export", status: 503, header: http.Header{"Retry-After": {"3600"}}, want: time.Hour},
		{at: "/token", status: 429, header: http.Header{"Retry-After": {"3600"}}, want: time.Hour},
	} {
		f.refuse = func(path string, _ url.Values) (int, string, http.Header) {
			if path == one.at {
				return one.status, one.reason, one.header
			}
			return 0, "", nil
		}
		for change, err := range drive.New(f.options()).Sync(t.Context(), nil) {
			if busy, ok := errors.AsType[*connect.UnavailableError](err); !ok || busy.After != one.want {
				t.Errorf("%s: %+v, %v", one.at, change, err)
			}
		}
	}
	asked := 0
	f.refuse = func(string, url.Values) (int, string, http.Header) {
		if asked++; asked%2 == 1 {
			return http.StatusTooManyRequests, "", http.Header{"Retry-After": {"0"}}
		}
		return 0, "", nil
	}
	if got := read(t, f, connect.Known{})["a"]; got.Kind != connect.Upserted {
		t.Errorf("after a short pause: %+v", got)
	}
}

// TestFilesThatCantBeRead has such a file named, and the others read.
func TestFilesThatCantBeRead(t *testing.T) {
	f := newFake(t)
	f.put(doc("export", "x", "x"))
	f.put(doc("gone", "x", "x"))
	f.put(item{id: "large", name: "large.txt", kind: "text/plain", content: strings.Repeat("x", 2000)})
	f.put(doc("largedoc", "x", strings.Repeat("x", 2000)))
	f.put(item{id: "kept", name: "kept.txt", kind: "text/plain", content: "x"})
	f.put(item{id: "chart", name: "Chart", kind: googleIs + "spreadsheet"})
	f.put(doc("good", "x", "x"))
	f.refuse = func(path string, query url.Values) (int, string, http.Header) {
		switch {
		case strings.HasSuffix(path, "/export/export"):
			return http.StatusForbidden, "exportSizeLimitExceeded", nil
		case strings.HasSuffix(path, "/gone/export"):
			return http.StatusNotFound, "notFound", nil
		case strings.HasSuffix(path, "/kept") && query.Get("alt") == "media":
			return http.StatusForbidden, "cannotDownloadFile", nil
		}
		return 0, "", nil
	}
	options := f.options()
	options.MaxBytes = 1000
	reasons := map[string]string{"export": "10 MB", "gone": "status 404", "large": "over the limit", "largedoc": "over the limit", "kept": "does not let", "chart": "status 400", "good": ""}
	found := 0
	for change, err := range drive.New(options).Sync(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		found++
		want := reasons[strings.TrimPrefix(string(change.Document.ID), "papers:")]
		if (change.Kind == connect.Failed) != (want != "") || want != "" && !strings.Contains(change.Reason.Error(), want) {
			t.Errorf("%s: %v, want %s", change.Document.ID, change.Reason, want)
		}
	}
	if found != len(reasons) {
		t.Errorf("%d files", found)
	}
	if slices.Contains(f.asked, "/drive/v3/files/large") {
		t.Error("a file over the limit was asked for")
	}
}

func TestFoldersInACircle(t *testing.T) {
	f := newFake(t)
	f.folder("a", "A", rootID)
	f.folder("b", "B", "a")
	f.change(func() { f.find(rootID).parent = "b" })
	made := doc("doc", "Doc", "x")
	made.parent = "b"
	f.put(made)
	if got := read(t, f, connect.Known{})["doc"].Document.Path; got != "A/B/Doc" {
		t.Errorf("path %s", got)
	}
}

func TestWhatIsRequired(t *testing.T) {
	f := newFake(t)
	for _, address := range []string{"https://drive.google.com/drive/my-drive", "ftp://drive.google.com/drive/folders/x", "https://drive.google.com/drive/folders/a'b", "https://docs.google.com/document/d/x/edit"} {
		options := f.options()
		options.URL = address
		wantFailure(t, options, nil, "want the address of a folder")
	}
	for key, want := range map[string]string{
		"": "JSON key of a service account", `{"type": "authorized_user"}`: "JSON key of a service account",
		f.key("http://127.0.0.1/token"): "token_uri", strings.Replace(f.key(f.server.URL+"/token"), "BEGIN", "BEGUN", 1): "make another key",
	} {
		options := f.options()
		options.Key = key
		wantFailure(t, options, nil, want)
	}
	options := f.options()
	options.Audience = ""
	wantFailure(t, options, nil, "audience")
	options = f.options()
	options.AllowPrivate = false
	for _, err := range drive.New(options).Sync(t.Context(), nil) {
		if !errors.Is(err, publicnet.ErrPrivate) {
			t.Errorf("%v", err)
		}
	}
	f.put(item{id: rootID, name: "File", kind: "text/plain"})
	wantFailure(t, f.options(), nil, "not that of a folder")
}

// TestDocumentsThatDriveFailsToExport has one such document named and the others read, and the sync end
// where Drive can't give any.
func TestDocumentsThatDriveFailsToExport(t *testing.T) {
	t.Parallel()
	open := func(t *testing.T, failing string) *fake {
		f := newFake(t)
		for _, id := range []string{"a", "b", "c", "d"} {
			f.put(doc(id, id, "x"))
		}
		f.refuse = func(path string, _ url.Values) (int, string, http.Header) {
			if strings.HasSuffix(path, failing) {
				return http.StatusInternalServerError, "internalError", nil
			}
			return 0, "", nil
		}
		return f
	}
	t.Run("one", func(t *testing.T) {
		t.Parallel()
		changes := read(t, open(t, "/a/export"), connect.Known{})
		if changes["a"].Kind != connect.Failed || changes["d"].Kind != connect.Upserted {
			t.Errorf("%+v", changes)
		}
	})
	t.Run("all", func(t *testing.T) {
		t.Parallel()
		wantFailure(t, open(t, "/export").options(), nil, "status 500")
	})
}
