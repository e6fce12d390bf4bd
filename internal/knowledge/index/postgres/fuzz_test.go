package postgres

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"cairn/internal/knowledge/index/ranking"
)

// randomPostings gives postings in order of slot, over several blocks.
func randomPostings(random *rand.Rand) []posting {
	var list []posting
	slot := int32(random.IntN(3 * ranking.BlockSize))
	for range random.IntN(200) {
		p := posting{slot: slot, Counts: ranking.Counts{Body: uint8(random.IntN(6))}}
		if random.IntN(4) == 0 || p.Body == 0 {
			p.Title, p.Headings, p.Body = uint8(1+random.IntN(255)), uint8(random.IntN(3)), uint8(random.IntN(256))
		}
		list = append(list, p)
		slot += 1 + int32(random.IntN(ranking.BlockSize/10))
	}
	return list
}

func readList(data []byte) ([]posting, error) {
	var list []posting
	var inner error
	err := eachBlock(data, func(number int32, data []byte) {
		if err := eachPosting(number, data, func(p posting) { list = append(list, p) }); err != nil {
			inner = err
		}
	})
	if err == nil {
		err = inner
	}
	return list, err
}

func TestListsComeBackAsWritten(t *testing.T) {
	for seed := range uint64(200) {
		want := randomPostings(rand.New(rand.NewPCG(seed, 2)))
		if got, err := readList(makeList(want)); err != nil || !slices.Equal(got, want) {
			t.Fatalf("seed %d: %v, %v, want %v", seed, got, err, want)
		}
	}
}

func TestPagesComeBackAsWritten(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	pages := paginator{size: 300}
	var want []entry
	for i := range 100 {
		e := entry{term: string([]byte{'a' + byte(i/26), 'a' + byte(i%26)}), passages: random.IntN(20) - 10, list: makeList(randomPostings(random))}
		want = append(want, e)
		pages.addEntry(e)
	}
	pages.flushPage()
	var got []entry
	for _, page := range pages.takePages() {
		at := len(got)
		if err := eachEntry(page.entries, func(e entry) bool {
			got = append(got, e)
			return true
		}); err != nil {
			t.Fatal(err)
		}
		if got[at].term != string(page.first) {
			t.Errorf("a page of %q begins with %q", page.first, got[at].term)
		}
	}
	if !slices.EqualFunc(got, want, func(a, b entry) bool {
		return a.term == b.term && a.passages == b.passages && bytes.Equal(a.list, b.list)
	}) {
		t.Error("entries differ")
	}
}

// FuzzEachEntry reads pages that hold anything: damage is an error, never a panic.
func FuzzEachEntry(f *testing.F) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 5 {
		page := appendEntry(nil, entry{term: "term", passages: -3, list: makeList(randomPostings(random))})
		f.Add(appendEntry(page, entry{term: "zeta", passages: 1}))
	}
	f.Fuzz(func(t *testing.T, page []byte) {
		err := eachEntry(page, func(e entry) bool {
			list, err := readList(e.list)
			if err != nil {
				return true
			}
			for _, p := range list {
				if p.slot < 0 || p.Title|p.Headings|p.Body == 0 {
					t.Fatalf("posting %+v", p)
				}
			}
			return true
		})
		if err == nil && len(page) == 1 {
			t.Fatalf("a page of one byte %x was read", page)
		}
	})
}
