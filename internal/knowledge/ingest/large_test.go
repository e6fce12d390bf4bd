package ingest_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestALargeDocumentIsReadInParts reads one in parts that are much smaller than usual: it says the same,
// small ones beside it are read, and one that turns out broken after its first parts is forgotten.
func TestALargeDocumentIsReadInParts(t *testing.T) {
	var page strings.Builder
	page.WriteString("<html><head><title>Inventory</title></head><body>")
	for i := range 300 {
		fmt.Fprintf(&page, "<h2>Shelf %d</h2><p>Here lie the parts of machine%d.</p>", i, i)
	}
	whole := open(t)
	whole.write("large.html", page.String())
	want := whole.sync()

	p := open(t)
	p.reader.Limits.Part = 2000
	p.write("large.html", page.String())
	if r := p.sync(); r.Added != 3 || r.Passages != want.Passages || r.Embedded != want.Embedded || len(r.Failures) != 0 {
		t.Errorf("in parts: %+v, want what it is whole, %+v", r, want)
	}
	for _, word := range []string{"machine0", "machine299", "28"} {
		if !p.finds(word) {
			t.Errorf("%s is not found", word)
		}
	}
	p.write("large.html", strings.Replace(page.String(), "machine7.", "engine7.", 1))
	if r := p.sync(); r.Updated != 1 || r.Embedded != 1 || p.finds("machine7") || !p.finds("engine7") || !p.finds("machine8") {
		t.Errorf("a passage changed: %+v", r)
	}
	p.write("large.html", page.String()+strings.Repeat("<div>", 300)+"deep")
	if r := p.sync(); len(r.Failures) != 1 || r.Unchanged != 2 || p.finds("machine0") || !p.finds("28") {
		t.Errorf("a page that is nested too deep at its end: %+v", r)
	}
	p.write("large.html", page.String())
	if r := p.sync(); r.Added != 1 || !p.finds("machine299") {
		t.Errorf("it can be read again: %+v", r)
	}
}
