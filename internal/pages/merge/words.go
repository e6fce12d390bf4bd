package merge

import (
	"bytes"
	"slices"
	"strings"
	"unicode"

	"github.com/cairn-bot/cairn/internal/pages/tree"
)

// word is a piece of a line of text: a word, white space, a mark, or a node that is no text.
type word struct {
	key  string     // equal for those that look the same
	node *tree.Node // a text that holds the piece alone, or the node itself
	link *tree.Node // that it stands in, without its children; nil for none
}

// wordsOf takes a line apart.
func wordsOf(line []*tree.Node) []word {
	var words []word
	for _, n := range line {
		if n.Kind == tree.Link || n.Kind == tree.AutoLink {
			link := *n
			link.Children = nil
			if len(n.Children) == 0 {
				words = append(words, newWord(n, nil))
			}
			for _, child := range n.Children {
				words = appendWords(words, child, &link)
			}
			continue
		}
		words = appendWords(words, n, nil)
	}
	return words
}

func appendWords(words []word, n, link *tree.Node) []word {
	if n.Kind != tree.Text || n.Mode != "normal" {
		return append(words, newWord(n, link))
	}
	for _, piece := range split(n.Text) {
		part := *n
		part.Text = piece
		words = append(words, newWord(&part, link))
	}
	return words
}

func newWord(n, link *tree.Node) word {
	bare := *n
	bare.ID = ""
	key := tree.EncodeNode(&bare)
	if link != nil {
		around := *link
		around.ID = ""
		key = append(append(key, ' '), tree.EncodeNode(&around)...)
	}
	return word{string(key), n, link}
}

// split cuts a text into words, runs of white space, and single marks.
func split(text string) []string {
	var pieces []string
	start, last := 0, 0
	for i, r := range text {
		kind := 3
		switch {
		case unicode.IsSpace(r):
			kind = 1
		case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r), r == '_':
			kind = 2
		}
		if i > start && (kind != last || kind == 3) {
			pieces = append(pieces, text[start:i])
			start = i
		}
		last = kind
	}
	if start < len(text) {
		pieces = append(pieces, text[start:])
	}
	return pieces
}

// joinWords makes a line of words. Pieces that stood in one node stand in one again.
func joinWords(words []word) []*tree.Node {
	var line []*tree.Node
	var link *tree.Node // the last node of line where it is a link under way
	used := make(map[string]bool)
	for _, w := range words {
		into := &line
		if w.link == nil {
			link = nil
		} else {
			if link == nil || !sameLink(link, w.link) {
				opened := *w.link
				opened.Children = nil
				if used[opened.ID] {
					opened.ID = ""
				}
				used[w.link.ID] = true
				link = &opened
				line = append(line, link)
			}
			into = &link.Children
		}
		last := len(*into) - 1
		if last >= 0 && joins((*into)[last], w.node) {
			(*into)[last].Text += w.node.Text
			continue
		}
		added := w.node.Clone()
		if used[added.ID] {
			added.ID = ""
		}
		used[w.node.ID] = true
		*into = append(*into, added)
	}
	return line
}

func sameLink(a, b *tree.Node) bool {
	x, y := *a, *b
	x.Children, y.Children = nil, nil
	if x.ID == "" || y.ID == "" {
		x.ID, y.ID = "", ""
	}
	return bytes.Equal(tree.EncodeNode(&x), tree.EncodeNode(&y))
}

// joins tells whether two texts look the same, whatever their ids: words that were put in
// between have another than those around them.
func joins(a, b *tree.Node) bool {
	if a.Kind != tree.Text || b.Kind != tree.Text || a.Mode != "normal" || b.Mode != "normal" || a.Detail != 0 || b.Detail != 0 {
		return false
	}
	x, y := *a, *b
	x.Text, y.Text, x.ID, y.ID = "", "", "", ""
	return bytes.Equal(tree.EncodeNode(&x), tree.EncodeNode(&y))
}

// change is a stretch of the base that one side has otherwise.
type change struct {
	from, to int // of the base
	words    []word
}

