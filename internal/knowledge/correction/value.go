package correction

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

var (
	defaultSlot = regexp.MustCompile(`(?i)\bdefault(?:s|ed)?(?:\s+(?:is|to|of|value(?:\s+(?:is|of))?))*[\s:=]+["'` + "`" + `]?([^\s"'` + "`" + `)\]}|,;]+)`)
	byDefault   = regexp.MustCompile(`(?i)["'` + "`" + `]?([^\s"'` + "`" + `(),;]+)["'` + "`" + `]?\s+(?:\pL+\s+)?by default`)
	saysDefault = regexp.MustCompile(`(?i)\bdefault|\bout of the box\b|\bwithout (?:any |a )?config`)
)

// replaceValue finds a statement that says what something is, without what the document says.
func (d *document) replaceValue(said statement, question string) (Correction, bool) {
	for i, made := range said.tokens {
		if made.plain && !isNumber(made.text) && !flags[made.text] || said.readRole(made) == isOld || said.isSubject(made) {
			continue
		}
		if edits := d.replaceOfKey(said, i); len(edits) > 0 {
			return d.newValue(edits, made.text), true
		}
		if said.readRole(made) != isNew && (made.plain && !isNumber(made.text) || !said.objects) {
			continue
		}
		if saysDefault.MatchString(said.text) {
			if edits := d.replaceDefault(said, made, question); len(edits) > 0 {
				return d.newValue(edits, made.text), true
			}
		}
	}
	for _, made := range said.tokens {
		if made.plain || isNumber(made.text) || said.readRole(made) == isOld || said.isSubject(made) {
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

var tellsValue = regexp.MustCompile(`(?i)^["'` + "`" + `”]?\s*(?:(?:is|are|was) (?:now |only |still )?|went (?:up|down) to |defaults to |=|:\s)\s*["'` + "`" + `“]?(\S+)`)

// isSubject tells a name whose value the statement tells next: "timeout is 5".
func (s statement) isSubject(t token) bool {
	found := tellsValue.FindStringSubmatch(s.text[t.end:])
	if found == nil || isNumber(t.text) {
		return false
	}
	value := strings.TrimRight(found[1], ".,;:!`\"'”")
	return isNumber(value) || flags[value] || isSettingName(t.text) && isExact(value)
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
			if old := line[start:end]; old != value && (isExact(old) || flags[old]) && isNumber(old) == isNumber(value) && !losesUnit(old, value) && said.allowsOld(old) && mayReplace(old, value) && (!saysDefault.MatchString(said.text) || saysDefault.MatchString(line)) {
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

// mayReplace tells whether one value is of the other's form.
func mayReplace(old, made string) bool {
	return isNumber(made) || flags[old] && flags[made] || likeness(old, made) >= .4
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
		if ok && sameForm(line[start:end], made.text) && isNumber(line[start:end]) == isNumber(made.text) && !losesUnit(line[start:end], made.text) && !repeatsUnit(line[end:], made.text) && d.isUnder(i, said, made) && mayReplace(line[start:end], made.text) && said.allowsOld(line[start:end]) {
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

var unitWord = regexp.MustCompile(`(?i)^["'` + "`" + `]?\s?(?:(?:milli)?seconds?|minutes?|hours?|days?|weeks?|months?|percent|%|[kmgt]i?b\b|bytes?)`)

// repeatsUnit tells that a number with a unit would come before a word for one.
func repeatsUnit(behind, made string) bool {
	return unit.MatchString(made) && numerals[strings.ToLower(made)] == "" && unitWord.MatchString(behind)
}

// isUnder tells whether a line stands where the document speaks of what a statement names: none of the
// names that the document has, or one of them in the line, right above it or in its heading.
func (d *document) isUnder(line int, said statement, made token) bool {
	if d.lacksNames(said) {
		return false
	}
	named := false
	for _, t := range said.tokens {
		if t.plain || t.start == made.start || isNumber(t.text) || saysDefault.MatchString(t.text) {
			continue
		}
		if !slices.ContainsFunc(d.lines, func(text string) bool { return holdsName(text, t.text) }) {
			continue
		}
		named = true
		if holdsName(d.lines[line], t.text) || d.heads(line, func(above int) bool { return holdsName(d.lines[above], t.text) }) {
			return true
		}
	}
	return !named
}

// lacksNames tells that a statement names settings, none of which the document has.
func (d *document) lacksNames(said statement) bool {
	named := false
	for _, t := range said.tokens {
		if !isSettingName(t.text) {
			continue
		}
		named = true
		if slices.ContainsFunc(d.lines, func(text string) bool { return holdsName(text, t.text) }) {
			return false
		}
	}
	return named
}

var settingName = regexp.MustCompile(`^(?:--?[a-z][a-z0-9-]+|\pL+(?:_[\pL\d]+)+|[a-z]+(?:[A-Z][a-z]+)+)$`)

// isSettingName tells what can be no word of a language: "max_size", "maxSize", "--max-size".
func isSettingName(word string) bool {
	return settingName.MatchString(word)
}

// holdsName tells whether a line has a name, in whichever case, that may be the last part of a longer
// one: "maxIdle" in "--server.maxidle", not in "max_idle_time".
func holdsName(line, name string) bool {
	if len(line) > maxLine || name == "" {
		return false
	}
	line, name = strings.ToLower(line), strings.ToLower(name)
	for at := 0; ; {
		i := strings.Index(line[at:], name)
		if i < 0 {
			return false
		}
		start, end := at+i, at+i+len(name)
		before, _ := utf8.DecodeLastRuneInString(line[:start])
		after, _ := utf8.DecodeRuneInString(line[end:])
		if !isNameRune(before) && !isNameRune(after) {
			return true
		}
		at = end
	}
}

func isNameRune(r rune) bool { return isWordRune(r) || r == '_' || r == '-' }

// maxAbove is how many lines up a heading is looked for.
const maxAbove = 40

var heading = regexp.MustCompile(`^\s*(?:#+|[?!]{3}\+?)\s`)

// heads tells whether the last line above another one that is not empty, or its heading, holds
// something.
func (d *document) heads(line int, holds func(line int) bool) bool {
	nearest := true
	for i := line - 1; i >= max(0, line-maxAbove); i-- {
		if strings.TrimSpace(d.lines[i]) == "" {
			continue
		}
		if (nearest || heading.MatchString(d.lines[i])) && holds(i) {
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
		if (d.terms[line][term] || d.heads(line, func(above int) bool { return d.terms[above][term] })) && term != "default" && d.held[term]*4 < len(d.lines)+8 {
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
	if len(lines) > 1 && len(lines) <= maxEdits && !slices.ContainsFunc(lines, func(i int) bool { return d.textAt(slots[i]) != d.textAt(slots[lines[0]]) }) {
		edits := make([]Edit, 0, len(lines))
		for _, i := range lines {
			edits = append(edits, slots[i])
		}
		return edits
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
