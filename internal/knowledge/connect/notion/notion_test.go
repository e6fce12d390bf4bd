package notion_test

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/connect"
	"github.com/cairn-bot/cairn/internal/knowledge/connect/connecttest"
	"github.com/cairn-bot/cairn/internal/knowledge/connect/notion"
	"github.com/cairn-bot/cairn/internal/publicnet"
)

// names are the suite's documents; their places are the ids of their pages.
var names = []string{"a.md", "b.md", "d.md", "picture.md", "sub/c.md"}

// numberOf gives the number that a page was made by.
func numberOf(of knowledge.DocumentID) int {
	number, _ := strconv.Atoi(string(of)[strings.LastIndex(string(of), "-")+1:]) //nolint:errcheck // 0 then
	return number
}

// named gives the pages the paths of the suite's documents.
type named struct{ connect.Connector }

func (n named) Sync(ctx context.Context, known connect.Known) iter.Seq2[connect.Change, error] {
	return func(yield func(connect.Change, error) bool) {
		for change, err := range n.Connector.Sync(ctx, known) {
			if number := numberOf(change.Document.ID); number > 0 {
				change.Document.Path = names[number-1]
			}
			if !yield(change, err) {
				return
			}
		}
	}
}

type place struct{ *fake }

func (p place) Connector() connect.Connector { return named{notion.New(p.options())} }

func (p place) Put(path, content string) {
	number := slices.Index(names, path) + 1
	made := p.put(number, path, p.paragraph(100+number, strings.ReplaceAll(content, "\x00", "")))
	made.hidden = path == "picture.md"
}

func (p place) Remove(path string) { p.remove(slices.Index(names, path) + 1) }

func TestSuite(t *testing.T) {
	connecttest.Run(t, func(t *testing.T) connecttest.Place { return place{newFake(t)} })
}

// read syncs and gives the changes by the numbers of their pages, and notes what is known then.
func read(t *testing.T, f *fake, known connect.Known) map[int]connect.Change {
	t.Helper()
	changes := make(map[int]connect.Change)
	for change, err := range notion.New(f.options()).Sync(t.Context(), known) {
		if err != nil {
			t.Fatal(err)
		}
		number := numberOf(change.Document.ID)
		if _, twice := changes[number]; twice {
			t.Errorf("page %d is yielded twice", number)
		}
		changes[number] = change
		switch change.Kind {
		case connect.Upserted:
			known[change.Document.ID] = change.Document.Hash
		case connect.Deleted:
			delete(known, change.Document.ID)
		}
	}
	return changes
}

// rich makes the content of a block that is text.
func rich(pieces ...string) object { return object{"rich_text": text(pieces...), "color": "default"} }