// mergeLines joins two changes of a line, word by word.
func mergeLines(base, ours, theirs []*tree.Node, choice Choice) (line []*tree.Node, clashed bool) {
	words := wordsOf(base)
	mine, other := changesOf(words, wordsOf(ours)), changesOf(words, wordsOf(theirs))
	var merged []word
	at := 0
	for len(mine) > 0 || len(other) > 0 {
		from, to, group := nextGroup(&mine, &other)
		merged = append(merged, words[at:from]...)
		at = to
		a, b := apply(words[from:to], from, group.ours), apply(words[from:to], from, group.theirs)
		switch {
		case len(group.theirs) == 0:
			merged = append(merged, a...)
		case len(group.ours) == 0, equalWords(a, b):
			merged = append(merged, b...)
		case from == to: // both only put something in
			merged = append(append(merged, a...), apart(a, b)...)
		default:
			clashed = true
			switch choice {
			case TakeTheirs:
				merged = append(merged, b...)
			case KeepBoth:
				merged = append(append(merged, a...), b...)
				if len(a) > 0 && len(b) > 0 {
					merged = append(merged[:len(merged)-len(b)], apart(a, b)...)
				}
			default:
				merged = append(merged, a...)
			}
		}
	}
	return joinWords(append(merged, words[at:]...)), clashed
}

// apart gives words that come behind others, with a space before them where both would else
// be one word.
func apart(before, words []word) []word {
	last, first := before[len(before)-1].node, words[0].node
	if last.Kind != tree.Text || first.Kind != tree.Text || strings.TrimSpace(last.Text) == "" || strings.TrimSpace(first.Text) == "" {
		return words
	}
	return append([]word{newWord(tree.NewText(" ", first.Format), nil)}, words...)
}

func equalWords(a, b []word) bool {
	return slices.EqualFunc(a, b, func(x, y word) bool { return x.key == y.key })
}

// group is changes of both sides that touch the same stretch of the base.
type group struct{ ours, theirs []change }

// nextGroup takes the first changes off both lists that belong together.
func nextGroup(ours, theirs *[]change) (from, to int, taken group) {
	first := func(list []change) int {
		if len(list) == 0 {
			return int(^uint(0) >> 1)
		}
		return list[0].from
	}
	from = min(first(*ours), first(*theirs))
	to = from
	for more := true; more; {
		more = false
		for len(*ours) > 0 && touches((*ours)[0], to) {
			to = max(to, (*ours)[0].to)
			taken.ours = append(taken.ours, (*ours)[0])
			*ours = (*ours)[1:]
			more = true
		}
		for len(*theirs) > 0 && touches((*theirs)[0], to) {
			to = max(to, (*theirs)[0].to)
			taken.theirs = append(taken.theirs, (*theirs)[0])
			*theirs = (*theirs)[1:]
			more = true
		}
	}
	return from, to, taken
}

// touches tells whether a change is inside a stretch, or begins where it begins or ends: two
// words that lose the space on either side would else become one.
func touches(c change, to int) bool { return c.from <= to }

// apply gives a stretch of the base, which begins at from, after changes.
func apply(stretch []word, from int, changes []change) []word {
	var made []word
	at := 0
	for _, c := range changes {
		made = append(append(made, stretch[at:c.from-from]...), c.words...)
		at = c.to - from
	}
	return append(made, stretch[at:]...)
}

// maxTable bounds the work of comparing two lines: what is longer counts as one change.
const maxTable = 4_000_000

// changesOf gives what is different in a line, in order.
func changesOf(base, line []word) []change {
	head := 0
	for head < min(len(base), len(line)) && base[head].key == line[head].key {
		head++
	}
	tail := 0
	for tail < min(len(base), len(line))-head && base[len(base)-1-tail].key == line[len(line)-1-tail].key {
		tail++
	}
	was, is := base[head:len(base)-tail], line[head:len(line)-tail]
	if len(was) == 0 && len(is) == 0 {
		return nil
	}
	if len(was)*len(is) > maxTable {
		return []change{{head, len(base) - tail, is}}
	}
	return tableChanges(was, is, head)
}

// tableChanges finds the longest common words of two stretches; offset is where the first
// begins in the base.
func tableChanges(was, is []word, offset int) []change {
	width := len(is) + 1
	length := make([]int32, (len(was)+1)*width)
	for i := len(was) - 1; i >= 0; i-- {
		for j := len(is) - 1; j >= 0; j-- {
			if was[i].key == is[j].key {
				length[i*width+j] = length[(i+1)*width+j+1] + 1
			} else {
				length[i*width+j] = max(length[(i+1)*width+j], length[i*width+j+1])
			}
		}
	}
	var changes []change
	i, j := 0, 0
	for i < len(was) || j < len(is) {
		if i < len(was) && j < len(is) && was[i].key == is[j].key {
			i, j = i+1, j+1
			continue
		}
		c := change{from: offset + i}
		start := j
		for (i < len(was) || j < len(is)) && (i == len(was) || j == len(is) || was[i].key != is[j].key) {
			if j == len(is) || i < len(was) && length[(i+1)*width+j] >= length[i*width+j+1] {
				i++
			} else {
				j++
			}
		}
		c.to, c.words = offset+i, is[start:j]
		changes = append(changes, c)
	}
	return changes
}
