package parse

import (
	"math"
	"slices"
	"unicode/utf8"

	"github.com/cairn-bot/cairn/internal/knowledge/parse/pdf"
)

const (
	headingRatio     = 1.12 // size of a heading's text to that of running text, at least
	maxHeadingShare  = 0.2  // of all text; where more is large, size tells no headings
	maxHeadingLevels = 4
	fewPages         = 4 // from which on headers and footers are looked for
)

// rounded is a size as it is compared: to half a point.
func rounded(size float64) float64 { return math.Round(size*2) / 2 }

// sizes counts the characters of each size.
func sizes(document pdf.Document) map[float64]int {
	counts := make(map[float64]int)
	for _, page := range document.Pages {
		for _, line := range page.Lines {
			counts[rounded(line.Size)] += utf8.RuneCountInString(line.Text)
		}
	}
	return counts
}

// bodySize is the size that most text has.
func bodySize(document pdf.Document) float64 {
	body, most := 0.0, 0
	for size, count := range sizes(document) {
		if count > most || count == most && size < body {
			body, most = size, count
		}
	}
	return body
}

// headingLevels gives the sizes that headings have, the largest with level 1; nil
// where too much is large, as in slides.
func headingLevels(document pdf.Document, body float64) map[float64]int {
	counts := sizes(document)
	var large []float64
	total, inLarge := 0, 0
	for size, count := range counts {
		total += count
		if size >= body*headingRatio {
			large = append(large, size)
			inLarge += count
		}
	}
	if total == 0 || float64(inLarge) > maxHeadingShare*float64(total) {
		return nil
	}
	slices.Sort(large)
	slices.Reverse(large)
	levels := make(map[float64]int)
	for i, size := range large {
		levels[size] = min(i+1, maxHeadingLevels)
	}
	return levels
}

// repeatedLines finds headers and footers: first and last lines that come again on at
// least half of the pages, numbers aside.
func repeatedLines(document pdf.Document) map[string]bool {
	if len(document.Pages) < fewPages {
		return nil
	}
	counts := make(map[string]int)
	for _, page := range document.Pages {
		edges := make(map[string]bool)
		for _, i := range edgeLines(page.Lines) {
			edges[edgeKey(page.Lines[i])] = true
		}
		for key := range edges {
			counts[key]++
		}
	}
	repeated := map[string]bool{"#": true} // a page's number
	for key, count := range counts {
		if count*2 >= len(document.Pages) {
			repeated[key] = true
		}
	}
	return repeated
}

func edgeKey(line pdf.Line) string { return digits.ReplaceAllString(line.Text, "#") }

// edgeLines are the indexes of the lines that a header or footer may be: the two
// first and two last, as drawn, and the highest and lowest.
func edgeLines(lines []pdf.Line) []int {
	if len(lines) == 0 {
		return nil
	}
	high, low := 0, 0
	for i, line := range lines {
		if line.Y > lines[high].Y {
			high = i
		}
		if line.Y < lines[low].Y {
			low = i
		}
	}
	last := len(lines) - 1
	edges := []int{0, min(1, last), max(0, last-1), last, high, low}
	slices.Sort(edges)
	return slices.Compact(edges)
}

func (r *pdfReader) withoutRepeated(lines []pdf.Line) []pdf.Line {
	if len(r.repeated) == 0 {
		return lines
	}
	edges := edgeLines(lines)
	var kept []pdf.Line
	for i, line := range lines {
		if !slices.Contains(edges, i) || !r.repeated[edgeKey(line)] {
			kept = append(kept, line)
		}
	}
	return kept
}

// columnEdges says where the columns of a page end that begin at about the same
// place, by place.
type columnEdges map[int]float64

const (
	columnWidth = 20 // points within which lines begin alike
	manyLines   = 20 // of a column, to tell lines that go over its edge
)

func columnOf(line pdf.Line) int { return int(math.Round(max(min(line.X, 1e6), -1e6) / columnWidth)) }

// edgesOf finds the edges: where the longest line ends, or where many do, when only
// few lines, such as a title over two columns, are much longer.
func edgesOf(lines []pdf.Line) columnEdges {
	rights := make(map[int][]float64)
	for _, line := range lines {
		rights[columnOf(line)] = append(rights[columnOf(line)], line.Right)
	}
	edges := make(columnEdges)
	for column, ends := range rights {
		slices.Sort(ends)
		last := len(ends) - 1
		edges[column] = ends[last]
		if usual := ends[last*3/4]; len(ends) >= manyLines && ends[last*9/10] < 0.9*ends[last] {
			edges[column] = usual
		}
	}
	return edges
}

// endsEarly says whether a line ends long before its column.
func (e columnEdges) endsEarly(line pdf.Line) bool {
	return line.Right < line.X+0.6*(e[columnOf(line)]-line.X)
}
