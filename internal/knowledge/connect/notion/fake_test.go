package notion_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/knowledge/connect/notion"
)

type object = map[string]any

// page is a page of the stand-in.
type page struct {
	id, title  string
	edited     time.Time
	properties object // beside the title
	trashed    bool
	hidden     bool // its blocks can't be read
	forgotten  bool // the search does not have it
}

// fake is a strict stand-in for Notion's API of version 2025-09-03: it takes the requests that the
// published description has and that are used, and gives objects of the documented shapes.
type fake struct {
	t      testing.TB
	server *httptest.Server

	mu         sync.Mutex
	pages      []*page
	blocks     map[string][]object // by the page or block that they are in
	size       int                 // entries of one response
	asked      []string
	incomplete bool
	// refuse gives the status of an answer to a path, 0 for the usual one; nil never does.
	refuse func(path, cursor string) (status int, header http.Header)
}

func newFake(t testing.TB) *fake {
	f := &fake{t: t, size: 2, blocks: make(map[string][]object)}
	f.server = httptest.NewTLSServer(http.HandlerFunc(f.answer))
	t.Cleanup(f.server.Close)
	return f
}

func (f *fake) options() notion.Options {
	pool := x509.NewCertPool()
	pool.AddCert(f.server.Certificate())
	return notion.Options{
		Source: "wiki", URL: f.server.URL, Token: "ntn_token", AllowPrivate: true, TLS: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12},
		Audience: "group:staff", Pause: time.Nanosecond,
	}
}

// id makes the id of a page or a block.
func id(number int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", number) }

// put makes or replaces a page. Each edit is a minute later than the one before.
func (f *fake) put(number int, title string, blocks ...object) *page {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.blocks[id(number)] = blocks
	for _, p := range f.pages {
		if p.id == id(number) {
			p.title, p.edited = title, p.edited.Add(time.Minute)
			return p
		}
	}
	made := &page{id: id(number), title: title, edited: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)}
	f.pages = append(f.pages, made)
	slices.SortFunc(f.pages, func(a, b *page) int { return strings.Compare(b.id, a.id) })
	return made
}

func (f *fake) remove(number int) {
	f.change(func() { f.pages = slices.DeleteFunc(f.pages, func(p *page) bool { return p.id == id(number) }) })
}

func (f *fake) change(what func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	what()
}

// text makes rich text of pieces: **bold**, _italic_, ~struck~, `code`, $equation$, or text with a
// link behind it: text→address.
func text(pieces ...string) []object {
	made := []object{}
	for _, piece := range pieces {
		looks := object{"bold": false, "italic": false, "strikethrough": false, "underline": false, "code": false, "color": "default"}
		kind, href := "text", any(nil)
		for mark, look := range map[string]string{"**": "bold", "_": "italic", "~": "strikethrough", "`": "code"} {
			if inner, ok := strings.CutPrefix(piece, mark); ok && strings.HasSuffix(inner, mark) {
				piece, looks[look] = strings.TrimSuffix(inner, mark), true
			}
		}
		if inner, ok := strings.CutPrefix(piece, "$"); ok && strings.HasSuffix(inner, "$") {
			piece, kind = strings.TrimSuffix(inner, "$"), "equation"
		}
		if before, after, ok := strings.Cut(piece, "→"); ok {
			piece, href = before, after
		}
		made = append(made, object{"type": kind, kind: object{"content": piece, "link": nil}, "annotations": looks, "plain_text": piece, "href": href})
	}
	return made
}

// block makes a block with what stands under its type. Those in it are its children.
func (f *fake) block(number int, kind string, content object, children ...object) object {
	f.change(func() { f.blocks[id(number)] = children })
	return object{
		"object": "block", "id": id(number), "parent": object{"type": "page_id", "page_id": id(1)}, "created_time": "2026-05-01T12:00:00.000Z",
		"last_edited_time": "2026-05-01T12:00:00.000Z", "created_by": object{"object": "user", "id": id(999)}, "last_edited_by": object{"object": "user", "id": id(999)},
		"has_children": len(children) > 0, "archived": false, "in_trash": false, "type": kind, kind: content,
	}
}

// paragraph makes a block of text.
func (f *fake) paragraph(number int, pieces ...string) object {
	return f.block(number, "paragraph", object{"rich_text": text(pieces...), "color": "default"})
}

// searchRequest is the body of a search, as the description has it.
type searchRequest struct {
	Query string `json:"query"`
	Sort  struct {
		Direction string `json:"direction"`
		Timestamp string `json:"timestamp"`
	} `json:"sort"`
	Filter struct {
		Value    string `json:"value"`
		Property string `json:"property"`
	} `json:"filter"`
	Cursor string `json:"start_cursor"`
	Size   int32  `json:"page_size"`
}

