package extract

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/document/evidence"
	"github.com/cairn-bot/cairn/internal/knowledge/lexical"
)

// claim is a sentence as it is compared: what it is about, and the values that it states.
type claim struct {
	at     int
	words  map[string]bool     // what it is about, without values: what words for the same thing have in common
	main   map[string]bool     // those of its main clause, as they are
	plain  map[string]bool     // all of them, as they are
	over   map[string]bool     // those of the headings and the title over it
	values map[string][]string // by what they measure: a unit, "version", "port"
	// negative tells that it says no: it has an odd number of words that do, of polarities.
	negative   bool
	polarities int
	isDefault  bool
	// conditional is where what is said of yes and no depends on something.
	conditional bool
	identity    []string          // versions and the like that say which thing is meant
	things      []string          // names in code
	named       []string          // of them are said to be fields or flags, and so no values
	opening     []string          // the first words of the main clause
	state       string            // that the main clause says yes or no to: "enabled"; "" for none
	subject     string            // the thing that the sentence begins with, "" for none
	settings    map[string]string // numbers that are defaults, by the names of settings
	parameter   string            // that a list explains: "`timeout`: …"
	names       []string          // with capital letters inside: "PreDelete"
	purposeful  bool              // it begins with what it is for, or why
	denied      []string          // the words that a "not" stands before
	row         bool              // it is of a table
	referring   bool              // it begins with a thing that the sentence before names: "This token"
	order       order             // of what happens, where the sentence says
}

// about is what a sentence is about: its words, and those over it.
type about struct{ words, over map[string]bool }

var (
	// quantityPattern is a number with what it counts: "30 days", "3m", "50 %".
	quantityPattern = regexp.MustCompile(`(?i)(?:^|[^\w.$€£-])([$€£]?\d[\d,]*(?:\.\d+)?|one|two|three|four|five|six|seven|eight|nine|ten)[ -]?(%|‰|[a-zµ]+)?`)
	rangePattern    = regexp.MustCompile(`(?i)\d\s?(?:-|–|to|and|or|up to|\+)\s?\d`)
	versionPattern  = regexp.MustCompile("(?i)\\b(?:since|as of|starting (?:with|in|from)|starting|from|requires?|needs?|at least|minimum|introduced in|added in|available (?:since|in|from)|before|prior to|until)\\b[^.;,]{0,30}?[ `]v?(\\d+(?:\\.\\d+)+)|[ `]v?(\\d+(?:\\.\\d+)+)`?,? (?:or|and) (?:higher|later|newer|above|greater)")
	anyVersion      = regexp.MustCompile(`\bv?\d+(?:\.\d+)+\b`)
	portPattern     = regexp.MustCompile("(?i)\\bports?\\b[^.\\d]{0,20}?[\\s`(](\\d{2,5})\\b")
	defaultPattern  = regexp.MustCompile("(?i)\\bby default\\b|\\bdefaults? (?:to|is|are|value|location|of)\\b|\\(default|\\bdefault[:=]|\\bas (?:the |a )?default\\b|^the default [^.`]{1,60} is\\b|\\bdefault [`\"“]|\\b(?:if|when|where) (?:no|nothing|none)\\b (?:[\\w-]+ ){0,4}(?:is|are) (?:specified|set|given|provided|configured)\\b|\\b(?:if|when) (?:[\\w-]+ ){1,4}(?:is|are) (?:(?:not |un)(?:specified|set|given|provided|configured)|omitted)\\b")
	codePattern     = regexp.MustCompile("`([^`]+)`|“([^”]+)”|\"([^\"]+)\"")
	parameterItem   = regexp.MustCompile("^\\**`([^`]+)`\\**\\s*(?:\\([^)]*\\)|\\*\\([^)]*\\)\\*)?\\s*(?:[:–—·-]|\\*\\(|$)")
	conditionals    = regexp.MustCompile(`(?i)\b(?:if|when|unless|whether|until|while|once|in case|except)\b`)
	// purposePattern begins a sentence with what it is for, or why.
	purposePattern = regexp.MustCompile(`(?i)^\W*(?:to|in order to|because)\b[^,]{3,}, `)
	examplePattern = regexp.MustCompile(`(?i)^\W*(?:for example|e\.g\.|example|say|suppose)\b`)
	// pronounSubject begins a sentence about something that another one names, or a part of one without a subject.
	pronounSubject = regexp.MustCompile(`(?i)^\W*(?:this|that|these|those|it|they|he|she|we|you|both|which|can|cannot|must|may|should)\b`)
	// referringSubject begins a sentence about a thing that the one before names.
	referringSubject = regexp.MustCompile(`^\W*(?:This|That|These|Those) (\p{Ll}{3,})`)
	// locatingPattern is where something is put, in code.
	locatingPattern = regexp.MustCompile("(?i)\\b(mounted|stored|located|saved|kept|found|written|available|served|exposed|installed) (?:automatically )?(?:at|in|under|on|to|as|into) (?:the )?(?:(?:file|folder|directory|path|namespace) )?`([^`\\s]+)`")
	// timesPattern is how often something is done.
	timesPattern = regexp.MustCompile(`(?i)\b(?:only|at most|exactly|just|be \w+ed|runs?|called|executed|sent|nested) (once|twice)\b|\b(once|twice)(?: (?:per|an?|every|each)\b|[.,;)]|$)`)
	// namedSetting stands behind the name of one.
	namedSetting = regexp.MustCompile(`^\W{0,2}(?:fields?|flags?|settings?|options?|parameters?|annotations?|labels?|keys?|variables?|properties|property)\b`)
	mixedName    = regexp.MustCompile(`\b\p{Lu}\p{Ll}+\p{Lu}[\p{L}\d]*\b`)
	aside        = regexp.MustCompile(`\([^()]*\)`)
	// expletive begins a sentence whose subject stands behind it: "It is possible to …".
	expletive = regexp.MustCompile(`(?i)^\W*it is (?:also |now |still |not |no longer )*(?:im)?(?:possible|necessary|required|recommended|allowed|supported|forbidden)\b`)
	// ceases says that something is so no more, as a "not" does.
	ceases = regexp.MustCompile(`(?i)\bstop(?:s|ped)? working\b|\bno longer works?\b`)
	// settingPattern is a setting in code with the number that is its default: "`workers` (20 by
	// default)", "`workers` defaults to 20", "20 `workers`".
	settingPattern = regexp.MustCompile("(?i)`([^`\\s]+)`\\s*(?:(?:flag|option|setting|parameter)\\s*)?(?:\\((?:default(?:s to|:)?\\s*)?|(?:,? (?:which|that) )?(?:defaults? to|is)\\s+)`?(\\d+)`?(?:[\\s,;.)]|$)|(?:^|\\s)(\\d+) `([^`\\s]+)`")
)

