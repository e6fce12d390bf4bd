package extract

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/cairn-bot/cairn/internal/document/evidence"
	"github.com/cairn-bot/cairn/internal/knowledge/lexical"
)

// nameParts parts the words of a setting's name.
var nameParts = strings.NewReplacer("-", " ", "_", " ", ".", " ")

// countsOtherwise tells whether another claim gives a number for the words of a setting of this one, and
// another one: "50 upload workers" for "`--upload-workers` (20 by default)". Both have to share a word besides.
func (c *claim) countsOtherwise(other claim) bool {
	for name, value := range c.settings {
		terms := evidence.Telling(nameParts.Replace(name))
		if len(terms) < 2 {
			continue
		}
		theirs := other.values[countMeasure(terms)]
		if len(theirs) != 1 || theirs[0] == value {
			continue
		}
		for word := range other.words {
			if !slices.ContainsFunc(terms, func(term string) bool { return senseOf(term) == word }) && (c.words[word] || c.over[word]) {
				return true
			}
		}
	}
	return false
}

// countOf begins the name of a measure that is a number of things.
const countOf = "number of "

func countMeasure(terms []string) string {
	return countOf + strings.Join(slices.Sorted(slices.Values(terms)), " ")
}

// countedWords is a number with the words behind it.
var countedWords = regexp.MustCompile(`(?i)(?:^|[^\w.$€£-])(\d[\d,]*|two|three|four|five|six|seven|eight|nine|ten) ([a-z]{3,})[ -]([a-z]{3,})\b`)

// countedAs are words between a number and what it counts.
var countedAs = wordSet("different distinct separate additional more other new such individual independent further")

// readCounts notes the numbers of things that two words name: "three different nodes" is of nodes, and "50 status
// processors" of status processors.
func (c *claim) readCounts(text string) {
	for _, found := range countedWords.FindAllStringSubmatch(text, -1) {
		if measure, _ := measured(found[1], found[2]); !strings.HasPrefix(measure, countOf) {
			continue
		}
		measure, value := measured(found[1], found[3])
		if !strings.HasPrefix(measure, countOf) {
			continue
		}
		if !countedAs[strings.ToLower(found[2])] {
			measure = countMeasure(evidence.Telling(found[2] + " " + found[3]))
		}
		c.values[measure] = append(c.values[measure], value)
	}
}

// readSettings notes the settings whose default a sentence gives as a number.
func (c *claim) readSettings(text string) {
	c.settings = make(map[string]string)
	for _, found := range settingPattern.FindAllStringSubmatch(text, -1) {
		c.settings[strings.ToLower(found[1]+found[4])] = found[2] + found[3]
	}
}

// settingsDiffer tells whether two claims give another default to a setting that both name, and
// speak of something else besides that both have.
func (c *claim) settingsDiffer(other claim) bool {
	for name, value := range c.settings {
		theirs, ok := other.settings[name]
		if !ok || theirs == value {
			continue
		}
		of := evidence.Telling(name)
		for i, term := range of {
			of[i] = senseOf(term)
		}
		for word := range c.words {
			if !slices.Contains(of, word) && (other.words[word] || other.over[word]) {
				return true
			}
		}
		for word := range other.words {
			if !slices.Contains(of, word) && c.over[word] {
				return true
			}
		}
	}
	return false
}

// unitsOf are what units measure, and how many of the smallest one they are.
var unitsOf = map[string]struct {
	measure string
	factor  float64
}{
	"ms": {"time", 0.001}, "s": {"time", 1}, "sec": {"time", 1}, "second": {"time", 1}, "m": {"time", 60}, "min": {"time", 60}, "minute": {"time", 60},
	"h": {"time", 3600}, "hour": {"time", 3600}, "d": {"time", 86400}, "day": {"time", 86400}, "week": {"time", 604800}, "month": {"time", 2592000}, "year": {"time", 31536000},
	"b": {"size", 1}, "byte": {"size", 1}, "kb": {"size", 1e3}, "mb": {"size", 1e6}, "gb": {"size", 1e9}, "tb": {"size", 1e12},
	"kib": {"size", 1 << 10}, "mib": {"size", 1 << 20}, "gib": {"size", 1 << 30}, "ki": {"size", 1 << 10}, "mi": {"size", 1 << 20}, "gi": {"size", 1 << 30},
	"%": {"percent", 1}, "percent": {"percent", 1},
}

var numberWords = map[string]float64{"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10}

// measured returns what a quantity measures and its value in the smallest unit: money, time,
// size, percent, or how many there are of something; "" for a number alone.
func measured(number, unit string) (measure, value string) {
	unit = strings.ToLower(unit)
	if strings.ContainsAny(number, "$€£") {
		return "money", strings.ReplaceAll(number, ",", "")
	}
	amount, isWord := numberWords[strings.ToLower(number)]
	if !isWord {
		var err error
		if amount, err = strconv.ParseFloat(strings.ReplaceAll(strings.TrimRight(number, ","), ",", ""), 64); err != nil {
			return "", ""
		}
	}
	known, ok := unitsOf[unit]
	if !ok {
		known, ok = unitsOf[strings.TrimSuffix(unit, "s")]
	}
	switch {
	case ok:
		return known.measure, strconv.FormatFloat(amount*known.factor, 'g', -1, 64)
	case len(unit) < 3 || lexical.IsFiller(unit) || numberWords[unit] > 0:
		return "", ""
	case isWord && amount == 1:
		return "", "" // "one of", "one thing"
	}
	terms := evidence.Telling(unit)
	if len(terms) != 1 {
		return "", ""
	}
	return "number of " + terms[0], strconv.FormatFloat(amount, 'g', -1, 64)
}
