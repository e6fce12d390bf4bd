package support

import (
	"regexp"
	"slices"
	"strings"
)

var (
	defaultWord = regexp.MustCompile(`(?i)\bdefaults?\b`)
	// defaultValue is a value in code, or a number with its unit, that is said to be a default.
	defaultValue = regexp.MustCompile("(?i)\\bdefaults?\\b[^.;`\\d]{0,40}?(?:\\bis|\\bare|\\bto|:|=)\\s*" + someValue + "|([\\w.-]+)\\s*\\(default\\)|" + someValue + `\s*(?:\(default\)|,?\s*(?:which )?(?:is|are) the default\b|by default\b)`)
	codeSpan     = regexp.MustCompile("`([^`]+)`")
)

// someValue is a code span or a number with a unit.
const someValue = "(`[^`]+`|\\d[\\d.,]*(?:\\s?[a-zµ%]+)?)"

// claimedDefaults returns the values that a claim says to be defaults, in lower case.
func claimedDefaults(claim string) []string {
	var values []string
	for _, found := range defaultValue.FindAllStringSubmatch(claim, -1) {
		values = append(values, strings.ToLower(strings.Trim(found[1]+found[2]+found[3], "` ")))
	}
	return values
}

// statesOtherDefault says whether a claim gives as a default what its evidence has, but never
// where it speaks of defaults, while it names another one there.
func statesOtherDefault(claim string, evidence []string) bool {
	for _, value := range claimedDefaults(claim) {
		there, beside, other := false, false, false
		for _, sentence := range evidence {
			lower := strings.ToLower(sentence)
			has, defaults := hasWord(lower, value), claimedDefaults(lower)
			named := slices.Contains(defaults, value) || len(defaults) == 0 && defaultWord.MatchString(lower)
			there, beside = there || has, beside || has && named
			other = other || len(defaults) > 0 && !slices.Contains(defaults, value)
		}
		if there && !beside && other {
			return true
		}
	}
	return false
}

// leastAhead is how much more of a claim the entry of another subject holds than its own.
const leastAhead = 0.2

// tellsOfOtherSubject says whether a claim that begins with a name in code says of it what the
// evidence, in a sentence with another name, says of that one: entries of a list exchanged.
func (m measured) tellsOfOtherSubject(claim string, evidence []string) bool {
	found := codeSpan.FindStringSubmatchIndex(claim)
	if found == nil || strings.Trim(claim[:found[0]], "|*-_ ") != "" {
		return false
	}
	subject := strings.ToLower(claim[found[2]:found[3]])
	_, named := readStatement(claim[found[2]:found[3]])
	var own, others []statement
	for i, sentence := range evidence[:len(m.statements)] {
		lower := strings.ToLower(sentence)
		switch {
		case hasWord(lower, subject):
			own = append(own, m.statements[i])
		case slices.ContainsFunc(codeSpan.FindAllStringSubmatch(lower, -1), func(span []string) bool {
			return !strings.ContainsAny(span[1], "/ ") && !strings.Contains(strings.ToLower(claim), span[1])
		}):
			others = append(others, m.statements[i])
		}
	}
	// What names the subject alone is a heading, over all of it.
	if !slices.ContainsFunc(own, func(s statement) bool {
		return slices.ContainsFunc(s.order, func(term string) bool { return !named.set.Has(term) })
	}) {
		return false
	}
	said := m.heldBeside(named.set, own...)
	return slices.ContainsFunc(others, func(s statement) bool { return m.heldBeside(named.set, s) >= said+leastAhead })
}

// heldBeside is the part of the weight of what is asserted beside a subject that statements hold.
func (m measured) heldBeside(subject Set, statements ...statement) float64 {
	held, sum := 0.0, 0.0
	for i, a := range m.asserted {
		if slices.ContainsFunc(a.keys, subject.Has) {
			continue
		}
		sum += m.rarity[i]
		if slices.ContainsFunc(statements, a.isIn) {
			held += m.rarity[i]
		}
	}
	return held / max(sum, leastWeight)
}

// NamesOtherDefault says whether a table's row gives a default that the sentences on its first cell
// don't: they name another one.
func (e *Evidence) NamesOtherDefault(row, header string) bool {
	cells, titles := rowCells(row), rowCells(header)
	if len(cells) != len(titles) || cells[0] == "" {
		return false
	}
	for i, title := range titles[1:] {
		value := cells[i+1]
		if !defaultWord.MatchString(title) || value == "" {
			continue
		}
		for _, sentence := range e.sentences {
			lower := strings.ToLower(sentence)
			defaults := claimedDefaults(lower)
			if hasWord(lower, cells[0]) && len(defaults) == 1 && !hasWord(lower, value) {
				return true
			}
		}
	}
	return false
}

// rowCells gives the cells of a table's row in lower case, without marks of code and bold.
func rowCells(row string) []string {
	cells := strings.Split(strings.Trim(strings.TrimSpace(row), "|"), "|")
	for i, cell := range cells {
		cells[i] = strings.ToLower(strings.Trim(cell, " `*_"))
	}
	return cells
}
