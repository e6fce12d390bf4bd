package ranking

import (
	"slices"
	"testing"
)

func readAll(data []byte) ([]Posting, error) {
	var list []Posting
	err := EachPosting(data, func(p Posting) { list = append(list, p) })
	return list, err
}

func TestPostingsComeBackAsStored(t *testing.T) {
	list := []Posting{
		{Slot: 0, Counts: Counts{Body: 1}},
		{Slot: 1, Counts: Counts{Body: bodyLimit - 1}},
		{Slot: 2, Counts: Counts{Body: bodyLimit}},
		{Slot: 3, Counts: Counts{Title: 1}},
		{Slot: 4, Counts: Counts{Headings: 255, Body: 255}},
		{Slot: BlockSize - 1, Counts: Counts{Body: 2}},
	}
	var data []byte
	for _, p := range list {
		data = AppendPosting(data, p)
	}
	if got, err := readAll(data); err != nil || !slices.Equal(got, list) {
		t.Errorf("read %v, %v", got, err)
	}
	if want := 3*2 + 3*5; len(data) != want {
		t.Errorf("%d bytes, want %d", len(data), want)
	}
}

func TestIncrementStopsAtTheMost(t *testing.T) {
	var c Counts
	for range 300 {
		Increment(&c.Body)
	}
	if want := (Counts{Body: 255}); c != want {
		t.Errorf("%+v, want %+v", c, want)
	}
}

// FuzzEach reads postings that may be damaged: an error or a list that is stored as it
// was read or, a count written the long way, the same again.
func FuzzEach(f *testing.F) {
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := readAll(data)
		if err != nil {
			return
		}
		var stored []byte
		for _, p := range list {
			stored = AppendPosting(stored, p)
		}
		again, err := readAll(stored)
		if err != nil || !slices.Equal(again, list) {
			t.Fatalf("%x: read %v, stored and read again %v, %v", data, list, again, err)
		}
	})
}
