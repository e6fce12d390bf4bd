package pdf

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
)

// file is a PDF file whose objects have been found.
type file struct {
	data      []byte
	limits    Limits
	places    map[int]place
	loaded    map[int]object
	packed    map[int][]byte
	unpacked  int64 // bytes of object streams and character maps
	fonts     map[int]*font
	trailer   map[string]object
	encrypted bool
	elements  int   // made of dictionaries and arrays
	over      error // the limit that the scan went over
}

// place is where an object begins: in the file, or in an object stream.
type place struct {
	offset   int
	inStream int // number of the object stream, 0 for none
}

func newFile(data []byte, limits Limits) *file {
	return &file{
		data: data, limits: limits, places: map[int]place{}, loaded: map[int]object{},
		packed: map[int][]byte{}, fonts: map[int]*font{}, trailer: map[string]object{},
	}
}

var beginning = regexp.MustCompile(`(?:(\d{1,9})[ \t\r\n\f\x00]+\d{1,5}[ \t\r\n\f\x00]+obj\b)|\btrailer\b`)

// scanObjects finds all objects, a later one replacing an earlier of the same number, and
// what the trailers say. Streams are stepped over: what is in them is no structure.
func (f *file) scanObjects() {
	for at := 0; at < len(f.data); {
		found := beginning.FindSubmatchIndex(f.data[at:])
		if found == nil {
			return
		}
		body := at + found[1]
		if found[2] < 0 {
			l := &lexer{data: f.data, at: body, elements: &f.elements}
			f.addTrailer(l.readObject(true, 0).dict)
			at = body
			continue
		}
		id, err := strconv.Atoi(string(f.data[at+found[2] : at+found[3]]))
		if err != nil || id == 0 {
			at = body
			continue
		}
		f.places[id] = place{offset: body}
		at = f.skipObject(id, body)
	}
}

// skipObject returns the place behind an object's stream, or where the object begins
// when it has none.
func (f *file) skipObject(id, body int) int {
	rest := f.data[body:]
	stream := bytes.Index(rest[:min(len(rest), maxHeader)], []byte("stream"))
	stop := bytes.Index(rest[:min(len(rest), maxHeader)], []byte("endobj"))
	if stream < 0 || stop >= 0 && stop < stream {
		return body
	}
	o, end := f.parseObject(body)
	switch f.nameOf(o.dict["Type"]) {
	case "ObjStm":
		f.listStream(id, o)
	case "XRef":
		f.addTrailer(o.dict)
	}
	return end
}

// maxHeader is how long the dictionary in front of a stream may be, in bytes.
const maxHeader = 64 << 10

func (f *file) nameOf(o object) string {
	if o.kind == name {
		return o.text
	}
	return ""
}

func (f *file) addTrailer(dict map[string]object) {
	for _, key := range []string{"Root", "Info"} {
		if value, ok := dict[key]; ok {
			f.trailer[key] = value
		}
	}
	if _, ok := dict["Encrypt"]; ok {
		f.encrypted = true
	}
}

// parseObject reads the object at a place, with its stream, and gives where it ends.
func (f *file) parseObject(at int) (object, int) {
	l := &lexer{data: f.data, at: at, elements: &f.elements}
	o := l.readObject(true, 0)
	if o.kind != dictionary {
		return o, l.at
	}
	l.skipSpace()
	if !bytes.HasPrefix(f.data[l.at:], []byte("stream")) {
		return o, l.at
	}
	start := l.at + len("stream")
	if start < len(f.data) && f.data[start] == '\r' {
		start++
	}
	if start < len(f.data) && f.data[start] == '\n' {
		start++
	}
	end := f.streamEnd(start, o.dict["Length"])
	o.stream = f.data[start:end]
	return o, end
}

// streamEnd trusts a stream's length only where its end mark follows.
func (f *file) streamEnd(start int, length object) int {
	if length.kind == number && length.toInt() >= 0 && length.toInt() <= len(f.data)-start {
		end := start + length.toInt()
		mark := bytes.TrimLeft(f.data[end:min(len(f.data), end+16)], "\r\n \t")
		if bytes.HasPrefix(mark, []byte("endstream")) {
			return end
		}
	}
	if cut := bytes.Index(f.data[start:], []byte("endstream")); cut >= 0 {
		return start + cut
	}
	return len(f.data)
}

