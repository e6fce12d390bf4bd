package files

import (
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/connect"
	"github.com/cairn-bot/cairn/internal/knowledge/connect/connecttest"
	"github.com/cairn-bot/cairn/internal/knowledge/parse"
)

// folder is a folder that a test fills.
type folder struct {
	t       testing.TB
	root    string
	options Options
}

func newFolder(t testing.TB) *folder {
	root := t.TempDir()
	return &folder{t: t, root: root, options: Options{Root: root, Source: "docs"}}
}

func (f *folder) Connector() connect.Connector { return New(f.options) }

func (f *folder) path(name string) string { return filepath.Join(f.root, filepath.FromSlash(name)) }

func (f *folder) Put(name, content string) {
	f.must(os.MkdirAll(filepath.Dir(f.path(name)), 0o755))
	f.must(os.WriteFile(f.path(name), []byte(content), 0o644))
}

func (f *folder) Remove(name string) { f.must(os.Remove(f.path(name))) }

func (f *folder) link(name, target string) {
	f.must(os.MkdirAll(filepath.Dir(f.path(name)), 0o755))
	f.must(os.Symlink(target, f.path(name)))
}

func (f *folder) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

// read gives what each path of the folder was read as: its content, or why not.
func (f *folder) read(known connect.Known) map[string]string {
	f.t.Helper()
	found := make(map[string]string)
	for change, err := range f.Connector().Sync(f.t.Context(), known) {
		f.must(err)
		switch change.Kind {
		case connect.Failed:
			found[change.Document.Path] = "failed: " + change.Reason.Error()
		case connect.Deleted:
			found[change.Document.Path] = "deleted"
		default:
			found[change.Document.Path] = string(change.Content)
		}
	}
	return found
}

func (f *folder) want(want map[string]string) {
	f.t.Helper()
	got := f.read(nil)
	for path, content := range want {
		if got[path] != content && (content == "" || !strings.Contains(got[path], content)) {
			f.t.Errorf("%s: %q, want %q", path, got[path], content)
		}
	}
	if len(got) != len(want) {
		f.t.Errorf("read %q, want %d paths", got, len(want))
	}
}

func (f *folder) syncError() string {
	f.t.Helper()
	for _, err := range f.Connector().Sync(f.t.Context(), nil) {
		if err != nil {
			return err.Error()
		}
	}
	f.t.Fatal("the sync ended without an error")
	return ""
}

func TestSuite(t *testing.T) {
	connecttest.Run(t, func(t *testing.T) connecttest.Place { return newFolder(t) })
}

func TestLinksStayInsideTheFolder(t *testing.T) {
	f := newFolder(t)
	outside := filepath.Join(t.TempDir(), "secret.md")
	f.must(os.WriteFile(outside, []byte("secret"), 0o600))
	f.Put("docs/a.md", "text")
	f.link("inside.md", "docs/a.md")
	f.link("folder", "docs")
	f.link("docs/up", "..")
	f.link("out.md", outside)
	f.link("dots.md", "../../../../../../../../etc/passwd")
	f.link("gone.md", "nowhere.md")
	f.link("circle.md", "circle.md")
	f.want(map[string]string{
		"docs/a.md": "text",
		"inside.md": "text",
		"out.md":    "failed: it is a link that leads out of the folder",
		"dots.md":   "failed: it is a link that leads out of the folder",
		"gone.md":   "failed: it is a link to a file that is not there",
		"circle.md": "failed: it is a link that leads in a circle",
	})
}

func TestRefusesWhatIsNoFile(t *testing.T) {
	f := newFolder(t)
	f.must(syscall.Mkfifo(f.path("pipe.md"), 0o644))
	f.link("pipe-link.md", "pipe.md")
	listener, err := net.Listen("unix", f.path("s.md"))
	f.must(err)
	defer listener.Close()
	f.want(map[string]string{
		"pipe.md":      "failed: it is a pipe, not a file",
		"pipe-link.md": "failed: it is a pipe, not a file",
		"s.md":         "failed: it is a socket, not a file",
	})
}

