package support

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cairn-bot/cairn/internal/knowledge/lexical"
	"github.com/cairn-bot/cairn/internal/language"
)

// Stated is a statement whose numbers, units, versions, names and code are looked for.
type Stated struct {
	Text     string // Markdown
	Row      bool   // Text is a table's row
	Code     bool   // Text is a code block
	Question string // that it answers: what the question names is no claim
}

// Absent gives the numbers, units, versions, names and code words of a statement that evidence
// does not have, as written. In tables they must stand in a row of their subject. What it gives
// is never supported, whoever says so; what it does not give may still be wrong.
func Absent(stated Stated, evidence []string) []string { return ReadEvidence(evidence).Absent(stated) }

// Absent is Absent of this evidence.
func (e *Evidence) Absent(stated Stated) []string {
	against := e.exact()
	var absent []string
	add := func(token string) {
		if !slices.Contains(absent, token) {
			absent = append(absent, token)
		}
	}
	if stated.Code {
		for _, token := range codeTokens(stated.Text) {
			if isIdentifier(token) && !isPlace(token) && !against.hasCode(token) {
				add(token)
			}
		}
		return absent
	}
	spans, prose := splitSpans(stated.Text)
	for _, span := range spans {
		for _, token := range against.absentOfSpan(span) {
			add(token)
		}
	}
	for _, n := range numbersIn(strings.Join(append(slices.Clone(spans), countUnits(rate.ReplaceAllString(prose, "$1 per "))), " ; ")) {
		if !against.hasNumber(n) {
			add(n.written)
		}
	}
	for _, name := range namesIn(prose, stated.Row) {
		if !against.hasName(name) && !hasWord(strings.ToLower(stated.Question), strings.ToLower(name)) {
			add(name)
		}
	}
	if len(absent) == 0 {
		for _, token := range against.otherRow(stated, spans) {
			add(token)
		}
	}
	return absent
}

// exactEvidence is evidence as exact words are looked for in it.
type exactEvidence struct {
	lower   string   // all of it
	stems   Set      // of its words
	rows    []string // of its tables, lower case
	outside string   // of its tables, lower case
	numbers []quantity
}

func readExact(evidence []string) exactEvidence {
	var e exactEvidence
	var outside strings.Builder
	for _, text := range evidence {
		lower := strings.ToLower(text)
		if strings.HasPrefix(lower, "|") {
			for line := range strings.Lines(lower) {
				e.rows = append(e.rows, strings.TrimSpace(line))
			}
		} else {
			outside.WriteString(lower + "\n")
		}
	}
	e.outside = outside.String()
	e.lower = e.outside + strings.Join(e.rows, "\n")
	e.stems = make(Set)
	for _, word := range lexical.Words(lexical.Fold(e.lower)) {
		e.stems[lexical.Stem(word.Text)] = struct{}{}
		for _, term := range lexical.Analyze(word.Text) {
			e.stems[term] = struct{}{}
		}
	}
	e.numbers = numbersIn(withDigits(countUnits(strings.NewReplacer("`", " ", "*", " ").Replace(e.lower))))
	return e
}

// quantity is a number with the unit that it is written with.
type quantity struct{ written, value, unit string }

var (
	numberToken = regexp.MustCompile(`(?i)(?:^|[^\p{L}\d._-])(v?(\d{4}-\d\d(?:-\d\d)?|\d+(?:[.,]\d+)*)(?:\.x)?)([a-zµ%]{0,3})(?:\s+(seconds?|secs?|minutes?|mins?|hours?|days?|weeks?|months?|years?|milliseconds?|bytes?|kb|mb|gb|tb|mib|gib|kib|percent|sekunden?|minuten?|stunden?|tagen?|secondes?|heures?|jours?|segundos?|minutos?|horas?|días?))?`)
	unitNames   = map[string]string{
		"second": "s", "sec": "s", "sekund": "s", "sekunde": "s", "sekunden": "s", "seconde": "s", "segundo": "s",
		"minute": "m", "min": "m", "minuten": "m", "minuto": "m", "hour": "h", "stunde": "h", "stunden": "h", "heure": "h", "hora": "h",
		"day": "d", "tag": "d", "tagen": "d", "tage": "d", "jour": "d", "día": "d", "millisecond": "ms", "byte": "b", "percent": "%",
	}
)

func numbersIn(text string) []quantity {
	var found []quantity
	for at := 0; at < len(text); {
		m := numberToken.FindStringSubmatchIndex(text[at:])
		if m == nil {
			break
		}
		part := func(i int) string {
			if m[2*i] < 0 {
				return ""
			}
			return text[at+m[2*i] : at+m[2*i+1]]
		}
		unit := strings.ToLower(part(3))
		if named := strings.ToLower(part(4)); named != "" {
			unit = strings.TrimSuffix(named, "s")
			if named == "days" || named == "tagen" {
				unit = "day"
			}
		}
		if short, ok := unitNames[unit]; ok {
			unit = short
		}
		value := strings.ReplaceAll(part(2), ",", "")
		found = append(found, quantity{written: part(1) + part(3), value: value, unit: unit})
		at += max(m[2*2+1], m[2*3+1])
	}
	return found
}

