package answer

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/graph/flows/answer/reply"
	"github.com/cairn-bot/cairn/internal/knowledge/retrieve"
	"github.com/cairn-bot/cairn/internal/knowledge/sentence"
	"github.com/cairn-bot/cairn/internal/knowledge/support"
)

// claim is a unit of a model's reply, as it is checked.
type claim struct {
	Text  string // without marks
	Under string // what it is read with: a table's header, a list's lead-in
	Kind  reply.Kind
	Cites []int // positions in the evidence: those that it cites, else those that it is checked against
	Own   bool  // its own marks name them, or those of its paragraph, lead-in or table
	Next  int   // the claim that completes it, -1 for none
	// AboutSources says what the sources don't tell, which none of them can say.
	AboutSources bool
}

// asserts says whether a claim is checked.
func (c claim) asserts() bool {
	return !c.AboutSources && c.Kind != reply.Header && c.Kind != reply.Lead
}

// claimsOf gives the claims of a reply that was given the evidence at the shown positions. One
// that cites nothing, as its paragraph does, is checked against the two passages that bear on
// it most.
func claimsOf(read reply.Reply, evidence []retrieve.Evidence, shown []int) []claim {
	claims := make([]claim, len(read.Units))
	texts := newCitedTexts(evidence)
	for i, unit := range read.Units {
		c := claim{Text: unit.Text, Under: unit.Under, Kind: unit.Kind, Next: unit.Next, AboutSources: isAboutSources(unit.Text)}
		cites := unit.Cites
		if len(cites) == 0 {
			cites = unit.Inherited
		}
		for _, number := range cites {
			c.Cites = append(c.Cites, shown[number-1])
		}
		c.Own = len(c.Cites) > 0
		if !c.Own && c.asserts() {
			c.Cites = texts.bestPassages(c.Text, shown)
		}
		claims[i] = c
	}
	return claims
}

// bestPassages gives the passages among the shown ones that bear most on a text.
func (t *citedTexts) bestPassages(text string, shown []int) []int {
	type scored struct {
		position int
		score    float64
	}
	var all []scored
	for _, position := range shown {
		if score := t.evidenceOf([]int{position}).Check(text).Score; score > 0 {
			all = append(all, scored{position, score})
		}
	}
	slices.SortStableFunc(all, func(a, b scored) int {
		switch {
		case a.score > b.score:
			return -1
		case a.score < b.score:
			return 1
		}
		return 0
	})
	var best []int
	for _, s := range all[:min(len(all), uncitedPassages)] {
		best = append(best, s.position)
	}
	return best
}

// uncitedPassages is against how many passages a claim is checked that cites nothing.
const uncitedPassages = 2

// aboutSources are statements on what the documents don't tell, in the languages that Cairn
// speaks.
var aboutSources = regexp.MustCompile(`(?i)` +
	`\b(?:documents?|documentation|docs|sources?|passages?|context|pages?)\b[^.:;]{0,30}\b(?:do not|does not|don't|doesn't|don’t|doesn’t|say nothing|says nothing|never|no)\b` +
	`|\bnot (?:stated|mentioned|specified|documented|described|covered|given|said)(?: (?:in|by) the (?:sources?|documents?|documentation|docs))?\W*$` +
	`|^\W*not in the (?:sources|documents)\b` +
	`|\b(?:nothing|no information) (?:in|about)\b[^.]{0,40}\b(?:documents?|documentation|docs|sources?)\b` +
	`|\b(?:dokumente?n?|dokumentation|quellen?|unterlagen)\b[^.:;]{0,40}\b(?:nicht|keine?[nmrs]?|nichts)\b` +
	`|\b(?:documents|documentation|sources)\b[^.:;]{0,30}\bne\b[^.:;]{1,40}\b(?:pas|rien)\b` +
	`|\b(?:los documentos|la documentación|las fuentes|os documentos|a documentação|as fontes)\b[^.:;]{0,20}\b(?:no|não)\b` +
	`|\b(?:i documenti|la documentazione|le fonti)\b[^.:;]{0,20}\bnon\b` +
	`|\b(?:documenten|documentatie|bronnen)\b[^.:;]{0,40}\b(?:niet|geen|niets)\b`)

func isAboutSources(text string) bool {
	return len(text) < maxAboutSources && aboutSources.MatchString(strings.Trim(text, "| "))
}

// maxAboutSources is how long a statement about sources is at most, in bytes.
const maxAboutSources = 300

// citedTexts are the texts that claims cite, each read once.
type citedTexts struct {
	evidence []retrieve.Evidence
	read     map[string]*support.Evidence // by positions
}

