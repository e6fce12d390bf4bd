package correction

import (
	"regexp"
	"strings"
)

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
		if edits := d.replaceInCommand(made); len(edits) > 0 {
			return d.newValue(edits, edits[0].New), true
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
		return d.setKey(said, key, value)
	}
	for i := at - 1; i >= max(0, at-4); i-- {
		if key := said.tokens[i]; keyToValue.MatchString(said.text[key.end:made.start]) {
			return d.setKey(said, key.text+"\x00", made.text)
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

// setKey gives the edits by which a key has a value, but for a value that the statement does not mean. A
// key that ends in NUL is followed by a colon or an equals sign.
func (d *document) setKey(said statement, key, value string) []Edit {
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
			if old := line[start:end]; old != value && (isExact(old) || flags[old]) && isNumber(old) == isNumber(value) && !losesUnit(old, value) && said.allowsOld(old) {
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
			start, end = found[0][2], found[0][3]
			return start, start + len(strings.TrimRight(line[start:end], "_*")), true // without Markdown's emphasis
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
		if ok && sameForm(line[start:end], made.text) && isNumber(line[start:end]) == isNumber(made.text) && !losesUnit(line[start:end], made.text) && d.isUnder(i, said, made) && (isNumber(made.text) || likeness(line[start:end], made.text) >= .4) && said.allowsOld(line[start:end]) {
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

var unit = regexp.MustCompile(`\pL+$`)

// losesUnit tells that a number with a unit would become one without.
func losesUnit(old, made string) bool {
	return isNumber(old) && numerals[strings.ToLower(old)] == "" && unit.MatchString(old) && !unit.MatchString(made) && made != "0"
}

// isUnder tells whether a line stands where the document speaks of what a statement names: none of the
// names that the document has, or one of them in the line, right above it or in its heading.
func (d *document) isUnder(line int, said statement, made token) bool {
	named := false
	for _, t := range said.tokens {
		if t.plain || t.start == made.start || isNumber(t.text) || saysDefault.MatchString(t.text) {
			continue
		}
		for _, term := range readTerms(t.text) {
			if d.held[term] == 0 || d.held[term]*4 >= len(d.lines)+8 {
				continue
			}
			named = true
			if d.terms[line][term] || d.heads(line, term) {
				return true
			}
		}
	}
	return !named
}

// maxAbove is how many lines up a heading is looked for.
const maxAbove = 40

var heading = regexp.MustCompile(`^\s*(?:#+|[?!]{3}\+?)\s`)

// heads tells whether a word stands in the last line above another one that is not empty, or in its
// heading.
func (d *document) heads(line int, term string) bool {
	nearest := true
	for i := line - 1; i >= max(0, line-maxAbove); i-- {
		if strings.TrimSpace(d.lines[i]) == "" {
			continue
		}
		if (nearest || heading.MatchString(d.lines[i])) && d.terms[i][term] {
			return true
		}
		nearest = false
		if heading.MatchString(d.lines[i]) {
			return false
		}
	}
	return false
}

// isAbout tells whether a line, or its heading, has a telling word of the statement, or the line most
// of the question.
func (d *document) isAbout(line int, subject, question string) bool {
	for _, term := range readTerms(subject) {
		if (d.terms[line][term] || d.heads(line, term)) && term != "default" && d.held[term]*4 < len(d.lines)+8 {
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
	programA, _, commandA := strings.Cut(a, " ")
	programB, _, commandB := strings.Cut(b, " ")
	if (commandA || commandB) && programA != programB {
		return false
	}
	schemeA, _, okA := strings.Cut(a, ":")
	schemeB, _, okB := strings.Cut(b, ":")
	return okA && okB && schemeA == schemeB && len(schemeA) > 3 || likeness(a, b) >= .7
}