var (
	// changeNote is a line of a list of changes, which are of their time.
	changeNote = regexp.MustCompile(`\(#\d+\)`)
	// overridden is a clause that makes what it stands behind a default: "unless you change it".
	overridden = regexp.MustCompile(`(?i),? \b(?:unless|until)\b [^,.;:]{0,50}?\b(?:chang|configur|set|specif|overrid|enabl|disabl|otherwise|turn|switch|choos|tell|told|say|defin|adjust)\w*[^,.;:]{0,20}`)
	switched   = regexp.MustCompile(`(?i)\b(?:switched|turned) (?:on|off)\b`)
	// deniedPattern is the word that a "not" stands before.
	deniedPattern = regexp.MustCompile(`(?i)(?:\b(?:not|never|cannot)|n't)(?: (?:be|been|being|have|to|yet|even|automatically|by default))* (\pL{3,})`)
	// attributive is a state that is no predicate: "the required header".
	attributive = regexp.MustCompile(`(?i)\b(the|a|an|any|all|no) (?:required|supported|enabled|disabled|allowed|optional) ([\pL\x60])`)
)

// lacksDenied tells whether a "not" of a claim stands before a word that the other claim has not: it denies
// something else.
func (c *claim) lacksDenied(other claim) bool {
	return slices.ContainsFunc(c.denied, func(term string) bool { return !other.main[term] })
}

// senseOf returns what words for the same thing have in common, or the term itself.
func senseOf(term string) string {
	if groups := lexical.Synonyms(term); len(groups) > 0 {
		return groups[0]
	}
	return term
}

// negativeWords say no.
var negativeWords = map[string]bool{
	"not": true, "never": true, "cannot": true, "disabled": true, "unsupported": true, "forbidden": true, "prohibited": true, "denied": true, "false": true,
	"unavailable": true, "disallowed": true, "mustn't": true, "can't": true, "don't": true, "doesn't": true, "isn't": true, "aren't": true, "won't": true,
	"wasn't": true, "didn't": true, "impossible": true, "optional": true, "off": true,
}