func newCitedTexts(evidence []retrieve.Evidence) *citedTexts {
	return &citedTexts{evidence: evidence, read: make(map[string]*support.Evidence)}
}

// evidenceOf gives what stands in the passages at positions, and where they stand.
func (t *citedTexts) evidenceOf(cites []int) *support.Evidence {
	key := fmt.Sprint(cites)
	if known := t.read[key]; known != nil {
		return known
	}
	var made *support.Evidence
	if len(cites) == 1 {
		made = support.ReadEvidence(sentencesOf(t.evidence[cites[0]]))
	} else {
		parts := make([]*support.Evidence, len(cites))
		for i, position := range cites {
			parts[i] = t.evidenceOf([]int{position})
		}
		made = support.JoinEvidence(parts...)
	}
	t.read[key] = made
	return made
}

// checkClaim checks a claim by its words against the passages that it cites.
func (t *citedTexts) checkClaim(c claim, question string) wordVerdict {
	stated := support.Stated{Text: c.Text, Row: c.Kind == reply.Row, Code: c.Kind == reply.Code, Question: question}
	cited := t.evidenceOf(c.Cites)
	verdict := wordVerdict{Verdict: cited.Check(c.Text), Absent: cited.Absent(stated)}
	if c.Kind == reply.Row && cited.NamesOtherDefault(c.Text, c.Under) {
		verdict.Faithful *= support.OtherSubject
	}
	return verdict
}

// sentencesOf gives the sentences of a passage, its place first, and code by lines.
func sentencesOf(e retrieve.Evidence) []string {
	if e.Passage.Text == "" {
		return nil
	}
	sentences := []string{e.Document.Title + " " + strings.Join(e.Passage.Headings, " ")}
	for _, part := range sentence.Split(e.Passage.Text) {
		if isFence(part.Text) {
			sentences = append(sentences, codeLines(part.Text)...)
			continue
		}
		if strings.HasPrefix(part.Text, "|") {
			sentences = append(sentences, splitRow(part.Text)...)
			continue
		}
		sentences = append(sentences, splitEntry(part)...)
	}
	return sentences
}

// splitRow gives a table's row and, as rows of its first cell, each sentence of a cell that has several: they
// deny, order and limit apart.
func splitRow(row string) []string {
	rows := []string{row}
	cells := strings.Split(strings.Trim(row, "| "), "|")
	if strings.Contains(row, "\n") {
		return rows
	}
	for _, cell := range cells[1:] {
		sentences := sentence.Split(strings.TrimSpace(cell))
		if len(sentences) < 2 {
			continue
		}
		for _, one := range sentences {
			rows = append(rows, "| "+strings.TrimSpace(cells[0])+" | "+one.Text+" |")
		}
	}
	return rows
}

// splitEntry gives the sentences of a list item, those behind the first with the name that the item
// begins with: what they say is said of that.
func splitEntry(part sentence.Sentence) []string {
	marker := sentence.ItemMarker(part.Text)
	if !part.Block || marker == 0 {
		return []string{part.Text}
	}
	text := strings.ReplaceAll(part.Text[marker:], "\n", " ")
	name := entryName.FindString(text)
	var sentences []string
	for i, of := range sentence.Split(text) {
		if i > 0 && name != "" {
			of.Text = name + " " + of.Text
		}
		sentences = append(sentences, of.Text)
	}
	return sentences
}

// entryName is what a list item explains: code or bold words at its beginning, or a word or two before a
// colon or dash.
var entryName = regexp.MustCompile("^(?:`[^`]+`(?:[ ,/]+(?:or )?`[^`]+`)*|\\*\\*[^*]+\\*\\*|__[^_]+__|[\\w.-]+(?: [\\w.-]+)?(?:[:]| [-–—] ))")

// optionLine begins with an option of a command, as in its help.
var optionLine = regexp.MustCompile(`^\s*--?[A-Za-z]`)

// codeLines gives the lines of a code block; what is said of a command's option on deeper lines
// below it goes with it.
func codeLines(block string) []string {
	var lines []string
	option := -1 // the indent of the option that lines go with
	for line := range strings.Lines(block) {
		text := strings.TrimSpace(line)
		indent := len(line) - len(strings.TrimLeft(line, " \t"))
		switch {
		case text == "" || isFence(text):
			continue
		case optionLine.MatchString(line):
			option = indent
		case option >= 0 && indent > option:
			lines[len(lines)-1] += " " + text
			continue
		default:
			option = -1
		}
		lines = append(lines, text)
	}
	return lines
}

func isFence(text string) bool {
	return strings.HasPrefix(text, "```") || strings.HasPrefix(text, "~~~")
}