// unitCount is a number in words before a unit of time.
var unitCount = regexp.MustCompile(`(?i)\b(an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|sixty) ((?:milli)?seconds?|minutes?|hours?|days?|weeks?|months?|years?)\b`)

// rate is the article of a unit that a number is given for: "20GB a day".
var rate = regexp.MustCompile(`(?i)(\d[\w.,]*(?: [\pL-]+)?|\b(?:once|twice|times)) an? `)

// countUnits writes numbers with digits that stand before a unit as words: "1 hour" for "an hour".
func countUnits(text string) string {
	return unitCount.ReplaceAllStringFunc(text, func(found string) string {
		count, unit, _ := strings.Cut(found, " ")
		if value, ok := numerals[strings.ToLower(count)]; ok {
			return value + " " + unit
		}
		return "1 " + unit
	})
}

// withDigits writes numbers with digits that a text has as words.
func withDigits(text string) string {
	var b strings.Builder
	end := 0
	for _, word := range lexical.Words(text) {
		if value, ok := numerals[strings.ToLower(word.Text)]; ok {
			b.WriteString(text[end:word.Start] + value)
			end = word.End
		}
	}
	return b.String() + text[end:]
}

// hasNumber says whether the evidence has a number; with another unit alone is not enough.
func (e exactEvidence) hasNumber(n quantity) bool {
	there, others := false, false
	for _, other := range e.numbers {
		if !sameVersion(n.value, other.value) {
			continue
		}
		if n.unit == other.unit {
			return true
		}
		there, others = true, others || other.unit != ""
	}
	switch {
	case n.unit == "":
		return there || hasWord(e.lower, strings.ToLower(n.written))
	case others:
		return false
	}
	return there || hasWord(e.lower, strings.ToLower(n.written))
}

// sameVersion says whether two numbers are the same but for zeros at the end of a version.
func sameVersion(a, b string) bool {
	return a == b || strings.TrimSuffix(a, ".0") == strings.TrimSuffix(b, ".0") && strings.Contains(a+b, ".0")
}

// splitSpans parts code spans from the rest of a text.
func splitSpans(text string) (spans []string, prose string) {
	var b strings.Builder
	for at := 0; at < len(text); {
		if text[at] != '`' {
			b.WriteByte(text[at])
			at++
			continue
		}
		run := len(text[at:]) - len(strings.TrimLeft(text[at:], "`"))
		end := strings.Index(text[at+run:], text[at:at+run])
		if end < 0 {
			b.WriteString(text[at : at+run])
			at += run
			continue
		}
		spans = append(spans, strings.TrimSpace(text[at+run:at+run+end]))
		b.WriteString(" \x00 ")
		at += run + end + run
	}
	return spans, b.String()
}

// absentOfSpan gives what the evidence lacks of a code span: identifiers, and commands of
// several words.
func (e exactEvidence) absentOfSpan(span string) []string {
	if hasWord(e.lower, strings.ToLower(span)) {
		return nil
	}
	var absent []string
	tokens := codeTokens(span)
	for i, token := range tokens {
		switch {
		case isPlace(token):
		case isIdentifier(token) || len(tokens) == 1:
			if !e.hasCode(token) {
				absent = append(absent, token)
			}
		case i > 0 && isCommand(tokens[i-1]) && isCommand(token):
			if pair := tokens[i-1] + " " + token; !e.hasPair(tokens[i-1], token) {
				absent = append(absent, pair)
			}
		}
	}
	return absent
}

// hasPair says whether the evidence has two words of a command, if not behind each other.
func (e exactEvidence) hasPair(first, second string) bool {
	return hasWord(e.lower, first+" "+second) || e.stems.Has(lexical.Stem(second))
}

var commandWord = regexp.MustCompile(`^[a-z][a-z]+(?:-[a-z]+)*$`)

func isCommand(token string) bool { return commandWord.MatchString(token) }

// codeTokens cuts code into words.
func codeTokens(code string) []string {
	return strings.FieldsFunc(code, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("`\"'=,;()[]{}<>|&!@$", r) })
}

// isIdentifier says whether a word of code is one that only its source can have made up: a
// flag, a variable, a dotted or a mixed name.
func isIdentifier(token string) bool {
	token = strings.TrimRight(token, ".:")
	if strings.HasPrefix(token, "-") {
		return len(strings.Trim(token, "-")) > 1
	}
	inner := strings.Trim(token, "-._:/")
	if strings.ContainsAny(inner, "_") || strings.Contains(inner, ".") && !strings.ContainsAny(inner[:1], "0123456789") {
		return true
	}
	lower := strings.IndexFunc(inner, unicode.IsLower)
	upper := strings.LastIndexFunc(inner, unicode.IsUpper)
	return lower >= 0 && upper > lower
}