// opposites are words that say the same but for yes and no: they count as one word.
var opposites = map[string]string{
	"disabled": "enabled", "unsupported": "supported", "supports": "supported", "support": "supported", "forbidden": "allowed", "prohibited": "allowed", "denied": "allowed",
	"disallowed": "allowed", "permitted": "allowed", "false": "true", "optional": "required", "mandatory": "required", "unavailable": "available", "impossible": "possible",
	"cannot": "can", "off": "enabled",
}

// states are those that opposites are of.
var states = func() map[string]bool {
	all := make(map[string]bool)
	for _, base := range opposites {
		all[base] = true
	}
	return all
}()

// What a version measures, and the place where something is put.
const (
	versionMeasure  = "version"
	locationMeasure = "location"
)

var (
	headingVersion = regexp.MustCompile(`\d+\.\d+`)
	// reasonPattern begins what is said of the reason or the rest, and leadPattern is what
	// stands before the main clause.
	reasonPattern = regexp.MustCompile(`(?i)(?:,| -| –| —|;) (?:since|because|as|so|which|where|but|although|though|while|and (?:will|can|may|it|this|they)|due to|thanks to|this)\b.*$|(?i) because\b.*$`)
	leadPattern   = regexp.MustCompile(`^(?:For|In|As|To|With|By|At|On|Currently|However|Note|Also)\b[^,.]{0,120}, `)
	byDefault     = regexp.MustCompile(`(?i)\bby default\b|\bdefault\b`)
	linkTarget    = regexp.MustCompile(`\]\([^()\s]*\)`)
	addressText   = regexp.MustCompile(`https?://\S+`)
	// inPassing are words for yes and no that are no predicate.
	inPassing = regexp.MustCompile(`(?i)\boptional(?:ly)?\s*[,)]|\ban optional\b|\boptional (?:field|parameter|setting|argument|value|flag|list|string)|, (?:but |and )?not (?:the|a|an|in|on|for|by|with|from)\b|\bnot (?:the same|only|just|yet|necessarily)\b|\bor not\b`)
)

// mainClause leaves out of a sentence what is no part of its statement.
func mainClause(text string) string {
	text = reasonPattern.ReplaceAllString(addressText.ReplaceAllString(text, " "), "")
	if rest := leadPattern.ReplaceAllString(text, ""); len(strings.Fields(rest)) >= fewestWords+1 {
		return rest
	}
	return text
}

// statedWords are words of a value, not of what it is about.
var statedWords = map[string]bool{"default": true, "version": true, "port": true, "minimum": true, "maximum": true, "set": true, "value": true, "least": true, "most": true}

// readClaim reads what a sentence states; ok is false for what states nothing: a question, an
// example.
func (c *Corpus) readClaim(at int, s evidence.Sentence) (read claim, ok bool) {
	text := strings.ReplaceAll(linkTarget.ReplaceAllString(s.Text, "]"), "’", "'")
	if changeNote.MatchString(text) {
		return claim{}, false
	}
	text = switched.ReplaceAllStringFunc(overridden.ReplaceAllString(text, " by default"), func(found string) string {
		if strings.HasSuffix(strings.ToLower(found), "on") {
			return "enabled"
		}
		return "disabled"
	})
	referring := refersBack(text)
	if strings.HasSuffix(strings.TrimRight(text, " *_"), "?") || examplePattern.MatchString(text) || strings.HasSuffix(text, ":") || pronounSubject.MatchString(text) && !expletive.MatchString(text) && !referring {
		return claim{}, false
	}
	read = claim{at: at, words: make(map[string]bool), main: make(map[string]bool), plain: make(map[string]bool), values: make(map[string][]string), parameter: parameterOf(s), over: make(map[string]bool), isDefault: defaultPattern.MatchString(text), referring: referring}
	counted := read.readValues(text)
	if read.isDefault {
		read.readSettings(text)
	}
	main := attributive.ReplaceAllString(aside.ReplaceAllString(mainClause(text), " "), "$1 $2")
	read.purposeful = purposePattern.MatchString(text)
	read.readPolarity(main)
	for _, found := range deniedPattern.FindAllStringSubmatch(main, -1) {
		read.denied = append(read.denied, evidence.Telling(cmp.Or(opposites[strings.ToLower(found[1])], found[1]))...)
	}
	read.order = readOrder(text)
	for _, found := range codePattern.FindAllStringSubmatch(text, -1) {
		thing := strings.ToLower(found[1] + found[2] + found[3])
		if anyVersion.MatchString(thing) || slices.Contains(read.things, thing) || read.isLocation(thing) {
			continue
		}
		read.things = append(read.things, thing)
		before, after, _ := strings.Cut(text, found[0])
		if len(evidence.Telling(byDefault.ReplaceAllString(defaultPattern.ReplaceAllString(before, " "), " "))) == 0 {
			read.subject = thing
		}
		if namedSetting.MatchString(after) {
			read.named = append(read.named, thing)
		}
	}
	slices.Sort(read.things)
	read.names = mixedName.FindAllString(codePattern.ReplaceAllString(text, " "), -1)
	opening := evidence.Telling(byDefault.ReplaceAllString(main, " "))
	read.opening = opening[:min(len(opening), 2)]
	read.addWords(read.words, locatingPattern.ReplaceAllString(text, "$1 "), counted, senseOf)
	read.addWords(read.main, locatingPattern.ReplaceAllString(main, "$1 "), counted, strings.ToLower)
	read.addWords(read.plain, locatingPattern.ReplaceAllString(text, "$1 "), counted, strings.ToLower)
	read.addWords(read.over, s.Heading+" "+c.set.Documents[s.Place.Document].Title, counted, senseOf)
	return read, true
}

