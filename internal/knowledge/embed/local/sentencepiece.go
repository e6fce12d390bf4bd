package local

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Unknown is the id of what no piece stands for.
const Unknown = 0

// Reserved is the number of ids, from 0 on, that stand for no piece of text.
const Reserved = 6

// space stands for U+0020 in pieces.
const space = '▁'

// Piece is an entry of the vocabulary; its id is its place.
type Piece struct {
	Text  string
	Score float64 // logarithm of its probability
}

// Tokenizer cuts text into the pieces of a unigram vocabulary, with the accidents of the
// JavaScript runtime of the Universal Sentence Encoder Lite: a model has to be fed what it is fed
// everywhere else. It is safe for concurrent use.
type Tokenizer struct {
	roots   map[rune]int32
	nodes   []node
	edges   []edge
	scratch sync.Pool // *lattice
}

// node is a state of the trie: the text read so far. id is Unknown where the text is no
// piece. Its children are edges[first : first+count], in order of their rune.
type node struct {
	score        float64
	id           int32
	first, count int32
}

type edge struct {
	char rune
	node int32
}

// lattice is the best way to reach each position of a text, in characters.
type lattice struct {
	chars []rune
	best  []float64
	ids   []int32
	start []int32 // where the last piece of the best way begins

	counted []uint16 // scratch space of Count
}

// NewTokenizer makes a tokenizer of a vocabulary.
func NewTokenizer(vocabulary []Piece) (*Tokenizer, error) {
	if len(vocabulary) <= Reserved {
		return nil, errors.New("the vocabulary has no pieces")
	}
	b := newTrieBuilder()
	for id, piece := range vocabulary[Reserved:] {
		if piece.Text == "" || !utf8.ValidString(piece.Text) {
			return nil, fmt.Errorf("piece %d of the vocabulary, %q, is no text", id+Reserved, piece.Text)
		}
		b.addPiece(piece, int32(id+Reserved))
	}
	t := b.buildTokenizer()
	t.scratch.New = func() any { return new(lattice) }
	return t, nil
}

// Append appends the ids of the text to ids. A text of which nothing is left after
// Unicode's NFKC has none. Bytes that are no UTF-8 are unknown characters.
func (t *Tokenizer) Append(ids []uint16, text string) []uint16 {
	l := t.findBestPath(text)
	ids = l.appendIDs(ids)
	t.releaseLattice(l)
	return ids
}

// Count returns the number of ids of the text.
func (t *Tokenizer) Count(text string) int {
	l := t.findBestPath(text)
	l.counted = l.appendIDs(l.counted[:0])
	count := len(l.counted)
	t.releaseLattice(l)
	return count
}

// findBestPath finds the best way through the text.
func (t *Tokenizer) findBestPath(text string) *lattice {
	l := t.scratch.Get().(*lattice)
	l.resetText(norm.NFKC.String(strings.ToValidUTF8(text, "\uFFFD")))
	t.searchPaths(l)
	return l
}

func (t *Tokenizer) releaseLattice(l *lattice) {
	// One enormous text must not hold memory for ever.
	const keep = 1 << 16
	if cap(l.chars) <= keep {
		t.scratch.Put(l)
	}
}

func (l *lattice) resetText(text string) {
	l.chars = l.chars[:0]
	if text != "" {
		l.chars = append(l.chars, space)
	}
	for _, char := range text {
		if char == ' ' {
			char = space
		}
		l.chars = append(l.chars, char)
	}
	positions := len(l.chars) + 1
	if cap(l.best) < positions {
		size := positions + positions/2
		l.best, l.ids, l.start = make([]float64, size), make([]int32, size), make([]int32, size)
	}
	l.best, l.ids, l.start = l.best[:positions], l.ids[:positions], l.start[:positions]
	clear(l.best)
	clear(l.ids)
	for i := range l.start {
		l.start[i] = int32(i - 1)
	}
}

// searchPaths finds the best way to each position. Ways arrive at a position in order of
// the start of their last piece.
func (t *Tokenizer) searchPaths(l *lattice) {
	for start, char := range l.chars {
		matched := false
		at, ok := t.roots[char]
		for end := start + 1; ok; end++ {
			if n := &t.nodes[at]; n.id != Unknown {
				matched = true
				l.offerPath(end, start, n.id, n.score)
			}
			if end == len(l.chars) {
				break
			}
			at, ok = t.findChild(at, l.chars[end])
		}
		if !matched {
			l.offerPath(start+1, start, Unknown, 0)
		}
	}
}

// offerPath takes a way to end if it is at least as good as the best so far. A best sum of
// exactly 0 counts as none: so does the runtime, and a few pieces have a score of 0.
func (l *lattice) offerPath(end, start int, id int32, score float64) {
	sum := l.best[start] + score
	if l.best[end] == 0 || sum >= l.best[end] {
		l.best[end], l.ids[end], l.start[end] = sum, id, int32(start)
	}
}

// appendIDs follows the best way back from the end; neighbouring unknowns are one.
func (l *lattice) appendIDs(ids []uint16) []uint16 {
	begin := len(ids)
	for at := len(l.chars); at > 0; at = int(l.start[at]) {
		id := uint16(l.ids[at])
		if id == Unknown && len(ids) > begin && ids[len(ids)-1] == Unknown {
			continue
		}
		ids = append(ids, id)
	}
	reversed := ids[begin:]
	for i, j := 0, len(reversed)-1; i < j; i, j = i+1, j-1 {
		reversed[i], reversed[j] = reversed[j], reversed[i]
	}
	return ids
}

// isWord says whether one piece of the vocabulary is a word from its first letter on.
func (t *Tokenizer) isWord(word string) bool {
	at, ok := t.roots[space]
	for _, char := range word {
		if !ok {
			return false
		}
		at, ok = t.findChild(at, char)
	}
	return ok && t.nodes[at].id != Unknown
}

func (t *Tokenizer) findChild(at int32, char rune) (int32, bool) {
	n := &t.nodes[at]
	edges := t.edges[n.first : n.first+n.count]
	low, high := 0, len(edges)
	for low < high {
		middle := (low + high) / 2
		if edges[middle].char < char {
			low = middle + 1
		} else {
			high = middle
		}
	}
	if low < len(edges) && edges[low].char == char {
		return edges[low].node, true
	}
	return 0, false
}