// isPlace says whether a word of code is an address, a path or a file of somebody's own.
func isPlace(token string) bool {
	return strings.Contains(token, "://") || strings.Contains(token, "example") || strings.HasPrefix(token, "./") || strings.HasPrefix(token, "/") ||
		strings.Count(token, "/") > 1 || strings.Contains(token, "localhost") || strings.Contains(token, ".com") || strings.Contains(token, ".tgz")
}

func (e exactEvidence) hasCode(token string) bool {
	token = strings.ToLower(strings.Trim(token, ".:"))
	return token == "" || hasWord(e.lower, token)
}

// hasWord says whether a text has a word with nothing before or behind it that belongs to it.
func hasWord(text, word string) bool {
	if word == "" {
		return true
	}
	for from := 0; ; {
		at := strings.Index(text[from:], word)
		if at < 0 {
			return false
		}
		at += from
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		after, _ := utf8.DecodeRuneInString(text[at+len(word):])
		if !isWordPart(before) && !isWordPart(after) {
			return true
		}
		from = at + 1
	}
}

func isWordPart(r rune) bool {
	return r == '_' || r == '-' || unicode.IsLetter(r) || unicode.IsDigit(r)
}

// namesIn gives the words with capital letters inside sentences. German writes all nouns with
// one.
func namesIn(prose string, row bool) []string {
	tag := language.Detect(prose)
	if tag == language.German {
		return nil
	}
	var names []string
	begins := true
	for _, field := range strings.Fields(prose) {
		word := strings.Trim(field, "*_.,;:!?()[]\"'“”„«»|")
		first := begins
		begins = strings.ContainsAny(field[len(field)-1:], ".:!?|") || strings.HasSuffix(field, ":**") || strings.HasSuffix(field, ".**")
		if strings.Contains(field, "\x00") {
			continue
		}
		if word == "" {
			begins = begins || first
			continue
		}
		if !row && !first && isCapitalized(word) && len(word) > 2 || mixedCase(word) {
			names = append(names, strings.TrimSuffix(strings.TrimSuffix(word, "'s"), "’s"))
		}
	}
	return names
}

// mixedCase says whether a word has a capital letter behind a small one: "PostgreSQL".
func mixedCase(word string) bool {
	lower := strings.IndexFunc(word, unicode.IsLower)
	return lower >= 0 && strings.LastIndexFunc(word, unicode.IsUpper) > lower
}

func (e exactEvidence) hasName(name string) bool {
	for _, part := range strings.FieldsFunc(name, func(r rune) bool { return r == '-' || r == '/' }) {
		if e.stems.Has(lexical.Stem(strings.ToLower(part))) || strings.Contains(e.lower, strings.ToLower(part)) {
			continue
		}
		return false
	}
	return true
}

// otherRow gives the numbers and code words of a statement that stand in tables alone, and not
// in a row of its subject.
func (e exactEvidence) otherRow(stated Stated, spans []string) []string {
	if len(e.rows) == 0 {
		return nil
	}
	var tokens []string
	for _, n := range numbersIn(strings.ReplaceAll(stated.Text, "`", " ")) {
		if n.written != "" && !hasNumberWord(e.outside, n.value) {
			tokens = append(tokens, n.value)
		}
	}
	for _, span := range spans {
		for _, token := range codeTokens(span) {
			if token = strings.ToLower(token); len(token) > 2 && strings.IndexFunc(token, unicode.IsDigit) < 0 && !hasWord(e.outside, token) && hasWord(e.lower, token) {
				tokens = append(tokens, token)
			}
		}
	}
	if len(tokens) < 2 {
		return nil
	}
	for _, row := range e.rows {
		all := true
		for _, token := range tokens {
			all = all && (hasWord(row, token) || hasNumberWord(row, token))
		}
		if all {
			return nil
		}
	}
	// The first names the subject: what is not in its rows is another's.
	var absent []string
	for _, token := range tokens[1:] {
		together := false
		for _, row := range e.rows {
			together = together || hasNumberWord(row, tokens[0]) && hasNumberWord(row, token) || hasWord(row, tokens[0]) && hasWord(row, token)
		}
		if !together {
			absent = append(absent, token)
		}
	}
	return absent
}

// hasNumberWord says whether a text has a number, perhaps as a version or with a unit: "1.28" in "1.28.x",
// "100" in "100ms".
func hasNumberWord(text, value string) bool {
	return hasWord(text, value) || hasWord(text, "v"+value) || hasWord(text, value+".x") || hasNumberWithUnit(text, value)
}

// hasNumberWithUnit says whether a text has a number with the letters of a unit right behind it.
func hasNumberWithUnit(text, value string) bool {
	if value == "" || strings.Trim(value, "0123456789.") != "" {
		return false
	}
	for from := 0; ; {
		at := strings.Index(text[from:], value)
		if at < 0 {
			return false
		}
		at += from
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		rest := text[at+len(value):]
		unit := len(rest) - len(strings.TrimLeftFunc(rest, unicode.IsLetter))
		after, _ := utf8.DecodeRuneInString(rest[unit:])
		if !isWordPart(before) && before != '.' && unit > 0 && unit <= maxUnit && !isWordPart(after) {
			return true
		}
		from = at + 1
	}
}