// looseWords change little of what a sentence says.
var looseWords = wordSet("automatically itself themselves note currently simply normally usually always also only relevant respective immediately then thus therefore existing given all own enough sufficient suffices")

// addWords adds what a text is about to words, by the names of its terms.
func (*claim) addWords(words map[string]bool, text string, counted map[string]bool, name func(string) string) {
	for _, word := range lexical.Words(text) {
		lower := strings.ToLower(word.Text)
		if base, ok := opposites[lower]; ok {
			lower = base
		}
		if negativeWords[lower] || counted[lower] || looseWords[lower] {
			continue
		}
		for _, term := range evidence.Telling(lower) {
			if !statedWords[term] && !counted[term] && strings.IndexFunc(term, isDigit) < 0 {
				words[name(term)] = true
			}
		}
	}
}

// parameterOf returns the parameter that an entry of a list or a table explains, "" for none.
func parameterOf(s evidence.Sentence) string {
	if found := parameterItem.FindStringSubmatch(s.Text); found != nil {
		return strings.ToLower(found[1])
	}
	return ""
}

// readValues notes the values of a sentence, and returns their words. Several of one measure
// are none to compare.
func (c *claim) readValues(text string) (counted map[string]bool) {
	counted = make(map[string]bool)
	for _, found := range versionPattern.FindAllStringSubmatch(aside.ReplaceAllString(text, " "), -1) {
		c.values[versionMeasure] = append(c.values[versionMeasure], found[1]+found[2])
		counted[found[1]+found[2]] = true
	}
	for _, version := range anyVersion.FindAllString(text, -1) {
		if number := strings.TrimPrefix(version, "v"); !counted[number] && !strings.Contains(text, "%") {
			c.identity = append(c.identity, number)
		}
	}
	slices.Sort(c.identity)
	for _, found := range portPattern.FindAllStringSubmatch(text, -1) {
		c.values["port"] = append(c.values["port"], found[1])
		counted[found[1]] = true
	}
	for _, found := range timesPattern.FindAllStringSubmatch(text, -1) {
		times := strings.ToLower(found[1] + found[2])
		c.values["times"] = append(c.values["times"], times)
		counted[times] = true
	}
	for _, found := range locatingPattern.FindAllStringSubmatch(text, -1) {
		if c.isDefault {
			break
		}
		c.values[locationMeasure] = append(c.values[locationMeasure], strings.ToLower(found[2]))
	}
	if rangePattern.MatchString(text) {
		return counted
	}
	for _, found := range quantityPattern.FindAllStringSubmatch(text, -1) {
		if measure, value := measured(found[1], found[2]); measure != "" {
			c.values[measure] = append(c.values[measure], value)
			counted[strings.ToLower(found[1]+found[2])], counted[strings.ToLower(found[1])] = true, true
			if !strings.HasPrefix(measure, countOf) {
				counted[strings.ToLower(found[2])] = true
			}
		}
	}
	c.readCounts(text)
	return counted
}

// isLocation tells whether a thing in code is where something is put.
func (c *claim) isLocation(thing string) bool {
	return slices.Contains(c.values[locationMeasure], thing)
}

