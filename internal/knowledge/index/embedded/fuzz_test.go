package embedded

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/knowledge/index/indextest"
	"github.com/cairn-bot/cairn/internal/knowledge/lexical"
)

// FuzzWords writes a passage, finds it by all its words and reads it back.
func FuzzWords(f *testing.F) {
	x := mustOpen(f, suiteOptions(f.TempDir()))
	f.Fuzz(func(t *testing.T, id, title, heading, text string) {
		if id == "" {
			return
		}
		document := knowledge.DocumentID(id)
		e := index.Entry{Document: knowledge.Document{ID: document, Title: title}}
		p := knowledge.Passage{ID: knowledge.MakePassageID(document, 0), Document: document, Text: text, Hash: "hash"}
		if utf8.ValidString(heading) {
			p.Headings = []string{heading}
		}
		e.Passages = []knowledge.Passage{p}
		if err := x.Write(t.Context(), index.Batch{Put: []index.Entry{e}}); err != nil {
			t.Fatal(err)
		}
		found, err := x.Passages(t.Context(), []knowledge.PassageID{p.ID})
		if err != nil || len(found) != 1 {
			t.Fatalf("%d passages, %v", len(found), err)
		}
		if got := found[0]; got.Document.ID != document || got.Document.Title != title || got.Passage.Text != text || !slices.Equal(got.Passage.Headings, p.Headings) {
			t.Fatalf("read back %+v, wrote %+v", got, e)
		}
		for _, term := range append(lexical.Analyze(title), lexical.Analyze(text)...) {
			query := index.Query{Terms: []index.Term{{Text: term, Weight: 1}}, Filter: index.Filter{Documents: []knowledge.DocumentID{document}}}
			candidates, err := x.Search(t.Context(), query)
			if err != nil || len(candidates.Lexical) != 1 || candidates.Lexical[0].Passage != p.ID {
				t.Fatalf("by %q: %v, %v", term, candidates.Lexical, err)
			}
		}
		if err := x.Write(t.Context(), index.Batch{Delete: []knowledge.DocumentID{document}}); err != nil {
			t.Fatal(err)
		}
		if stats, err := x.Stats(t.Context()); err != nil || stats.Documents != 0 || stats.Passages != 0 {
			t.Fatalf("after the deletion: %+v, %v", stats, err)
		}
	})
}

// FuzzLookup asks for what was never written.
func FuzzLookup(f *testing.F) {
	x := mustOpen(f, suiteOptions(f.TempDir()))
	e := indextest.TextEntry("a", "near rollback kubernetes 回滚 or and not")
	if err := x.Write(f.Context(), index.Batch{Put: []index.Entry{e}}); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		candidates, err := x.Search(t.Context(), index.Query{Terms: []index.Term{{Text: text, Weight: 1}}})
		if err != nil || (len(candidates.Lexical) > 0) != slices.Contains(lexical.Analyze("Title "+e.Passages[0].Text), text) {
			t.Fatalf("by %q: %+v, %v", text, candidates, err)
		}
		similar, err := x.Similar(t.Context(), text, 3)
		if err != nil || len(similar) > 3 {
			t.Fatalf("similar to %q: %v, %v", text, similar, err)
		}
		for _, s := range similar {
			if s.Term == text || s.Passages != 1 {
				t.Fatalf("similar to %q: %+v", text, s)
			}
		}
		if found, err := x.Passages(t.Context(), []knowledge.PassageID{knowledge.PassageID(text)}); err != nil || len(found) > 0 && text != "a#0" {
			t.Fatalf("passage %q: %v, %v", text, found, err)
		}
		if _, err := x.Definitions(t.Context(), text, knowledge.Viewers{}); err != nil {
			t.Fatalf("definitions of %q: %v", text, err)
		}
	})
}

// TestHalves stores every half float from -1 to 1, and what lies between two.
func TestHalves(t *testing.T) {
	for half := range uint16(0x3c01) {
		for _, sign := range []uint16{0, 0x8000} {
			value := halfToFloat(half | sign)
			if got := binary.LittleEndian.Uint16(appendHalves(nil, []float32{value})); got != half|sign {
				t.Fatalf("half %#x is %v, which is stored as %#x", half|sign, value, got)
			}
		}
	}
	for _, test := range []struct {
		value float32
		want  uint16
	}{
		{1, 0x3c00}, {0.5, 0x3800}, {-0.5, 0xb800}, {0x1p-14, 0x0400}, {0x1p-24, 1}, {0x1p-26, 0},
		{1 - 0x1p-12, 0x3c00}, {0.5 + 0x1p-12, 0x3800}, {0.5 + 3*0x1p-12, 0x3802}, {0.5 + 0x1.1p-12, 0x3801},
	} {
		if got := binary.LittleEndian.Uint16(appendHalves(nil, []float32{test.value})); got != test.want {
			t.Errorf("%v is stored as %#x, want %#x", test.value, got, test.want)
		}
	}
	vector := make([]float32, indextest.Dimension+1) // odd
	for i := range vector {
		vector[i] = float32(math.Sqrt(1 / float64(len(vector))))
	}
	if dot := dotHalves(vector, appendHalves(nil, vector)); math.Abs(dot-1) > 1e-3 {
		t.Errorf("a unit vector times itself is %v", dot)
	}
}