func TestPassesOverWhatIsNoDocument(t *testing.T) {
	f := newFolder(t)
	f.Put("a.md", "text")
	for _, name := range []string{
		".hidden.md", ".git/x.md", "node_modules/x/README.md", "vendor/y.md", "logo.PNG", "x.woff2", "b.zip", "main.go", "~$a.docx", "draft/x.md",
	} {
		f.Put(name, "x")
	}
	f.options.Exclude = []string{"draft/**"}
	c := New(f.options)
	for _, err := range c.Sync(t.Context(), nil) {
		f.must(err)
	}
	want := []connect.Skipped{
		{Reason: "archives", Count: 1}, {Reason: "excluded by a pattern", Count: 1}, {Reason: "folders of other people's code", Count: 2}, {Reason: "fonts", Count: 1},
		{Reason: "hidden", Count: 2}, {Reason: "images", Count: 1}, {Reason: "source code and configuration", Count: 1}, {Reason: "temporary files", Count: 1},
	}
	if got := c.Skipped(); !slices.Equal(got, want) {
		t.Errorf("passed over %v, want %v", got, want)
	}
	f.want(map[string]string{"a.md": "text"})
}

func TestIncludeAndExclude(t *testing.T) {
	f := newFolder(t)
	for _, name := range []string{"a.md", "docs/b.md", "docs/deep/c.md", "docs/deep/d.txt", "other/e.md"} {
		f.Put(name, "x")
	}
	f.options.Include = []string{"docs/**/*.md"}
	f.options.Exclude = []string{"docs/deep"}
	f.want(map[string]string{"docs/b.md": "x"})
}

func TestFilesThatAreNotWhatTheySay(t *testing.T) {
	f := newFolder(t)
	f.Put("program.pdf", "MZ\x90\x00\x03\x00\x00\x00")
	f.Put("letter.docx", "PK\x03\x04mimetypeapplication/vnd.oasis.opendocument.text")
	f.Put("page.md", "%PDF-1.7\n\x00")
	got := f.read(nil)
	if !strings.Contains(got["program.pdf"], "program.pdf is an executable program, which is not read: export it as one of "+parse.Readable) ||
		!strings.Contains(got["letter.docx"], "opendocument") || strings.HasPrefix(got["page.md"], "failed") {
		t.Errorf("read %q", got)
	}
}

func TestLargeFilesAreRefusedByTheirSize(t *testing.T) {
	f := newFolder(t)
	f.Put("huge.md", "")
	f.must(os.Truncate(f.path("huge.md"), 1<<30)) // a hole: no room is taken
	f.Put("small.md", "x")
	var tooLarge *connect.TooLargeError
	for change, err := range f.Connector().Sync(t.Context(), nil) {
		f.must(err)
		if change.Kind == connect.Failed && !errors.As(change.Reason, &tooLarge) {
			t.Errorf("%s: %v", change.Document.Path, change.Reason)
		}
	}
	if tooLarge == nil || tooLarge.Size != 1<<30 || tooLarge.Limit != 32<<20 {
		t.Errorf("refused as %+v", tooLarge)
	}
}

func TestNamesThatAreNoText(t *testing.T) {
	f := newFolder(t)
	f.Put("ok ü#1.md", "x")
	f.Put("broken\xff.md", "x")
	f.Put("two\nlines.md", "x")
	f.want(map[string]string{
		"ok ü#1.md":         "x",
		"broken\uFFFD.md":   "failed: its name is not valid UTF-8",
		"two\uFFFDlines.md": "failed: its name is not valid UTF-8 or holds control characters",
	})
}

func TestAddresses(t *testing.T) {
	f := newFolder(t)
	f.Put("a b/ü#1.md", "x")
	for base, want := range map[string]string{
		"":                               "file://" + f.root + "/a%20b/%C3%BC%231.md",
		"https://example.com/docs":       "https://example.com/docs/a%20b/%C3%BC%231.md",
		"https://example.com/blob/main/": "https://example.com/blob/main/a%20b/%C3%BC%231.md",
	} {
		f.options.URLBase = base
		for change, err := range f.Connector().Sync(t.Context(), nil) {
			f.must(err)
			if change.Document.URL != want || change.Document.ID != "docs:a b/ü#1.md" {
				t.Errorf("%s at %s, want %s", change.Document.ID, change.Document.URL, want)
			}
		}
	}
}

func TestOneFileInsteadOfAFolder(t *testing.T) {
	f := newFolder(t)
	f.Put("a.md", "text")
	f.Put("b.md", "other")
	f.options.Root = f.path("a.md")
	f.want(map[string]string{"a.md": "text"})
}

