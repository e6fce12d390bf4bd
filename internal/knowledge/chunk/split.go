package chunk

import (
	"strings"

	"github.com/cairn-bot/cairn/internal/knowledge/parse"
)

// What a cut costs at a place, against six for one that makes a part of no length
// instead of the wanted one.
const (
	farOff        = 6.0
	cutItems      = 1  // between two list items
	cutLines      = 2  // between lines that the author broke
	cutSentences  = 3  // inside a paragraph
	cutRows       = 4  // inside a table
	cutCode       = 6  // inside code
	cutAtGap      = 4  // inside code, at an empty line
	cutTorn       = 5  // inside a sentence that is too long for a passage
	cutWhole      = 10 // more, for code or a table that would fit whole
	cutAnnounced  = 12 // between what ends in a colon and what it announces
	announcedTail = ":"
)

// split gives the texts of the passages of a section.
func split(blocks []parse.Block, limit int) []string {
	atoms := atomize(blocks, limit)
	left := size{}
	for i := range atoms {
		left = left.plus(added(atoms, 0, i))
	}
	var parts []string
	for from := 0; from < len(atoms); {
		to, taken := cutBehind(atoms, from, left.tokens(), limit)
		if part := render(atoms[from:to]); strings.TrimSpace(part) != "" {
			parts = append(parts, part)
		}
		left = size{words: max(0, left.words-taken.words), bytes: max(0, left.bytes-taken.bytes)}
		from = to
	}
	return parts
}

// cutBehind gives where the part ends that begins with an atom, and its size, when
// left tokens are still to be split.
func cutBehind(atoms []atom, from, left, limit int) (to int, taken size) {
	parts := (left + limit - 1) / limit
	wanted := float64(left) / float64(max(parts, 1))
	best := -1.0
	var so size
	for i := from; i < len(atoms); i++ {
		so = so.plus(added(atoms, from, i))
		if so.tokens() > limit && i > from {
			return to, taken
		}
		if i == len(atoms)-1 {
			return len(atoms), so
		}
		off := float64(so.tokens())/wanted - 1
		cost := cutCost(atoms[i], atoms[i+1]) + farOff*max(off, -off)
		if best < 0 || cost < best {
			best, to, taken = cost, i+1, so
		}
	}
	return to, taken
}

// added is what an atom adds to a part that begins with the atom at from.
func added(atoms []atom, from, i int) size {
	a := atoms[i]
	if i == from {
		return a.size.plus(a.block.size)
	}
	if atoms[i-1].block != a.block {
		return a.size.plus(a.block.size).plus(size{bytes: len(blockSeparator)})
	}
	return a.size.plus(size{bytes: len(a.before)})
}

const blockSeparator = "\n\n"

// cutCost is how bad a cut between two neighbouring atoms is.
func cutCost(before, after atom) float64 {
	if before.block != after.block {
		switch {
		case strings.HasSuffix(strings.TrimSpace(before.text), announcedTail) && before.block.kind != parse.Code:
			return cutAnnounced
		case before.block.kind == parse.ListItem && after.block.kind == parse.ListItem:
			return cutItems
		}
		return 0
	}
	var cost float64
	switch {
	case after.torn:
		return cutTorn
	case after.block.kind == parse.Code && (strings.TrimSpace(before.text) == "" || strings.TrimSpace(after.text) == ""):
		cost = cutAtGap
	case after.block.kind == parse.Code:
		cost = cutCode
	case after.block.kind == parse.Table:
		cost = cutRows
	case after.before == "\n":
		return cutLines
	default:
		return cutSentences
	}
	if after.block.whole {
		cost += cutWhole
	}
	return cost
}

// render writes atoms out as Markdown.
func render(atoms []atom) string {
	var out strings.Builder
	for i, a := range atoms {
		if i > 0 && atoms[i-1].block == a.block {
			out.WriteString(a.before + a.text)
			continue
		}
		if i > 0 {
			out.WriteString(atoms[i-1].block.close + separator(atoms[i-1].block, a.block))
		}
		out.WriteString(a.block.open + a.text)
	}
	if len(atoms) > 0 {
		out.WriteString(atoms[len(atoms)-1].block.close)
	}
	return out.String()
}

// separator keeps the items of a list on lines that follow each other.
func separator(before, after *block) string {
	if before.kind == parse.ListItem && after.kind == parse.ListItem {
		return "\n"
	}
	return blockSeparator
}