// TestPagesBecomeDocuments compares a page with blocks of all types with its Markdown.
func TestPagesBecomeDocuments(t *testing.T) {
	f := newFake(t)
	f.put(2, "Runbook")
	row := func(number int, cells ...string) object {
		made := [][]object{}
		for _, cell := range cells {
			made = append(made, text(cell))
		}
		return f.block(number, "table_row", object{"cells": made})
	}
	unsupported := f.block(49, "unsupported", object{}, f.paragraph(54, "x"))
	delete(f.blocks, id(49)) // is refused
	original := f.block(40, "synced_block", object{"synced_from": nil}, f.paragraph(41, "Said once."))
	f.put(1, "How to restart", f.block(10, "heading_1", rich("Steps")),
		f.paragraph(11, "Ask ", "**ops**", " or ", "_anyone_", ", ", "~nobody~", ", with ", "`x && y <z>`", " and ", "$a^2$", ". See the ", "runbook→/"+strings.ReplaceAll(id(2), "-", ""), ", ", "site→https://example.com/a?b=1", ", ", "bad→javascript:alert(1)", "."),
		f.block(12, "bulleted_list_item", rich("first"), f.block(13, "numbered_list_item", rich("one")), f.block(14, "numbered_list_item", rich("two"))),
		f.block(15, "bulleted_list_item", rich("second")),
		f.block(16, "to_do", object{"rich_text": text("done"), "checked": true}), f.block(17, "to_do", object{"rich_text": text("open"), "checked": false}),
		f.block(18, "heading_2", rich("More")),
		f.block(19, "toggle", rich("Why?"), f.paragraph(20, "Because.")),
		f.block(21, "code", object{"rich_text": text("systemctl restart x && echo \"<ok>\"\n```"), "language": "bash", "caption": text("How it is done")}),
		f.block(22, "quote", rich("Said\nby Ada")), f.block(23, "callout", rich("Careful"), f.paragraph(24, "Very.")),
		f.block(25, "table", object{"table_width": 2, "has_column_header": true, "has_row_header": false}, row(26, "Port", "Use"), row(27, "8080", "web | api"), row(28, "22", "two\nlines")),
		f.block(29, "bookmark", object{"url": "https://example.com/book", "caption": text("The book")}), f.block(30, "embed", object{"url": "https://example.com/embed", "caption": []object{}}),
		f.block(31, "equation", object{"expression": "e = m c^2"}), f.block(32, "divider", object{}),
		f.block(33, "image", object{"type": "file", "file": object{"url": "https://files.example.com/signed?secret", "expiry_time": "2026-05-01T13:00:00.000Z"}, "caption": text("The rack")}),
		f.block(34, "pdf", object{"type": "external", "external": object{"url": "https://example.com/a.pdf"}, "caption": []object{}}),
		f.block(35, "child_page", object{"title": "Child *page*"}, f.paragraph(36, "Of the child.")), f.block(37, "child_database", object{"title": "Services"}),
		f.block(38, "link_to_page", object{"type": "page_id", "page_id": id(2)}),
		original, f.block(42, "synced_block", object{"synced_from": object{"type": "block_id", "block_id": id(40)}}), f.block(43, "synced_block", object{"synced_from": object{"type": "block_id", "block_id": id(777)}}),
		f.block(44, "column_list", object{}, f.block(45, "column", object{"width_ratio": 0.5}, f.paragraph(46, "Left.")), f.block(47, "column", object{}, f.paragraph(48, "Right."))),
		unsupported, f.block(50, "table_of_contents", object{"color": "default"}), f.block(51, "transcription", object{"title": text("Meeting"), "status": "notes_ready"}, f.paragraph(52, "We met.")),
		f.paragraph(53, "# no heading, *no* [link](x), <script>no</script>"),
	)
	got := read(t, f, connect.Known{})[1]
	if got.Kind != connect.Upserted {
		t.Fatalf("%+v", got.Reason)
	}
	golden := filepath.Join("testdata", "page.md")
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if string(got.Content) != string(want) {
		t.Errorf("not as %s says:\n%s", golden, got.Content)
	}
	if d := got.Document; d.URL != "https://www.notion.so/How-to-restart-"+strings.ReplaceAll(id(1), "-", "") || d.Title != "How to restart" || d.Path != "How to restart" ||
		d.Audience != "group:staff" || !d.Modified.Equal(time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)) {
		t.Errorf("%+v", d)
	}
	if slices.Contains(f.asked, "/v1/blocks/"+id(35)+"/children") {
		t.Error("a child page was read as a part of its parent")
	}
}

