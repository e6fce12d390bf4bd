package local

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// vocabulary has the reserved ids and then these pieces.
func vocabulary(pieces ...Piece) []Piece {
	return append(make([]Piece, Reserved), pieces...)
}

func TestAppend(t *testing.T) {
	tokenizer, err := NewTokenizer(vocabulary(
		Piece{"▁", -2},   // 6
		Piece{"a", -3},   // 7
		Piece{"b", -3},   // 8
		Piece{"▁ab", -7}, // 9
		Piece{"ab", -6},  // 10: as good as a, b
		Piece{"c", 0},    // 11
		Piece{"▁c", 0},   // 12
		Piece{"b", -1},   // 13 replaces 8
		Piece{"cc", -1},  // 14
	))
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		what, text string
		want       []uint16
	}{
		{"nothing", "", nil},
		{"the last of two equal pieces counts", "b", []uint16{6, 13}},
		{"the best sum", "ab", []uint16{6, 7, 13}},
		{"a space is a piece like others", "b b", []uint16{6, 13, 6, 13}},
		{"nothing is trimmed", " ", []uint16{6, 6}},
		{"neighbouring unknowns are one", "b字字b", []uint16{6, 13, 0, 13}},
		{"bytes that are no text are unknown", "\xff\xfeb", []uint16{6, 0, 13}},
		{"compatibility characters are folded", "ａ", []uint16{6, 7}},
		{"a sum of 0 counts as none", "c", []uint16{6, 11}},
		{"a line feed is no space", "b\nb", []uint16{6, 13, 0, 13}},
	}
	for _, test := range tests {
		if got := tokenizer.Append(nil, test.text); !slices.Equal(got, test.want) {
			t.Errorf("%s: %q is %v, want %v", test.what, test.text, got, test.want)
		}
		if got := tokenizer.Count(test.text); got != len(test.want) {
			t.Errorf("%s: %q has a count of %d, want %d", test.what, test.text, got, len(test.want))
		}
	}
	if got := tokenizer.Append([]uint16{0, 99}, "字"); !slices.Equal(got, []uint16{0, 99, 6, 0}) {
		t.Errorf("appended ids are %v, want 0 99 6 0", got)
	}
}

func TestNewRefuses(t *testing.T) {
	for what, pieces := range map[string][]Piece{
		"no pieces":      vocabulary(),
		"an empty piece": vocabulary(Piece{"", 0}),
		"no text":        vocabulary(Piece{"\xff", 0}),
	} {
		if _, err := NewTokenizer(pieces); err == nil {
			t.Errorf("a vocabulary with %s was accepted", what)
		}
	}
}

func FuzzAppend(f *testing.F) {
	pieces := vocabulary(Piece{"▁", -2}, Piece{"a", -3}, Piece{"ab", 0}, Piece{"▁ab", 30}, Piece{"bcd", -5})
	tokenizer, err := NewTokenizer(pieces)
	if err != nil {
		f.Fatal(err)
	}
	f.Add("abcd ab")
	f.Add("\xff\x00\u0301" + strings.Repeat("\u0301", 40))
	f.Add("ﷺ\t字▁▁")
	f.Fuzz(func(t *testing.T, text string) {
		ids := tokenizer.Append(nil, text)
		if text != "" && len(ids) == 0 {
			t.Fatalf("%q has no ids", text)
		}
		// NFKC makes at most 18 characters of one; there is a space in front.
		if most := 18*utf8.RuneCountInString(text) + 1; len(ids) > most {
			t.Fatalf("%q has %d ids, at most %d were possible", text, len(ids), most)
		}
		for i, id := range ids {
			if int(id) >= len(pieces) || id != Unknown && id < Reserved {
				t.Fatalf("%q has the id %d", text, id)
			}
			if i > 0 && id == Unknown && ids[i-1] == Unknown {
				t.Fatalf("%q has two neighbouring unknowns", text)
			}
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	tokenizer, err := NewTokenizer(vocabulary(Piece{"▁", -2}, Piece{"a", -3}, Piece{"▁abc", -3}, Piece{"b", -3}))
	if err != nil {
		b.Fatal(err)
	}
	text := strings.Repeat("abc ab cab ", 60)
	b.SetBytes(int64(len(text)))
	var ids []uint16
	for b.Loop() {
		ids = tokenizer.Append(ids[:0], text)
	}
}