// listStream notes which objects are packed into an object stream.
func (f *file) listStream(id int, o object) {
	data, err := f.decodeStream(o)
	if f.unpacked += int64(len(data)); f.unpacked > f.limits.Bytes {
		err = &LimitError{What: "bytes when unpacked", Limit: f.limits.Bytes}
	}
	if err != nil {
		if isLimit(err) {
			f.over = err
		}
		return
	}
	first := o.dict["First"].toInt()
	if first <= 0 || first > len(data) {
		return
	}
	f.packed[id] = data
	header := &lexer{data: data[:first], elements: &f.elements}
	for {
		number, offset := header.readObject(false, 0), header.readObject(false, 0)
		if offset.kind == end {
			return
		}
		if number.toInt() > 0 && offset.toInt() >= 0 && offset.toInt() < len(data)-first {
			f.places[number.toInt()] = place{offset: first + offset.toInt(), inStream: id}
		}
	}
}

// resolveReference follows references to the object itself.
func (f *file) resolveReference(o object) object {
	for range maxNesting {
		if o.kind != reference {
			return o
		}
		o = f.loadObject(o.toInt())
	}
	return object{}
}

func (f *file) loadObject(id int) object {
	if o, ok := f.loaded[id]; ok {
		return o
	}
	at, ok := f.places[id]
	if !ok || f.elements >= maxElements {
		return object{}
	}
	var o object
	if at.inStream == 0 {
		o, _ = f.parseObject(at.offset)
	} else {
		l := &lexer{data: f.packed[at.inStream], at: at.offset, elements: &f.elements}
		o = l.readObject(true, 0)
	}
	f.loaded[id] = o
	return o
}

// dictOf returns the dictionary that an object is or refers to; nil for anything else.
func (f *file) dictOf(o object) map[string]object { return f.resolveReference(o).dict }

// findCatalog finds the root of a file whose trailer is lost.
func (f *file) findCatalog() map[string]object {
	for _, id := range f.sortedIDs() {
		if o := f.loadObject(id); o.kind == dictionary && f.nameOf(o.dict["Type"]) == "Catalog" {
			return o.dict
		}
	}
	return nil
}

func (f *file) sortedIDs() []int {
	ids := make([]int, 0, len(f.places))
	for id := range f.places {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// page is a page's own dictionary with what it inherits.
type page struct {
	contents  object
	resources map[string]object
}

// listPages returns the pages in order. Where the tree of pages leads nowhere, it gives
// the pages that the file holds in the order of their numbers.
func (f *file) listPages(ctx context.Context, root map[string]object) ([]page, error) {
	walk := &pageWalk{file: f, visited: map[int]bool{}}
	if err := walk.walkNode(ctx, root["Pages"], nil, 0); err != nil {
		return nil, err
	}
	if len(walk.found) > 0 {
		return walk.found, nil
	}
	for _, id := range f.sortedIDs() {
		if o := f.loadObject(id); f.nameOf(o.dict["Type"]) == "Page" {
			if err := walk.addPage(o.dict, f.dictOf(o.dict["Resources"])); err != nil {
				return nil, err
			}
		}
	}
	return walk.found, nil
}

// pageWalk goes through the tree of pages, each node once.
type pageWalk struct {
	file    *file
	visited map[int]bool
	found   []page
}

func (w *pageWalk) walkNode(ctx context.Context, o object, resources map[string]object, depth int) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("list pages: %w", err)
	}
	if o.kind == reference {
		if w.visited[o.toInt()] {
			return nil
		}
		w.visited[o.toInt()] = true
	}
	node := w.file.dictOf(o)
	if node == nil || depth > maxNesting {
		return nil
	}
	if own := w.file.dictOf(node["Resources"]); own != nil {
		resources = own
	}
	kids := w.file.resolveReference(node["Kids"])
	if kids.kind != array {
		return w.addPage(node, resources)
	}
	for _, kid := range kids.items {
		if err := w.walkNode(ctx, kid, resources, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (w *pageWalk) addPage(node, resources map[string]object) error {
	if len(w.found) >= w.file.limits.Pages {
		return &LimitError{What: "pages", Limit: int64(w.file.limits.Pages)}
	}
	w.found = append(w.found, page{contents: node["Contents"], resources: resources})
	return nil
}