func TestPlacesThatCannotBeRead(t *testing.T) {
	f := newFolder(t)
	if got := f.syncError(); !strings.Contains(got, "is empty: check the path, and that it is mounted") {
		t.Errorf("empty folder: %s", got)
	}
	f.Put("logo.png", "x")
	if got := f.syncError(); !strings.Contains(got, "has no documents to read (passed over: images: 1)") {
		t.Errorf("folder of images: %s", got)
	}
	f.options.Root = f.path("nowhere")
	if got := f.syncError(); got != "read source docs: folder "+f.path("nowhere")+" is not there: check the path" {
		t.Errorf("missing folder: %s", got)
	}
	f.options = Options{Source: "a:b", Include: []string{"["}, URLBase: "docs", MaxBytes: -1}
	got := f.syncError()
	for _, part := range []string{"source name", "no folder is named", `pattern "["`, "URL base", "limit of -1"} {
		if !strings.Contains(got, part) {
			t.Errorf("options: %s, want a word on %s", got, part)
		}
	}
}

func TestFolderThatCannotBeListedKeepsItsDocuments(t *testing.T) {
	listed := &listing{entries: []entry{{name: "a.md"}, {name: "locked", folder: true}}}
	for name, want := range map[string]bool{"a.md": true, "locked/x/y.md": true, "gone.md": false, "a.md/x": false} {
		if got := listed.mayHold(name); got != want {
			t.Errorf("mayHold(%s) = %v", name, got)
		}
	}
}

// growing is a file that is written to while it is read.
type growing struct {
	io.Reader
	sizes []int64
}

func (g *growing) Stat() (fs.FileInfo, error) {
	size := g.sizes[0]
	g.sizes = g.sizes[1:]
	return info(size), nil
}

type info int64

func (i info) Name() string     { return "a.md" }
func (i info) Size() int64      { return int64(i) }
func (info) Mode() fs.FileMode  { return 0o644 }
func (info) ModTime() time.Time { return time.Time{} }
func (info) IsDir() bool        { return false }
func (info) Sys() any           { return nil }

func TestFileThatChangesWhileItIsRead(t *testing.T) {
	for name, c := range map[string]struct {
		sizes []int64
		want  error
	}{
		"same": {[]int64{4, 4}, nil}, "grown": {[]int64{4, 8}, errChanged}, "shrunk before the end": {[]int64{9, 9}, errChanged},
	} {
		if _, _, err := readStable(&growing{strings.NewReader("text"), c.sizes}, 100); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

func BenchmarkSync(b *testing.B) {
	f := newFolder(b)
	for i := range 200 {
		f.Put(filepath.Join("docs", string(rune('a'+i%20)), strings.Repeat("x", 1+i/20)+".md"), strings.Repeat("# T\n\ntext\n", 500))
	}
	b.SetBytes(200 * 5000)
	for b.Loop() {
		for _, err := range f.Connector().Sync(b.Context(), nil) {
			f.must(err)
		}
	}
}

func TestCheckTellsOfChanges(t *testing.T) {
	f := newFolder(t)
	f.Put("a.md", "text")
	f.Put("b.md", "text")
	f.Put("c.md", "text")
	documents := f.documents()
	check := func(path string) knowledge.State {
		t.Helper()
		state, err := New(f.options).Check(t.Context(), documents[path].Document)
		f.must(err)
		return state
	}
	later := time.Now().Add(time.Hour)
	f.Put("b.md", "another text")
	f.must(os.Chtimes(f.path("b.md"), later, later))
	f.must(os.Chtimes(f.path("c.md"), later, later)) // it was written again, the same
	for path, want := range map[string]knowledge.State{"a.md": knowledge.StateLive, "b.md": knowledge.StateChanged, "c.md": knowledge.StateLive} {
		if got := check(path); got != want {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
	}
	f.Remove("a.md")
	if got := check("a.md"); got != knowledge.StateGone {
		t.Errorf("a removed file is %s", got)
	}
	for _, id := range []knowledge.DocumentID{"another:a.md", "docs:../a.md", "docs:/etc/hostname"} {
		if state, err := New(f.options).Check(t.Context(), knowledge.Document{ID: id}); err == nil && state != knowledge.StateGone {
			t.Errorf("%s is %s", id, state)
		}
	}
}