func (f *fake) answer(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	path := r.URL.Path
	f.asked = append(f.asked, path)
	if r.Header.Get("Notion-Version") != "2025-09-03" || r.Header.Get("Accept") != "application/json" {
		f.t.Errorf("%s with the headers %v", path, r.Header)
	}
	if r.Header.Get("Authorization") != "Bearer ntn_token" {
		f.fail(w, http.StatusUnauthorized, "unauthorized")
		return
	}
	cursor, ok := f.checkRequest(r)
	if !ok {
		f.t.Errorf("there is no operation %s %s", r.Method, r.URL)
		f.fail(w, http.StatusBadRequest, "invalid_request_url")
		return
	}
	if f.refuse != nil {
		if status, header := f.refuse(path, cursor); status != 0 {
			for key, values := range header {
				w.Header()[key] = values
			}
			f.fail(w, status, "refused")
			return
		}
	}
	made := f.make(path, cursor)
	if made == nil {
		f.fail(w, http.StatusNotFound, "object_not_found")
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(made); err != nil {
		f.t.Error(err)
	}
}

// fail answers with an error as the description has it.
func (f *fake) fail(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(object{"object": "error", "status": status, "code": code, "message": code}); err != nil {
		f.t.Error(err)
	}
}

// checkRequest checks a request against the description, and gives its cursor.
func (f *fake) checkRequest(r *http.Request) (cursor string, ok bool) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch {
	case r.URL.Path == "/v1/search":
		var body searchRequest
		decoder := json.NewDecoder(r.Body)
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&body); err != nil {
			f.t.Errorf("the body of a search: %v", err)
		}
		if body.Filter.Property != "object" || body.Filter.Value != "page" || body.Sort.Timestamp != "last_edited_time" || body.Sort.Direction != "ascending" || body.Size != 100 {
			f.t.Errorf("a search for %+v", body)
		}
		return body.Cursor, r.Method == http.MethodPost && len(r.URL.Query()) == 0 && r.Header.Get("Content-Type") == "application/json"
	case len(parts) == 4 && parts[1] == "blocks" && parts[3] == "children":
		query := r.URL.Query()
		cursor = query.Get("start_cursor")
		for name := range query {
			if name != "start_cursor" && name != "page_size" || query.Get(name) == "" {
				f.t.Errorf("the children of a block with %v", query)
			}
		}
		return cursor, r.Method == http.MethodGet && query.Get("page_size") == "100"
	case len(parts) == 3 && parts[1] == "pages":
		return "", r.Method == http.MethodGet && len(r.URL.Query()) == 0
	}
	return "", false
}

// make makes an answer, nil for what is not there.
func (f *fake) make(path, cursor string) object {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	if parts[1] == "search" {
		var results []object
		for _, p := range f.pages {
			if !p.forgotten {
				results = append(results, p.object())
			}
		}
		made := f.paged(results, cursor, "page_or_data_source")
		if f.incomplete {
			made["request_status"] = object{"type": "incomplete", "incomplete_reason": "query_result_limit_reached"}
		}
		return made
	}
	at := slices.IndexFunc(f.pages, func(p *page) bool { return p.id == parts[2] })
	if parts[1] == "pages" {
		if at < 0 {
			return nil
		}
		return f.pages[at].object()
	}
	blocks, ok := f.blocks[parts[2]]
	if !ok || at >= 0 && f.pages[at].hidden {
		return nil
	}
	return f.paged(blocks, cursor, "block")
}

// paged gives one response of a list.
func (f *fake) paged(results []object, cursor, kind string) object {
	start, _ := strconv.Atoi(cursor) //nolint:errcheck // 0 then
	end := min(start+f.size, len(results))
	made := object{"object": "list", "results": append([]object{}, results[min(start, end):end]...), "type": kind, kind: object{}, "has_more": end < len(results), "next_cursor": nil}
	if end < len(results) {
		made["next_cursor"] = strconv.Itoa(end)
	}
	return made
}

func (p *page) object() object {
	properties := object{"Name": object{"id": "title", "type": "title", "title": text(p.title)}}
	parent := object{"type": "workspace", "workspace": true}
	for name, value := range p.properties {
		properties[name] = value
		parent = object{"type": "data_source_id", "data_source_id": id(800), "database_id": id(801)}
	}
	slug := strings.ReplaceAll(p.title, " ", "-") + "-" + strings.ReplaceAll(p.id, "-", "")
	return object{
		"object": "page", "id": p.id, "created_time": "2026-05-01T12:00:00.000Z", "last_edited_time": p.edited.Format("2006-01-02T15:04:05.000Z"),
		"created_by": object{"object": "user", "id": id(999)}, "last_edited_by": object{"object": "user", "id": id(999)}, "cover": nil, "icon": nil,
		"parent": parent, "archived": p.trashed, "in_trash": p.trashed, "is_locked": false, "properties": properties, "url": "https://www.notion.so/" + slug, "public_url": nil,
	}
}

// jsonOf makes a value of what a page has.
func jsonOf(t testing.TB, from string) object {
	t.Helper()
	var made object
	if err := json.NewDecoder(bytes.NewReader([]byte(from))).Decode(&made); err != nil {
		t.Fatal(err)
	}
	return made
}
