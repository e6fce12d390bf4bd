package engine

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
)

// randomPostings gives postings in order of slot, over several blocks.
func randomPostings(random *rand.Rand) []posting {
	var list []posting
	slot := int32(random.IntN(3 * groupSize))
	for range random.IntN(200) {
		p := posting{slot: slot, counts: counts{body: uint8(random.IntN(6))}}
		if random.IntN(4) == 0 || p.body == 0 {
			p.title, p.headings, p.body = uint8(1+random.IntN(255)), uint8(random.IntN(3)), uint8(random.IntN(256))
		}
		list = append(list, p)
		slot += 1 + int32(random.IntN(groupSize/10))
	}
	return list
}

func readList(data []byte) ([]posting, error) {
	var list []posting
	var inner error
	err := eachGroup(data, func(number int32, data []byte) {
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
		if got[at].term != page.first {
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
				if p.slot < 0 || p.title|p.headings|p.body == 0 {
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

func readGroupOf(data []byte) ([]posting, error) {
	var list []posting
	err := eachPosting(0, data, func(p posting) { list = append(list, p) })
	return list, err
}

func TestPostingsComeBackAsStored(t *testing.T) {
	list := []posting{
		{slot: 0, counts: counts{body: 1}},
		{slot: 1, counts: counts{body: bodyLimit - 1}},
		{slot: 2, counts: counts{body: bodyLimit}},
		{slot: 3, counts: counts{title: 1}},
		{slot: 4, counts: counts{headings: 255, body: 255}},
		{slot: groupSize - 1, counts: counts{body: 2}},
	}
	var data []byte
	for _, p := range list {
		data = appendPosting(data, p)
	}
	if got, err := readGroupOf(data); err != nil || !slices.Equal(got, list) {
		t.Errorf("read %v, %v", got, err)
	}
	if want := 3*2 + 3*5; len(data) != want {
		t.Errorf("%d bytes, want %d", len(data), want)
	}
}

func TestIncrementStopsAtTheMost(t *testing.T) {
	var c counts
	for range 300 {
		increment(&c.body)
	}
	if want := (counts{body: 255}); c != want {
		t.Errorf("%+v, want %+v", c, want)
	}
}

// FuzzEachPosting reads postings that may be damaged: an error or a list that is stored as it
// was read or, a count written the long way, the same again.
func FuzzEachPosting(f *testing.F) {
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := readGroupOf(data)
		if err != nil {
			return
		}
		var stored []byte
		for _, p := range list {
			stored = appendPosting(stored, p)
		}
		again, err := readGroupOf(stored)
		if err != nil || !slices.Equal(again, list) {
			t.Fatalf("%x: read %v, stored and read again %v, %v", data, list, again, err)
		}
	})
}