// genericThings are what many sentences call different things.
var genericThings = wordSet(`command example field option section value setting page guide feature flag method document
	means makes allows lets will can may must should has have does would could also only applies includes gives happens works
	helps was were are ensures includes requires way case approach file list table behaviour behavior change mode type
	parameter function configuration process step note annotation resource property attribute key tool version release
	might enables prevents causes leads results returns provides generator template sync policy information number time`)

func wordSet(list string) map[string]bool {
	set := make(map[string]bool)
	for _, word := range strings.Fields(list) {
		set[word] = true
	}
	return set
}

// refersBack tells whether a sentence is about a thing of its own name that the one before names.
func refersBack(text string) bool {
	found := referringSubject.FindStringSubmatch(text)
	return found != nil && !genericThings[found[1]]
}

// statesOpposite tells whether two claims name the same thing in code, and the same state of
// it.
func (c *claim) statesOpposite(other claim) bool {
	return c.state != "" && c.state == other.state && slices.ContainsFunc(c.things, func(thing string) bool { return slices.Contains(other.things, thing) })
}

// readPolarity counts the words that say yes or no.
func (c *claim) readPolarity(text string) {
	text = ceases.ReplaceAllString(text, "not work")
	text = inPassing.ReplaceAllString(aside.ReplaceAllString(strings.ReplaceAll(strings.ToLower(text), "’", "'"), " "), " ")
	for _, word := range lexical.Words(text) {
		if negativeWords[word.Text] {
			c.polarities++
		}
		base := cmp.Or(opposites[word.Text], word.Text)
		if states[base] {
			c.state = base
		}
	}
	c.negative = c.polarities%2 == 1
	c.conditional = conditionals.MatchString(text)
}

// valuesDiffer tells whether two claims have another value of the same measure.
func (c *claim) valuesDiffer(other claim) bool {
	for measure, values := range c.values {
		theirs := other.values[measure]
		if len(values) == 1 && len(theirs) == 1 && values[0] != theirs[0] && !isMorePrecise(measure, values[0], theirs[0]) {
			return true
		}
	}
	return false
}

// isMorePrecise tells whether one version is the other one with more of its numbers.
func isMorePrecise(measure, a, b string) bool {
	return measure == versionMeasure && (strings.HasPrefix(a, b+".") || strings.HasPrefix(b, a+"."))
}

// defaultsDiffer tells whether two claims state another default: each has one name in code or
// quotes that the other has not, and that is not what the claim is about.
func (c *claim) defaultsDiffer(other claim) bool {
	if !c.isDefault || !other.isDefault {
		return false
	}
	mine, theirs := c.unnamedBy(other), other.unnamedBy(*c)
	return len(mine) == 1 && len(theirs) == 1 && !strings.Contains(mine[0]+theirs[0], ": ") && mine[0] != c.subject && theirs[0] != other.subject &&
		!slices.Contains(c.named, mine[0]) && !slices.Contains(other.named, theirs[0])
}

// wordsWithout gives the words of a claim but for those of things.
func (c *claim) wordsWithout(things []string) map[string]bool {
	words := maps.Clone(c.words)
	for _, thing := range things {
		for _, term := range evidence.Telling(thing) {
			delete(words, senseOf(term))
		}
	}
	return words
}

// substitutes tells whether the main clauses of two claims are the same but for one word each,
// which is not what they are about.
func (c *claim) substitutes(other claim) bool {
	if !c.isDefault || !other.isDefault {
		return false
	}
	mine, theirs := onlyIn(c.main, other.plain), onlyIn(other.main, c.plain)
	return len(mine) == 1 && len(theirs) == 1 && len(c.main) > fewestSubstituted && len(other.main) > fewestSubstituted &&
		!slices.Contains(c.opening, mine[0]) && !slices.Contains(other.opening, theirs[0]) && len(c.unnamedBy(other))+len(other.unnamedBy(*c)) == 0
}

// fewestSubstituted is how many words a main clause has beside the one that differs.
const fewestSubstituted = 3

func onlyIn(words, others map[string]bool) []string {
	var only []string
	for word := range words {
		if !others[word] {
			only = append(only, word)
		}
	}
	return only
}

// unnamedBy returns the things in code that another claim names neither so nor in plain words.
func (c *claim) unnamedBy(other claim) []string {
	var missing []string
	for _, thing := range c.things {
		if slices.Contains(other.things, thing) {
			continue
		}
		terms := evidence.Telling(thing)
		if len(terms) == 0 || strings.ContainsAny(thing, "/~") || slices.ContainsFunc(terms, func(term string) bool { return !other.words[senseOf(term)] }) {
			missing = append(missing, thing)
		}
	}
	return missing
}
