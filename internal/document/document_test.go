package document_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/document"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/language"
)

// folderWith makes a folder with files.
func folderWith(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func folder(name string) document.Read {
	return document.Read{Location: flows.Location{Place: flows.Folder, Name: name}}
}

func names(set document.Set) []string {
	named := make([]string, len(set.Documents))
	for i, doc := range set.Documents {
		named[i] = doc.Name
	}
	return named
}

// refusal is the text of the refusal that a read gives.
func refusal(t *testing.T, reader *document.Reader, wanted document.Read) string {
	t.Helper()
	set, err := reader.Read(t.Context(), wanted)
	reason, is := errors.AsType[*document.RefusedError](err)
	if !is {
		t.Fatalf("Read = %v, %v, want a refusal", names(set), err)
	}
	return reason.Text
}

func TestSectionsOfAFolder(t *testing.T) {
	root := folderWith(t, map[string]string{
		"guide/leave.md": "# Leave\n\nYou have 28 days.\n\n## Part-time\n\n- half\n- of it\n\n```\ncode\n```\n",
		"plain.txt":      "Just text.",
		"page.html":      "<html><title>Page</title><h1>Top</h1><p>Hello.</p></html>",
	})
	set, err := document.NewReader(document.Options{Roots: []string{root}}).Read(t.Context(), folder("."))
	if err != nil {
		t.Fatal(err)
	}
	if got := names(set); !slices.Equal(got, []string{"guide/leave.md", "page.html", "plain.txt"}) {
		t.Fatalf("read %v", got)
	}
	leave := set.Documents[0]
	text := set.Texts[leave.Name]
	var sections []string
	for _, s := range leave.Sections {
		sections = append(sections, strings.Join(s.Headings, "/")+"#"+s.Anchor+": "+text[s.Start:s.End])
	}
	want := []string{"Leave#leave: You have 28 days.", "Leave/Part-time#part-time: - half\n- of it\n\n```\ncode\n```"}
	if !slices.Equal(sections, want) || leave.Title != "Leave" || leave.URL != "" {
		t.Errorf("%q, %+v", sections, leave)
	}
}

func TestAPDFIsReadByPages(t *testing.T) {
	reader := document.NewReader(document.Options{Roots: []string{"../knowledge/parse/testdata/read"}})
	set, err := reader.Read(t.Context(), folder("travel.pdf"))
	if err != nil {
		t.Fatal(err)
	}
	if got := names(set); !slices.Equal(got, []string{"travel.pdf"}) || !strings.Contains(fmt.Sprint(set.Documents[0].Sections), "page=") {
		t.Errorf("read %v: %+v", got, set.Documents)
	}
}

func TestUnreadableFilesAreNamedAndSkipped(t *testing.T) {
	root := folderWith(t, map[string]string{
		"good.md": "# Good\n\nText.", "broken.pdf": "%PDF-1.7\n\x00\x01 nothing of a PDF", "big.md": strings.Repeat("word ", 400),
		"empty.md": "", "sheet.xlsx": "PK\x03\x04 xl/ workbook", "deep/also.txt": "Also text.",
	})
	outside := folderWith(t, map[string]string{"secret.md": "# Secret\n\nKeys."})
	if err := os.Symlink(filepath.Join(outside, "secret.md"), filepath.Join(root, "link.md")); err != nil {
		t.Fatal(err)
	}
	reader := document.NewReader(document.Options{Roots: []string{root}, Limits: document.Limits{FileBytes: 1000}})
	set, err := reader.Read(t.Context(), folder("./"))
	if err != nil {
		t.Fatal(err)
	}
	if got := names(set); !slices.Equal(got, []string{"deep/also.txt", "good.md"}) {
		t.Errorf("read %v", got)
	}
	note := set.Note(language.English)
	for _, part := range []string{"broken.pdf", "`big.md`: it has 2000 bytes, over the limit of 1000 bytes", "empty.md", "sheet.xlsx", "link.md"} {
		if !strings.Contains(note, part) {
			t.Errorf("the note does not say %q: %s", part, note)
		}
	}
	if strings.Contains(note, outside) || strings.Contains(note, root) {
		t.Errorf("the note shows a path of the machine: %s", note)
	}
}

func TestFoldersOutsideAreRefused(t *testing.T) {
	outside := folderWith(t, map[string]string{"secret.md": "# Secret\n\nKeys."})
	root := folderWith(t, map[string]string{"docs/a.md": "Text."})
	if err := os.Symlink(outside, filepath.Join(root, "out")); err != nil {
		t.Fatal(err)
	}
	reader := document.NewReader(document.Options{Roots: []string{root}})
	for name, want := range map[string]string{
		"..": "I may not read", "../" + filepath.Base(outside): "I may not read", outside: "I may not read", "/nowhere": "I may not read",
		"docs/../../x": "I may not read", "out": "I may not read", "out/secret.md": "I may not read",
		"./nothere": "There is no folder", "docs\x00": "There is no folder",
	} {
		if got := refusal(t, reader, folder(name)); !strings.Contains(got, want) || strings.Contains(got, "Keys") {
			t.Errorf("%q: %s, want %s", name, got, want)
		}
	}
	if got := refusal(t, document.NewReader(document.Options{}), folder("./docs")); !strings.Contains(got, "No folder may be read") {
		t.Errorf("without roots: %s", got)
	}
	for _, name := range []string{"docs", "./docs/", filepath.Join(root, "docs"), "docs/a.md", "x/../docs"} {
		if set, err := reader.Read(t.Context(), folder(name)); err != nil || len(set.Documents) != 1 {
			t.Errorf("%q: %v, %v", name, names(set), err)
		}
	}
}

func TestBoundsOfAFolder(t *testing.T) {
	many := make(map[string]string)
	for i := range 2000 {
		many[fmt.Sprintf("n%04d.txt", i)] = "x"
	}
	full := folderWith(t, map[string]string{"a.md": strings.Repeat("word ", 500), "b.md": strings.Repeat("word ", 500)})
	for name, test := range map[string]struct {
		root   string
		limits document.Limits
		want   string
	}{
		"2,000 files":     {folderWith(t, many), document.Limits{}, "has 2000 files, more than the 1000"},
		"too much text":   {full, document.Limits{TextBytes: 3000}, "more than 3000 bytes of text"},
		"too many bytes":  {full, document.Limits{Bytes: 3000}, "more than 3000 bytes together"},
		"nothing in it":   {t.TempDir(), document.Limits{}, "nothing to read in .: I looked for Markdown"},
		"only images":     {folderWith(t, map[string]string{"a.png": "x"}), document.Limits{}, "I looked for Markdown"},
		"only unreadable": {folderWith(t, map[string]string{"a.zip2": "PK\x03\x04"}), document.Limits{}, "Not read: `a.zip2`"},
	} {
		t.Run(name, func(t *testing.T) {
			reader := document.NewReader(document.Options{Roots: []string{test.root}, Limits: test.limits})
			if got := refusal(t, reader, folder(".")); !strings.Contains(got, test.want) {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

func TestAttachments(t *testing.T) {
	reader := document.NewReader(document.Options{})
	if got := refusal(t, reader, document.Read{}); !strings.Contains(got, "attach files") {
		t.Errorf("without files: %s", got)
	}
	set, err := reader.Read(t.Context(), document.Read{Attachments: []flows.Attachment{
		{Name: "a.pdf", Text: "# One\n\nText."}, {Name: "a.pdf", Text: "Other."}, {Name: "", Text: "Third."}, {Name: "blank.md", Text: "  \n"},
	}})
	if err != nil || !slices.Equal(names(set), []string{"a.pdf", "a.pdf (2)", "file 3"}) {
		t.Fatalf("%v, %v", names(set), err)
	}
	if set.Documents[0].Kind != flows.KindAttachment || set.Documents[0].Sections[0].Heading() != "One" || set.Note(language.English) == "" {
		t.Errorf("%+v, %q", set.Documents[0], set.Note(language.English))
	}
}

// shelf is an index that is a list of documents.
type shelf []index.Entry

func (s shelf) Documents(_ context.Context, source knowledge.SourceID) iter.Seq2[knowledge.Document, error] {
	return func(yield func(knowledge.Document, error) bool) {
		for _, entry := range s {
			if entry.Document.Source == source && !yield(entry.Document, nil) {
				return
			}
		}
	}
}

func (s shelf) Passages(_ context.Context, ids []knowledge.PassageID) ([]index.Found, error) {
	var found []index.Found
	for _, id := range ids {
		for _, entry := range s {
			for _, passage := range entry.Passages {
				if passage.ID == id {
					found = append(found, index.Found{Document: entry.Document, Passage: passage})
				}
			}
		}
	}
	return found, nil
}

// entry makes a document with n passages in sections of two.
func entry(id knowledge.DocumentID, audience knowledge.Audience, n int) index.Entry {
	made := index.Entry{Document: knowledge.Document{
		ID: id, Source: "handbook", Path: string(id) + ".md", Title: string(id), URL: "https://wiki.example/" + string(id), Audience: audience, State: knowledge.StateLive,
	}}
	for i := range n {
		made.Passages = append(made.Passages, knowledge.Passage{
			ID: knowledge.MakePassageID(id, i), Document: id, Position: i, Headings: []string{fmt.Sprint("Part ", i/2)},
			Anchor: fmt.Sprint("part-", i/2), Text: fmt.Sprint("Passage ", i, "."),
		})
	}
	return made
}

func TestACollection(t *testing.T) {
	gone, local := entry("gone", "", 1), entry("local", "", 1)
	gone.Document.State, local.Document.URL = knowledge.StateGone, "file:///srv/local.md"
	books := shelf{entry("long", "", 130), entry("private", "user:U1", 1), gone, local}
	reader := document.NewReader(document.Options{Index: books, Collections: collections("handbook", "wiki")})
	wanted := document.Read{Location: flows.Location{Place: flows.Collection, Name: "Handbook"}}
	set, err := reader.Read(t.Context(), wanted)
	if err != nil || !slices.Equal(names(set), []string{"long.md", "local.md"}) {
		t.Fatalf("%v, %v", names(set), err)
	}
	long := set.Documents[0]
	last := long.Sections[len(long.Sections)-1]
	if len(long.Sections) != 65 || last.Anchor != "part-64" || set.Texts["long.md"][last.Start:last.End] != "Passage 128.\n\nPassage 129." {
		t.Errorf("%d sections, the last is %+v", len(long.Sections), last)
	}
	if long.URL == "" || set.Documents[1].URL != "" {
		t.Errorf("addresses %q and %q", long.URL, set.Documents[1].URL)
	}
	one := knowledge.WithViewers(t.Context(), knowledge.NewViewers([]knowledge.Principal{"user:U1"}))
	if set, err := reader.Read(one, wanted); err != nil || !slices.Equal(names(set), []string{"long.md", "private.md", "local.md"}) {
		t.Errorf("for U1: %v, %v", names(set), err)
	}
	wanted.Scope = flows.Scope{Sources: []knowledge.SourceID{"wiki"}}
	if got := refusal(t, reader, wanted); !strings.Contains(got, "There is no collection @Handbook. I know @wiki.") {
		t.Errorf("out of scope: %s", got)
	}
	few := document.NewReader(document.Options{Index: books, Collections: collections("handbook"), Limits: document.Limits{Files: 1}})
	wanted.Scope = flows.Scope{}
	if got := refusal(t, few, wanted); !strings.Contains(got, "more than 1 documents") {
		t.Errorf("too many: %s", got)
	}
}

func TestAnEndedContextIsNoRefusal(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	reader := document.NewReader(document.Options{Roots: []string{folderWith(t, map[string]string{"a.md": "Text."})}})
	if _, err := reader.Read(ctx, folder(".")); !errors.Is(err, context.Canceled) {
		t.Errorf("Read = %v", err)
	}
}

// collections are those that there are.
func collections(names ...knowledge.SourceID) func(context.Context) ([]knowledge.SourceID, error) {
	return func(context.Context) ([]knowledge.SourceID, error) { return names, nil }
}
