package correction

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"cairn/internal/knowledge/lexical"
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
		if contrasted && !said.isContrasted(old) || oldRole == isNew || old.plain && oldRole != isOld || !d.holds(old.text) {
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
	if len(lines) > 1 && !isSpelling && !(isDistinctive(old) && everywhere.MatchString(said.text)) {
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

var (
	defaultSlot = regexp.MustCompile(`(?i)\bdefault(?:s|ed)?(?:\s+(?:is|to|of|value(?:\s+(?:is|of))?))*[\s:=]+["'` + "`" + `]?([^\s"'` + "`" + `),;]+)`)
	byDefault   = regexp.MustCompile(`(?i)["'` + "`" + `]?([^\s"'` + "`" + `(),;]+)["'` + "`" + `]?\s+(?:\pL+\s+)?by default`)
	saysDefault = regexp.MustCompile(`(?i)\bdefault`)
)

// replaceValue finds a statement that says what something is, without what the document says.
func (d *document) replaceValue(said statement, question string) (Correction, bool) {
	for i, made := range said.tokens {
		if made.plain && !isNumber(made.text) || said.readRole(made) == isOld {
			continue
		}
		if edits := d.replaceOfKey(said, i); len(edits) > 0 {
			return d.newValue(edits, made.text), true
		}
		if said.readRole(made) != isNew && !said.objects {
			continue
		}
		if saysDefault.MatchString(said.text) {
			if edits := d.replaceDefault(said, made, question); len(edits) > 0 {
				return d.newValue(edits, made.text), true
			}
		}
	}
	for _, made := range said.tokens {
		if made.plain || isNumber(made.text) || said.readRole(made) == isOld {
			continue
		}
		if edits := d.replaceAlike(said, made, question); len(edits) > 0 {
			return d.newValue(edits, made.text), true
		}
	}
	return Correction{}, false
}

func (d *document) newValue(edits []Edit, made string) Correction {
	first := edits[0]
	return Correction{Kind: Value, Old: d.textAt(first), New: made, Edits: edits}
}

var behindKey = regexp.MustCompile(`^["'` + "`" + `]?\s*(?:=|:\s)\s*["'` + "`" + `]?`)
var keyToValue = regexp.MustCompile(`(?i)^["'` + "`" + `]?\s*(?:is|are|=|:|should be|must be|has to be|needs to be)\s*(?:now |set to )?["'` + "`" + `]?$`)

// replaceOfKey changes what a key has: "timeout is 5", "--validate=false", "--version v3".
func (d *document) replaceOfKey(said statement, at int) []Edit {
	made := said.tokens[at]
	if key, value, ok := splitPair(made.text); ok {
		return d.setKey(key, value)
	}
	for i := at - 1; i >= max(0, at-4); i-- {
		if key := said.tokens[i]; keyToValue.MatchString(said.text[key.end:made.start]) {
			return d.setKey(key.text+"\x00", made.text)
		}
	}
	return nil
}

// splitPair takes "--flag value" and "key=value" apart; the key keeps its sign.
func splitPair(text string) (key, value string, ok bool) {
	fields := strings.Fields(text)
	last := fields[len(fields)-1]
	if name, value, found := strings.Cut(last, "="); found && name != "" && value != "" {
		return name + "=", value, true
	}
	if len(fields) == 2 && strings.HasPrefix(fields[0], "--") && !strings.HasPrefix(fields[1], "-") {
		return fields[0] + " ", fields[1], true
	}
	return "", "", false
}

// flags are values that are ordinary words.
var flags = map[string]bool{"true": true, "false": true, "yes": true, "no": true, "on": true, "off": true, "enabled": true, "disabled": true}

// setKey gives the edits by which a key has a value. A key that ends in NUL is followed by a colon or
// an equals sign.
func (d *document) setKey(key, value string) []Edit {
	name, signed := strings.CutSuffix(key, "\x00")
	var edits []Edit
	for i, line := range d.lines {
		for _, at := range findWord(line, strings.TrimRight(name, " =")) {
			start := at + len(name)
			if signed {
				gap := behindKey.FindString(line[start:])
				if gap == "" {
					continue
				}
				start += len(gap)
			} else if !strings.HasPrefix(line[at:], name) {
				continue
			}
			end := start
			for end < len(line) && !strings.ContainsRune(" \t\"'`,;)", rune(line[end])) {
				end++
			}
			if old := line[start:end]; old != value && (isExact(old) || flags[old]) && isNumber(old) == isNumber(value) {
				edits = append(edits, Edit{Line: i, Start: start, End: end, New: value})
			}
		}
	}
	for _, edit := range edits { // several values: it is not known which one is meant
		if d.textAt(edit) != d.textAt(edits[0]) {
			return nil
		}
	}
	return edits
}

// findDefault gives the place of the one default that a line names; false for none, or several.
func findDefault(line string) (start, end int, ok bool) {
	for _, pattern := range []*regexp.Regexp{defaultSlot, byDefault} {
		switch found := pattern.FindAllStringSubmatchIndex(line, 2); len(found) {
		case 1:
			return found[0][2], found[0][3], true
		case 2:
			return 0, 0, false
		}
	}
	return 0, 0, false
}

// allowsOld tells whether a statement may be about an old value: it names that, or none.
func (s statement) allowsOld(value string) bool {
	named := false
	for _, t := range s.tokens {
		if (!t.plain || isNumber(t.text)) && s.readRole(t) == isOld {
			if matchNumeral("1", t.text) == matchNumeral("1", value) {
				return true
			}
			named = named || isNumber(t.text) == isNumber(value)
		}
	}
	return !named
}

// replaceDefault changes the default that the line of the statement's subject names.
func (d *document) replaceDefault(said statement, made token, question string) []Edit {
	subject := readTerms(said.without(made.text))
	slots := make(map[int]Edit)
	var lines []int
	for i, line := range d.lines {
		if len(line) > maxLine {
			continue
		}
		start, end, ok := findDefault(line)
		if ok && sameForm(line[start:end], made.text) && isNumber(line[start:end]) == isNumber(made.text) && (isNumber(made.text) || likeness(line[start:end], made.text) >= .4) && said.allowsOld(line[start:end]) {
			slots[i] = Edit{Line: i, Start: start, End: end, New: matchNumeral(line[start:end], made.text)}
			lines = append(lines, i)
		}
	}
	best, ok := d.pickLine(lines, subject, readTerms(question))
	if !ok || d.textAt(slots[best]) == made.text || !d.isAbout(best, said.without(made.text), question) {
		return nil
	}
	return []Edit{slots[best]}
}

// textAt gives what stands in the place of an edit.
func (d *document) textAt(edit Edit) string { return d.lines[edit.Line][edit.Start:edit.End] }

// isAbout tells whether a line has a telling word of the statement, or most of the question.
func (d *document) isAbout(line int, subject, question string) bool {
	for _, term := range readTerms(subject) {
		if d.terms[line][term] && term != "default" && d.held[term]*4 < len(d.lines)+8 {
			return true
		}
	}
	asked := readTerms(question)
	held := 0
	for _, term := range asked {
		if d.terms[line][term] {
			held++
		}
	}
	return len(asked) > 0 && held*2 >= len(asked)
}

// replaceAlike changes the one name in the line of the statement's subject that is like the new one.
func (d *document) replaceAlike(said statement, made token, question string) []Edit {
	if said.readRole(made) != isNew && !strings.Contains(said.text, ": "+made.text) || d.holds(made.text) || len(made.text) < 6 {
		return nil
	}
	subject := readTerms(said.without(made.text))
	var lines []int
	slots := make(map[int]Edit)
	for i, line := range d.lines {
		if len(line) > maxLine {
			continue
		}
		alike := 0
		for _, t := range readTokens(line) {
			start, end := t.start, t.end
			if t.quoted {
				start, end = t.start+1, t.end-1
			}
			if t.plain || start >= end || line[start:end] != t.text || !isAlike(t.text, made.text) || !sameForm(t.text, made.text) || !said.allowsOld(t.text) {
				continue
			}
			alike++
			slots[i] = Edit{Line: i, Start: start, End: end, New: made.text}
		}
		if alike == 1 {
			lines = append(lines, i)
		}
	}
	best, ok := d.pickLine(lines, subject, readTerms(question))
	if !ok || !d.isAbout(best, said.without(made.text), question) {
		return nil
	}
	return []Edit{slots[best]}
}

// isAlike tells two names of one form: with the same scheme in front, or mostly the same letters.
func isAlike(a, b string) bool {
	if a == b {
		return false
	}
	schemeA, _, okA := strings.Cut(a, ":")
	schemeB, _, okB := strings.Cut(b, ":")
	return okA && okB && schemeA == schemeB && len(schemeA) > 3 || likeness(a, b) >= .7
}
