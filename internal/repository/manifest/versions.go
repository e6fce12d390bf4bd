package manifest

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Fit tells whether a dependency has a wanted version.
type Fit string

// A version fits; a range allows it among others, and no lock file tells which is taken; or it
// does not fit.
const (
	Fits      Fit = "fits"
	Allowed   Fit = "allowed"
	Different Fit = "different"
)

// version is the numbers of one, the first of them the major one. Missing ones are 0.
type version [3]int

// span is the versions from one on up to another, without that.
type span struct{ from, to version }

const unbounded = 1 << 30

var allVersions = span{to: version{unbounded}}

// numbersOf reads "v1.2", and says how many numbers it has: "1.x" has one.
func numbersOf(text string) (numbers version, count int) {
	for part := range strings.SplitSeq(text, ".") {
		number, err := strconv.Atoi(part)
		if err != nil || number >= unbounded || count == len(numbers) {
			break
		}
		numbers[count] = number
		count++
	}
	return numbers, count
}

// next is the first version in which the number at a place is higher: of 1.2.3 and 1 it is 1.3.0.
func (v version) next(place int) version {
	var next version
	copy(next[:], v[:place+1])
	next[place]++
	return next
}

func (v version) compare(other version) int { return slices.Compare(v[:], other[:]) }

// within tells whether a span has no version outside of another one.
func (s span) within(other span) bool {
	return s.from.compare(other.from) >= 0 && s.to.compare(other.to) <= 0
}

// intersect returns the versions that both spans have, and whether there are any.
func (s span) intersect(other span) (span, bool) {
	if other.from.compare(s.from) > 0 {
		s.from = other.from
	}
	if other.to.compare(s.to) < 0 {
		s.to = other.to
	}
	return s, s.from.compare(s.to) < 0
}

var (
	// bracketRange is as Maven and NuGet write one: "[1.0,2.0)".
	bracketRange = regexp.MustCompile(`^([\[(])\s*v?([\d.]*)[^,\])]*(,?)\s*v?([\d.]*)[^,\])]*([\])])$`)
	// hyphenRange is as npm and Composer write one: "1.2 - 2.3".
	hyphenRange = regexp.MustCompile(`^v?([\d.]+)\S*\s+-\s+v?([\d.]+)\S*$`)
	// comparison is a version with what it is compared by.
	comparison = regexp.MustCompile(`(~>|~=|===|==|>=|<=|!=|=|>|<|\^|~)?\s*v?(\d+(?:\.\d+)*)(\.[x*]|[-+][^\s,|]*|[a-z][\w.]*)?`)
)

// spansOf returns the versions that a requirement allows. One that can't be read allows all.
func (e Ecosystem) spansOf(requirement string) []span {
	var spans []span
	for alternative := range strings.SplitSeq(strings.ReplaceAll(requirement, "||", "|"), "|") {
		if one, ok := e.spanOf(strings.TrimSpace(alternative)); ok {
			spans = append(spans, one)
		}
	}
	return spans
}

// spanOf returns the versions that all comparisons allow, and whether there are any.
func (e Ecosystem) spanOf(text string) (span, bool) {
	if found := bracketRange.FindStringSubmatch(text); found != nil {
		return bracketSpan(found)
	}
	if found := hyphenRange.FindStringSubmatch(text); found != nil {
		from, _ := numbersOf(found[1])
		to, count := numbersOf(found[2])
		if count == 0 {
			return allVersions, true
		}
		return span{from, to.next(count - 1)}, true
	}
	whole, ok := allVersions, true
	for _, found := range comparison.FindAllStringSubmatch(text, -1) {
		numbers, count := numbersOf(found[2])
		if count == 0 || found[1] == "!=" {
			continue
		}
		var met bool
		whole, met = whole.intersect(e.compared(found[1], numbers, count))
		ok = ok && met
	}
	return whole, ok
}

// bracketSpan reads the parts of a bracketRange.
func bracketSpan(parts []string) (span, bool) {
	made := allVersions
	from, fromCount := numbersOf(parts[2])
	to, toCount := numbersOf(parts[4])
	if parts[3] == "" && fromCount > 0 {
		return span{from, from.next(len(from) - 1)}, true // "[1.0]" is that one alone
	}
	if fromCount > 0 {
		made.from = from
		if parts[1] == "(" {
			made.from = from.next(len(from) - 1)
		}
	}
	if toCount > 0 {
		made.to = to
		if parts[5] == "]" {
			made.to = to.next(len(to) - 1)
		}
	}
	return made, made.from.compare(made.to) < 0
}

// compared returns the versions that one comparison allows.
func (e Ecosystem) compared(operator string, v version, count int) span {
	last := count - 1
	switch operator {
	case ">=":
		return span{v, allVersions.to}
	case ">":
		return span{v.next(last), allVersions.to}
	case "<=":
		return span{version{}, v.next(last)}
	case "<":
		return span{version{}, v}
	case "^":
		return span{v, v.next(caretPlace(v, count))}
	case "~":
		if e == PHP { // as Ruby's
			return span{v, v.next(max(last-1, 0))}
		}
		return span{v, v.next(min(last, 1))}
	case "~>", "~=":
		return span{v, v.next(max(last-1, 0))}
	case "":
		if e == Rust {
			return span{v, v.next(caretPlace(v, count))}
		}
	}
	return span{v, v.next(last)}
}

// caretPlace is the place of the first number that is not 0: what "^" keeps.
func caretPlace(v version, count int) int {
	for place := range count {
		if v[place] > 0 {
			return place
		}
	}
	return count - 1
}