// TestRowsOfDatabases has the properties of a row come before what it says.
func TestRowsOfDatabases(t *testing.T) {
	f := newFake(t)
	f.put(2, "Platform")
	f.put(1, "Gateway", f.paragraph(10, "Routes requests.")).properties = jsonOf(t, `{
		"Tier": {"id": "a", "type": "select", "select": {"id": "1", "name": "Gold", "color": "yellow"}},
		"Tags": {"id": "b", "type": "multi_select", "multi_select": [{"id": "1", "name": "edge", "color": "red"}, {"id": "2", "name": "http", "color": "red"}]},
		"State": {"id": "c", "type": "status", "status": {"id": "1", "name": "Live", "color": "green"}},
		"Empty": {"id": "d", "type": "select", "select": null},
		"Port": {"id": "e", "type": "number", "number": 8080},
		"Public": {"id": "f", "type": "checkbox", "checkbox": false},
		"Since": {"id": "g", "type": "date", "date": {"start": "2025-01-02", "end": "2025-03-04", "time_zone": null}},
		"Owner": {"id": "h", "type": "people", "people": [{"object": "user", "id": "`+id(9)+`", "name": "Ada", "type": "person", "person": {}}, {"object": "user", "id": "`+id(2)+`"}]},
		"Site": {"id": "i", "type": "url", "url": "https://gateway.example.com"},
		"Note": {"id": "j", "type": "rich_text", "rich_text": [{"type": "text", "plain_text": "see ", "href": null, "annotations": {"bold": false}}, {"type": "text", "plain_text": "this", "href": "https://example.com", "annotations": {"bold": true}}]},
		"Score": {"id": "k", "type": "formula", "formula": {"type": "number", "number": 2.5}},
		"Team": {"id": "l", "type": "relation", "relation": [{"id": "`+id(2)+`"}, {"id": "`+id(77)+`"}], "has_more": false},
		"Ports": {"id": "m", "type": "rollup", "rollup": {"type": "array", "array": [{"type": "number", "number": 1}, {"type": "number", "number": 2}], "function": "show_original"}},
		"Key": {"id": "n", "type": "unique_id", "unique_id": {"prefix": "SVC", "number": 7}},
		"Seen": {"id": "o", "type": "verification", "verification": {"state": "verified", "verified_by": null, "date": null}},
		"Diagram": {"id": "p", "type": "files", "files": [{"name": "net.png", "type": "file", "file": {"url": "https://files.example.com/signed", "expiry_time": "2026-05-01T13:00:00.000Z"}}]},
		"Made": {"id": "q", "type": "created_time", "created_time": "2026-05-01T12:00:00.000Z"},
		"Press": {"id": "r", "type": "button", "button": {}}
	}`)
	got := string(read(t, f, connect.Known{})[1].Content)
	want := `# Gateway

- Diagram: net.png
- Key: SVC-7
- Made: 2026-05-01T12:00:00.000Z
- Note: see [**this**](https://example.com)
- Owner: Ada
- Port: 8080
- Ports: 1, 2
- Public: No
- Score: 2.5
- Seen: verified
- Since: 2025-01-02 to 2025-03-04
- Site: [https://gateway.example.com](https://gateway.example.com)
- State: Live
- Tags: edge, http
- Team: [Platform](https://www.notion.so/` + strings.ReplaceAll(id(2), "-", "") + `)
- Tier: Gold

Routes requests.
`
	if got != want {
		t.Errorf("got:\n%s", got)
	}
}

// TestAChangeInTheSameMinute has a page read again that was read while it could still be edited
// without another time of its last edit.
func TestAChangeInTheSameMinute(t *testing.T) {
	f := newFake(t)
	f.put(1, "Page", f.paragraph(10, "before")).edited = time.Now().Truncate(time.Minute)
	known := connect.Known{}
	document := read(t, f, known)[1].Document
	f.change(func() { f.blocks[id(1)][0]["paragraph"] = rich("after") })
	if again := read(t, f, known)[1]; again.Kind != connect.Upserted || !strings.Contains(string(again.Content), "after") {
		t.Errorf("%d: %s", again.Kind, again.Content)
	}
	if state, err := notion.New(f.options()).Check(t.Context(), document); state != knowledge.StateLive || err != nil {
		t.Errorf("%s, %v", state, err)
	}
}

func TestUnchangedPagesAreNotRead(t *testing.T) {
	f := newFake(t)
	for number := range 5 {
		f.put(number+1, "Page", f.paragraph(10+number, "x"))
	}
	known := connect.Known{}
	read(t, f, known)
	f.put(2, "Page", f.paragraph(11, "y"))
	f.asked = nil
	read(t, f, known)
	if want := []string{"/v1/search", "/v1/search", "/v1/search", "/v1/blocks/" + id(2) + "/children"}; !slices.Equal(f.asked, want) {
		t.Errorf("asked for %q", f.asked)
	}
}

