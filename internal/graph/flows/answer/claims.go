package answer

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"cairn/internal/knowledge/sentence"
)

// claim is a sentence that a model wrote, as it is checked.
type claim struct {
	Start, End int    // in the text, bytes
	Text       string // without marks
	Cites      []int  // positions in the evidence
	Block      bool   // code, a table row or a list item
	// Lead is a heading, or what announces what follows it; it stands or falls with that.
	Lead bool
}

var (
	marks = regexp.MustCompile(`\s*\[(\d{1,3}(?:\s*[,;]\s*\d{1,3})*)\]`)
	// after are marks behind the end of the sentence that they belong to.
	after = regexp.MustCompile(`([.!?:])((?:[ \t]*\[\d{1,3}(?:\s*[,;]\s*\d{1,3})*\])+)`)
)

// claimsOf cuts a text that cites shown[n-1] as [n] into claims. It gives the text with
// the marks moved in front of the ends of their sentences: that is what Start and End
// count in.
func claimsOf(written string, shown []int) (text string, claims []claim) {
	text = after.ReplaceAllString(written, "$2$1")
	for _, unit := range sentence.Split(text) {
		c := claim{Start: unit.Start, End: unit.End, Block: unit.Block}
		if isFence(unit.Text) {
			c.Text = unit.Text
		} else {
			c.Text = strings.TrimSpace(marks.ReplaceAllString(unit.Text, ""))
			c.Cites = citesOf(unit.Text, shown)
		}
		if isMarks(unit) && len(claims) > 0 { // marks on a line of their own belong to what stands above
			last := &claims[len(claims)-1]
			last.Cites = distinctCites(append(last.Cites, c.Cites...))
			last.End = c.End
			continue
		}
		c.Lead = len(c.Cites) == 0 && isLead(c.Text)
		claims = append(claims, c)
	}
	inherit(claims)
	return text, claims
}

func isFence(text string) bool {
	return strings.HasPrefix(text, "```") || strings.HasPrefix(text, "~~~")
}

// isMarks says whether a unit consists of marks and punctuation alone.
func isMarks(unit sentence.Sentence) bool {
	return marks.MatchString(unit.Text) && strings.Trim(marks.ReplaceAllString(unit.Text, ""), " .,;:") == ""
}

func citesOf(text string, shown []int) []int {
	var cites []int
	for _, match := range marks.FindAllStringSubmatch(text, -1) {
		for _, number := range strings.FieldsFunc(match[1], func(r rune) bool { return r < '0' || r > '9' }) {
			n, err := strconv.Atoi(number)
			if err == nil && n >= 1 && n <= len(shown) {
				cites = append(cites, shown[n-1])
			}
		}
	}
	return distinctCites(cites)
}

func distinctCites(cites []int) []int {
	var distinct []int
	for _, c := range cites {
		if !slices.Contains(distinct, c) {
			distinct = append(distinct, c)
		}
	}
	return distinct
}

var heading = regexp.MustCompile(`^(?:#{1,6}\s|\*\*[^*]+\*\*:?$)`)

// isLead says whether a text claims nothing by itself.
func isLead(text string) bool {
	return heading.MatchString(text) || strings.HasSuffix(text, ":") || strings.Trim(text, "|-: \t\n*_") == ""
}

// inherit gives code that cites nothing the sources of what announces it, or of what
// stands right above it.
func inherit(claims []claim) {
	for i := range claims {
		if i > 0 && isFence(claims[i].Text) && len(claims[i].Cites) == 0 {
			claims[i].Cites = claims[i-1].Cites
		}
	}
}
