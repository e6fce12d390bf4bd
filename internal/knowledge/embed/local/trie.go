package local

import (
	"cmp"
	"slices"
)

// trieBuilder collects pieces in a trie of maps, which tokenizer lays out flat.
type trieBuilder struct {
	nodes    []node
	children []map[rune]int32
}

func newTrieBuilder() *trieBuilder {
	return &trieBuilder{nodes: make([]node, 1), children: make([]map[rune]int32, 1)}
}

// addPiece enters a piece; the last of several with the same text counts.
func (b *trieBuilder) addPiece(piece Piece, id int32) {
	at := int32(0)
	for _, char := range piece.Text {
		next, ok := b.children[at][char]
		if !ok {
			next = int32(len(b.nodes))
			b.nodes = append(b.nodes, node{})
			b.children = append(b.children, nil)
			if b.children[at] == nil {
				b.children[at] = make(map[rune]int32, 1)
			}
			b.children[at][char] = next
		}
		at = next
	}
	b.nodes[at].id, b.nodes[at].score = id, piece.Score
}

func (b *trieBuilder) buildTokenizer() *Tokenizer {
	t := &Tokenizer{roots: b.children[0], nodes: b.nodes}
	for at, children := range b.children {
		first := len(t.edges)
		for char, next := range children {
			t.edges = append(t.edges, edge{char, next})
		}
		own := t.edges[first:]
		slices.SortFunc(own, func(a, b edge) int { return cmp.Compare(a.char, b.char) })
		t.nodes[at].first, t.nodes[at].count = int32(first), int32(len(own))
	}
	return t
}