func TestCheck(t *testing.T) {
	f := newFake(t)
	made := f.put(1, "Page", f.paragraph(10, "x"))
	document := read(t, f, connect.Known{})[1].Document
	connector := notion.New(f.options())
	wants := func(want knowledge.State) {
		t.Helper()
		if state, err := connector.Check(t.Context(), document); state != want || err != nil {
			t.Errorf("%s, %v, want %s", state, err, want)
		}
	}
	wants(knowledge.StateLive)
	f.put(1, "Page", f.paragraph(10, "y"))
	wants(knowledge.StateChanged)
	f.change(func() { made.trashed = true })
	wants(knowledge.StateGone)
	f.remove(1)
	wants(knowledge.StateGone)
	f.refuse = func(string, string) (int, http.Header) { return http.StatusForbidden, nil }
	if state, err := connector.Check(t.Context(), document); err == nil {
		t.Errorf("a page that can't be asked for is %s", state)
	}
	if _, err := connector.Check(t.Context(), knowledge.Document{ID: "wiki:../users"}); err == nil {
		t.Error("an id that is none was asked for")
	}
}

// TestWhatIsGone tells pages in the trash and pages that are shared no more from those that the
// search forgot.
func TestWhatIsGone(t *testing.T) {
	f := newFake(t)
	for number := range 4 {
		f.put(number+1, "Page", f.paragraph(10+number, "x"))
	}
	known := connect.Known{}
	read(t, f, known)
	f.remove(1)
	f.change(func() {
		f.pages[0].trashed = true                              // page 4
		f.pages[1].trashed, f.pages[1].forgotten = true, true  // page 3
		f.pages[2].trashed, f.pages[2].forgotten = false, true // page 2
	})
	changes := read(t, f, known)
	for number, want := range map[int]connect.ChangeKind{1: connect.Deleted, 2: connect.Unchanged, 3: connect.Deleted, 4: connect.Deleted} {
		if changes[number].Kind != want {
			t.Errorf("page %d: change of kind %d, want %d", number, changes[number].Kind, want)
		}
	}
}

// TestAnIncompleteList has what Notion did not list, and is too much to ask for, stay.
func TestAnIncompleteList(t *testing.T) {
	f := newFake(t)
	known := connect.Known{}
	for number := range 203 {
		known[knowledge.DocumentID("wiki:"+id(number+1))] = "n1"
	}
	for _, one := range []struct {
		incomplete bool
		gone       int
	}{{true, 200}, {false, 203}} {
		f.change(func() { f.incomplete = one.incomplete })
		gone := 0
		for change, err := range notion.New(f.options()).Sync(t.Context(), known) {
			if err != nil {
				t.Fatal(err)
			}
			if change.Kind == connect.Deleted {
				gone++
			}
		}
		if gone != one.gone {
			t.Errorf("%d are gone, want %d", gone, one.gone)
		}
	}
}

// TestTroubleRemovesNothing has Notion answer badly in each way.
func TestTroubleRemovesNothing(t *testing.T) {
	for name, one := range map[string]struct {
		status int
		header http.Header
		at     string // the path
		second bool   // response of the list
		want   string
	}{
		"401":             {status: 401, at: "/v1/search", want: "secret of an integration"},
		"403":             {status: 403, at: "/v1/search", want: "capability to read content"},
		"404 half-way":    {status: 404, at: "/v1/search", second: true, want: "status 404"},
		"500 half-way":    {status: 500, at: "/v1/search", second: true, want: "status 500"},
		"redirect":        {status: 302, header: http.Header{"Location": {"http://169.254.169.254/"}}, at: "/v1/search", want: "status 302"},
		"403 for a page":  {status: 403, at: "/v1/pages/" + id(5), want: "capability to read content"},
		"500 for a page":  {status: 500, at: "/v1/pages/" + id(5), want: "status 500"},
		"401 for content": {status: 401, at: "/v1/blocks/" + id(1) + "/children", want: "secret of an integration"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			for number := range 5 { // two responses of the list, also without one of them
				f.put(number+1, "Page", f.paragraph(10+number, "x"))
			}
			known := connect.Known{}
			read(t, f, known)
			f.refuse = func(path, cursor string) (int, http.Header) {
				if path == one.at && (!one.second || cursor != "") {
					return one.status, one.header
				}
				return 0, nil
			}
			f.remove(5)
			known["wiki:"+knowledge.DocumentID(id(1))] = "old"
			var failed error
			for change, err := range notion.New(f.options()).Sync(t.Context(), known) {
				if change.Kind == connect.Deleted {
					t.Errorf("%s is gone", change.Document.ID)
				}
				failed = err
			}
			if failed == nil || !strings.Contains(failed.Error(), one.want) {
				t.Errorf("%v, want %s", failed, one.want)
			}
		})
	}
}

