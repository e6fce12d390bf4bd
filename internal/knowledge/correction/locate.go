package correction

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cairn-bot/cairn/internal/knowledge/lexical"
)

// document is a document whose lines are searched.
type document struct {
	lines []string
	terms []map[string]bool // of each line
	held  map[string]int    // term → lines that hold it
}

func newDocument(lines []string) *document {
	d := &document{lines: lines, terms: make([]map[string]bool, len(lines)), held: make(map[string]int)}
	for i, line := range lines {
		d.terms[i] = make(map[string]bool)
		for _, term := range readTerms(line[:min(len(line), maxLine)]) {
			d.terms[i][term] = true
		}
		for term := range d.terms[i] {
			d.held[term]++
		}
	}
	return d
}

// readTerms gives the telling words of a text; names are taken apart at their signs.
func readTerms(text string) []string {
	var terms []string
	for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if term := lexical.Stem(word); !lexical.IsFiller(word) && !lexical.IsFiller(term) {
			terms = append(terms, term)
		}
	}
	return terms
}

// correct finds what a statement corrects.
func (d *document) correct(said statement, question string) (Correction, bool) {
	if !said.cued && !said.objects {
		return Correction{}, false
	}
	if made, ok := d.renameToken(said, question); ok {
		return made, true
	}
	return d.replaceValue(said, question)
}

// renameToken finds a statement that names both what is there and what holds.
func (d *document) renameToken(said statement, question string) (Correction, bool) {
	contrasted := slices.ContainsFunc(said.tokens, said.isContrasted)
	for _, old := range said.tokens {
		oldRole := said.readRole(old)
		if contrasted && !said.isContrasted(old) || oldRole == isNew || old.plain && oldRole != isOld || !d.holds(old.text) || isNumber(old.text) && d.lacksNames(said) {
			continue
		}
		made, ok := d.findNew(said, old, oldRole)
		if !ok || oldRole != isOld && (likeness(old.text, made.text) < minAlike || contains(made.text, old.text)) {
			continue
		}
		if edits := d.rename(old.text, made.text, said, question); len(edits) > 0 {
			return Correction{Kind: Renamed, Old: old.text, New: made.text, Edits: edits}, true
		}
	}
	return Correction{}, false
}

// minAlike is how alike two names are at least of which nothing but their likeness tells that one
// stands for the other.
const minAlike = .6

func contains(text, part string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(part))
}

// findNew gives the word that a statement puts in the place of an old one.
func (d *document) findNew(said statement, old token, oldRole role) (token, bool) {
	var found []token
	for _, t := range said.tokens {
		if t.start == old.start || t.text == old.text || !fits(old, t) {
			continue
		}
		switch said.readRole(t) {
		case isNew:
			found = append(found, t)
		case unclear:
			if oldRole == isOld && !t.plain {
				found = append(found, t)
			}
		}
	}
	best, most := token{}, -1.0
	for _, t := range found {
		score := likeness(old.text, t.text)
		if isNumber(old.text) { // digits that are alike tell nothing: the form does, and what stands nearer
			score = 1 / float64(2+max(t.start-old.end, old.start-t.end, 0))
			if strings.Contains(old.text, ".") != strings.Contains(t.text, ".") {
				score--
			}
		}
		if said.readRole(t) == isNew {
			score++
		}
		if d.holds(t.text) {
			score -= .5
		}
		if score > most {
			best, most = t, score
		}
	}
	return best, most >= 0
}

// fits tells whether a word may stand in the place of another: numbers for numbers, and ordinary
// words only where they are alike.
func fits(old, made token) bool {
	if isNumber(old.text) != isNumber(made.text) {
		return false
	}
	if isNumber(old.text) {
		return true
	}
	if !sameForm(old.text, made.text) {
		return false
	}
	if old.plain || made.plain {
		return likeness(old.text, made.text) >= .5 && !lexical.IsFiller(strings.ToLower(old.text)) && !lexical.IsFiller(strings.ToLower(made.text))
	}
	return true
}

// sameForm is false where one text is a flag of a command and the other is none.
func sameForm(old, made string) bool {
	return strings.HasPrefix(old, "--") == strings.HasPrefix(made, "--") || strings.HasPrefix(old, "-") && likeness(old, made) >= minAlike
}

