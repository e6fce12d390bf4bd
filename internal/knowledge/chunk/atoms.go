package chunk

import (
	"strings"
	"unicode/utf8"

	"github.com/cairn-bot/cairn/internal/knowledge/parse"
	"github.com/cairn-bot/cairn/internal/knowledge/sentence"
)

// atom is what is not cut any further: a sentence, a line of code, a table row. Its
// text is at most as long as a passage may be, with what wraps it.
type atom struct {
	text   string
	before string // what separates it from the atom before it in its block
	block  *block
	size   size
	torn   bool // the atom before it ends inside a word or sentence
}

// block is a block of a section, as atoms need to know it.
type block struct {
	kind  parse.BlockKind
	open  string // what stands before the atoms wherever they are cut: fence or header
	close string // and behind them
	size  size   // of open and close
	whole bool   // it fits into one passage
}

// atomize cuts blocks into atoms for passages of at most limit tokens.
func atomize(blocks []parse.Block, limit int) []atom {
	var atoms []atom
	for _, from := range blocks {
		b := &block{kind: from.Kind, whole: CountTokens(from.Text) <= limit}
		switch from.Kind {
		case parse.Code:
			atoms = append(atoms, codeAtoms(b, from.Text, limit)...)
		case parse.Table:
			atoms = append(atoms, tableAtoms(b, from.Text, limit)...)
		case parse.ListItem:
			marker := sentence.ItemMarker(from.Text)
			item := proseAtoms(b, from.Text[marker:], limit-measure(from.Text[:marker]).tokens())
			if len(item) > 0 {
				item[0].text = from.Text[:marker] + item[0].text
				item[0].size = measure(item[0].text)
			}
			atoms = append(atoms, item...)
		default:
			atoms = append(atoms, proseAtoms(b, from.Text, limit)...)
		}
	}
	return atoms
}

func proseAtoms(b *block, text string, limit int) []atom {
	var atoms []atom
	end := 0
	for _, s := range sentence.Split(text) {
		before := " "
		if strings.Contains(text[end:s.Start], "\n") {
			before = "\n"
		}
		end = s.End
		atoms = appendTorn(atoms, atom{text: s.Text, before: before, block: b}, limit)
	}
	return atoms
}

// codeAtoms gives the lines of a fenced block.
func codeAtoms(b *block, text string, limit int) []atom {
	lines := strings.Split(text, "\n")
	if len(lines) < 3 {
		return proseAtoms(b, text, limit)
	}
	last := len(lines) - 1
	b.open, b.close = lines[0]+"\n", "\n"+lines[last]
	b.size = measure(b.open).plus(measure(b.close))
	if b.size.tokens() > limit/4 { // a fence of many back quotes can't be repeated
		b.open, b.close, b.size = "", "", size{}
		b.kind = parse.Paragraph
	} else {
		lines = lines[1:last]
	}
	var atoms []atom
	for _, line := range lines {
		atoms = appendTorn(atoms, atom{text: line, before: "\n", block: b}, limit-b.size.tokens()-1)
	}
	return atoms
}

// tableAtoms gives the rows of a table, each to be read under the header. A row that
// is too long for that becomes a line for each of its cells.
func tableAtoms(b *block, text string, limit int) []atom {
	lines := strings.Split(text, "\n")
	if len(lines) < 2 {
		return proseAtoms(b, text, limit)
	}
	b.open = lines[0] + "\n" + lines[1] + "\n"
	b.size = measure(b.open)
	rows := make([]atom, 0, len(lines))
	for _, line := range lines[2:] {
		row := atom{text: line, before: "\n", block: b, size: measure(line)}
		if b.size.tokens()+row.size.tokens()+2 > limit {
			return cellAtoms(b, lines, limit)
		}
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		b.open, b.size = "", size{}
		return appendTorn(nil, atom{text: text, before: "\n", block: b}, limit)
	}
	return rows
}

func cellAtoms(b *block, lines []string, limit int) []atom {
	b.open, b.size, b.kind, b.whole = "", size{}, parse.Paragraph, false
	header := cells(lines[0])
	var atoms []atom
	for _, line := range lines[2:] {
		for column, cell := range cells(line) {
			if column < len(header) && header[column] != "" && measure(header[column]).tokens() < limit/4 {
				cell = header[column] + ": " + cell
			}
			atoms = appendTorn(atoms, atom{text: cell, before: "\n", block: b}, limit)
		}
	}
	return atoms
}

func cells(row string) []string {
	row = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(row), "|"), "|")
	split := strings.Split(strings.ReplaceAll(row, `\|`, "\x00"), "|")
	for i, cell := range split {
		split[i] = strings.TrimSpace(strings.ReplaceAll(cell, "\x00", "|"))
	}
	return split
}

// tornPieces is how many pieces of what is torn make a passage, about.
const tornPieces = 4

// appendTorn appends an atom, torn to pieces between words, and at last inside them,
// where it is over the limit.
func appendTorn(atoms []atom, whole atom, limit int) []atom {
	if whole.size = measure(whole.text); whole.size.tokens() <= limit {
		return append(atoms, whole)
	}
	rest := whole.text
	for piece := whole; rest != ""; piece.torn = true {
		cut := cutAt(rest, max(1, limit/tornPieces))
		piece.text, rest = rest[:cut], rest[cut:]
		piece.size = measure(piece.text)
		atoms = append(atoms, piece)
		piece.before = ""
	}
	return atoms
}

// cutAt is the length of the longest beginning of a text that is within the limit,
// cut behind white space where there is some.
func cutAt(text string, limit int) int {
	end, behindSpace := 0, 0
	var so size
	inside := false
	for end < len(text) {
		r, width := utf8.DecodeRuneInString(text[end:])
		space := r == ' ' || r == '\n' || r == '\t'
		next := size{words: so.words, bytes: so.bytes + width}
		if !space && !inside {
			next.words++
		}
		if next.tokens() > limit && end > 0 {
			if behindSpace > 0 {
				return behindSpace
			}
			return end
		}
		so, inside = next, !space
		end += width
		if space {
			behindSpace = end
		}
	}
	return end
}