func TestAServerThatAsksForPatience(t *testing.T) {
	f := newFake(t)
	f.refuse = func(string, string) (int, http.Header) {
		return http.StatusTooManyRequests, http.Header{"Retry-After": {"3600"}}
	}
	for _, err := range notion.New(f.options()).Sync(t.Context(), nil) {
		if busy, ok := errors.AsType[*connect.UnavailableError](err); !ok || busy.After != time.Hour {
			t.Errorf("%v", err)
		}
	}
	f.put(1, "Page", f.paragraph(10, "x"))
	asked := 0
	f.refuse = func(string, string) (int, http.Header) {
		if asked++; asked%2 == 1 {
			return http.StatusTooManyRequests, http.Header{"Retry-After": {"0"}}
		}
		return 0, nil
	}
	if got := read(t, f, connect.Known{})[1]; got.Kind != connect.Upserted {
		t.Errorf("after a short pause: %+v", got)
	}
}

// TestPagesThatCantBeRead has such a page named, and the others read.
func TestPagesThatCantBeRead(t *testing.T) {
	f := newFake(t)
	f.size = 100
	f.put(1, "Large", f.paragraph(10, strings.Repeat("x", 1<<20)), f.paragraph(11, "x"))
	broken := f.paragraph(12, "x")
	broken["paragraph"] = object{"rich_text": "x"}
	f.put(2, "Broken", broken)
	deep := f.block(100, "bulleted_list_item", rich("x"), f.paragraph(99, "x"))
	for level := range 21 {
		deep = f.block(101+level, "bulleted_list_item", rich("x"), deep)
	}
	f.put(3, "Deep", deep)
	f.put(4, "Circle", f.block(200, "synced_block", object{"synced_from": object{"block_id": id(4)}}))
	f.put(5, "Good", f.paragraph(13, "x"))
	options := f.options()
	options.MaxBytes = 1 << 20
	reasons := map[int]string{1: "over the limit", 2: "rich_text", 3: "nested more than 20 deep", 4: "nested more than 20 deep", 5: ""}
	for change, err := range notion.New(options).Sync(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		want := reasons[numberOf(change.Document.ID)]
		if (change.Kind == connect.Failed) != (want != "") || want != "" && !strings.Contains(change.Reason.Error(), want) {
			t.Errorf("%s: %v, want %s", change.Document.ID, change.Reason, want)
		}
	}
}

func TestWhatIsRequired(t *testing.T) {
	for address, want := range map[string]string{
		"https://www.notion.so/acme/Handbook-0123": "without a path", "ftp://www.notion.so": "want the address", "https://acme.notion.site": "kind website",
	} {
		for _, err := range notion.New(notion.Options{Source: "wiki", URL: address, Audience: "public"}).Sync(t.Context(), nil) {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", address, err)
			}
		}
	}
	for _, err := range notion.New(notion.Options{Source: "wiki", URL: "https://127.0.0.1:1", Audience: "public"}).Sync(t.Context(), nil) {
		if !errors.Is(err, publicnet.ErrPrivate) {
			t.Errorf("%v", err)
		}
	}
	for _, err := range notion.New(notion.Options{Source: "wiki", URL: "https://www.notion.so"}).Sync(t.Context(), nil) {
		if err == nil || !strings.Contains(err.Error(), "audience") {
			t.Errorf("%v", err)
		}
	}
}