// likeness is how much two texts have in common, 0 to 1: the longest common subsequence.
func likeness(a, b string) float64 {
	x, y := []rune(strings.ToLower(a)), []rune(strings.ToLower(b))
	if len(x) > 200 || len(y) > 200 || len(x)+len(y) == 0 {
		return 0
	}
	row := make([]int, len(y)+1)
	for _, r := range x {
		last := 0
		for j, s := range y {
			kept := row[j+1]
			if r == s {
				row[j+1] = last + 1
			} else {
				row[j+1] = max(row[j+1], row[j])
			}
			last = kept
		}
	}
	return 2 * float64(row[len(y)]) / float64(len(x)+len(y))
}

// holds tells whether the document has a word.
func (d *document) holds(word string) bool {
	for _, line := range d.lines {
		if len(findWord(line, word)) > 0 {
			return true
		}
	}
	return false
}

// findWord gives the places of a word in a line, where no longer word has it.
func findWord(line, word string) []int {
	var places []int
	if word == "" || len(line) > maxLine {
		return nil
	}
	for at := 0; ; {
		i := strings.Index(line[at:], word)
		if i < 0 {
			return places
		}
		start, end := at+i, at+i+len(word)
		before, _ := utf8.DecodeLastRuneInString(line[:start])
		after, size := utf8.DecodeRuneInString(line[end:])
		next, _ := utf8.DecodeRuneInString(line[end+size:])
		first, _ := utf8.DecodeRuneInString(word)
		last, _ := utf8.DecodeLastRuneInString(word)
		if before == '_' || after == '_' { // emphasis of Markdown is none of the word
			outer, _ := utf8.DecodeLastRuneInString(strings.TrimRight(line[:start], "_"))
			beyond, _ := utf8.DecodeRuneInString(strings.TrimLeft(line[end:], "_"))
			if !isWordRune(outer) && !isWordRune(beyond) {
				places = append(places, start)
				at = end
				continue
			}
		}
		openBefore := isWordRune(first) && (isWordRune(before) || strings.ContainsRune("-_/.", before))
		openAfter := isWordRune(last) && (isWordRune(after) || strings.ContainsRune("-_/", after) || after == '.' && isWordRune(next))
		if !openBefore && !openAfter {
			places = append(places, start)
		}
		at = end
	}
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// minSpelled is how long a word is at least whose other spelling is meant wherever it stands.
const minSpelled = 5

// everywhere is what people say of a name that holds nowhere any more.
var everywhere = regexp.MustCompile(`(?i)\b(?:renamed|replaced|replaces|deprecated|gone|moved|dropped|removed|retired|archived|dead|doesn'?t exist|does not exist|does nothing|no longer|any ?more|typo|misspell\w*|there(?:'s| is) no|the old)\b`)

// isQuoted tells that a sentence names a word in quotes.
func (s statement) isQuoted(word string) bool {
	return slices.ContainsFunc(s.tokens, func(t token) bool { return t.quoted && t.text == word })
}

// markedLines gives those of the lines in which a word is marked up: quoted, as code or emphasized;
// all where it is in none.
func (d *document) markedLines(lines []int, word string) []int {
	var marked []int
	for _, i := range lines {
		for _, at := range findWord(d.lines[i], word) {
			if at > 0 && strings.ContainsRune("`\"'*_“", rune(d.lines[i][at-1])) {
				marked = append(marked, i)
				break
			}
		}
	}
	if len(marked) > 0 {
		return marked
	}
	return lines
}

// rename replaces a word: a name that stands for nothing else in the whole document, another one
// in the line that the statement is about.
func (d *document) rename(old, made string, said statement, question string) []Edit {
	var lines []int
	for i, line := range d.lines {
		if len(findWord(line, old)) > 0 {
			lines = append(lines, i)
		}
	}
	if !isDistinctive(old) && said.isQuoted(old) {
		lines = d.markedLines(lines, old)
	}
	isSpelling := len(old) >= minSpelled && likeness(old, made) >= .8 && !isNumber(old)
	if len(lines) > 1 && !isSpelling && (!isDistinctive(old) || !everywhere.MatchString(said.text)) {
		lines = d.pickLines(lines, readTerms(said.without(old, made)), readTerms(question))
	}
	var edits, absorbed []Edit
	for _, i := range lines {
		for _, at := range findWord(d.lines[i], old) {
			edit := Edit{Line: i, Start: at, End: at + len(old), New: matchNumeral(old, made)}
			if wide := absorb(d.lines[i], edit); wide != edit {
				edit = wide
				absorbed = append(absorbed, edit)
			}
			if d.lines[i][edit.Start:edit.End] != edit.New {
				edits = append(edits, edit)
			}
		}
	}
	if len(absorbed) > 0 { // the new text says which of them it stands for
		edits = absorbed
	}
	if len(edits) > maxEdits {
		return nil
	}
	return edits
}

// matchNumeral writes a number as the one in whose place it comes: as a word, or in digits.
func matchNumeral(old, made string) string {
	_, oldIsWord := numerals[strings.ToLower(old)]
	digits, madeIsWord := numerals[strings.ToLower(made)]
	if madeIsWord && !oldIsWord {
		return digits
	}
	return made
}

// absorb widens an edit over those words beside it that its new text has as well: "argocd-util export"
// becomes "argocd admin export", not "argocd admin export export".
func absorb(line string, edit Edit) Edit {
	words := strings.Fields(edit.New)
	for k := len(words) - 1; k > 0; k-- {
		tail := " " + strings.Join(words[len(words)-k:], " ")
		if strings.HasPrefix(line[edit.End:], tail) {
			edit.End += len(tail)
			break
		}
	}
	for k := len(words) - 1; k > 0; k-- {
		head := strings.Join(words[:k], " ") + " "
		if strings.HasSuffix(line[:edit.Start], head) {
			edit.Start -= len(head)
			break
		}
	}
	return edit
}

// isDistinctive tells a name that means the same wherever it stands.
func isDistinctive(word string) bool {
	signs := strings.IndexFunc(word, func(r rune) bool { return strings.ContainsRune("-_/.:<>#@ ", r) }) >= 0
	return utf8.RuneCountInString(word) >= 6 && (signs || isExact(word)) && !isNumber(word)
}

// without gives the sentence without two words of it.
func (s statement) without(words ...string) string {
	text := s.text
	for _, word := range words {
		text = strings.ReplaceAll(text, word, " ")
	}
	return text
}

// pickLine gives the line that holds most of what a statement is about; false where several do.
func (d *document) pickLine(lines []int, subject, question []string) (best int, ok bool) {
	most, next := 0.0, 0.0
	for _, i := range lines {
		score := d.scoreLine(i, subject, question)
		switch {
		case most > 0 && strings.TrimSpace(d.lines[i]) == strings.TrimSpace(d.lines[best]):
			most = max(most, score)
		case score > most:
			best, most, next = i, score, most
		case score > next:
			next = score
		}
	}
	return best, most > 0 && most > next*1.15
}

// pickLines gives the line that a statement is about, and those that say the same word for word.
func (d *document) pickLines(lines []int, subject, question []string) []int {
	best, ok := d.pickLine(lines, subject, question)
	if !ok && !d.areSame(lines) {
		return nil
	}
	if !ok {
		best = lines[0]
	}
	var same []int
	for _, i := range lines {
		if strings.TrimSpace(d.lines[i]) == strings.TrimSpace(d.lines[best]) {
			same = append(same, i)
		}
	}
	return same
}

// areSame tells that lines say the same.
func (d *document) areSame(lines []int) bool {
	for _, i := range lines {
		if strings.TrimSpace(d.lines[i]) != strings.TrimSpace(d.lines[lines[0]]) {
			return false
		}
	}
	return len(lines) > 0
}

// scoreLine weighs the words of a statement, and half of the question's, that a line holds; those
// of the lines around it count a little.
func (d *document) scoreLine(line int, subject, question []string) float64 {
	score := 0.0
	seen := make(map[string]bool)
	add := func(terms []string, weight float64) {
		for _, term := range terms {
			if seen[term] || d.held[term] == 0 {
				continue
			}
			rarity := math.Log(1 + float64(len(d.lines))/float64(d.held[term]))
			switch {
			case d.terms[line][term]:
				seen[term] = true
				score += weight * rarity
			case line > 0 && d.terms[line-1][term], line+1 < len(d.terms) && d.terms[line+1][term]:
				seen[term] = true
				score += weight * rarity / 4
			}
		}
	}
	add(subject, 1)
	add(question, .5)
	return score
}
