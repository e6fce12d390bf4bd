package quoting

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cairn-bot/cairn/internal/graph/flows/answer/logistic"
	"github.com/cairn-bot/cairn/internal/graph/flows/answer/words"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/lexical"
	"github.com/cairn-bot/cairn/internal/knowledge/sentence"
	"github.com/cairn-bot/cairn/internal/knowledge/support"
	"github.com/cairn-bot/cairn/internal/language"
)

// The features of a sentence, by name in the file of weights.
const (
	always          = logistic.Always
	coverage        = "coverage"         // of the question by the sentence
	coverageSquared = "coverage_squared" // more than half of a question tells much more than a little
	headingHolds    = "heading_holds"    // coverage of the question by the heading
	headingAsked    = "heading_asked"    // part of the heading that the question holds
	titleHolds      = "title_holds"
	passageHolds    = "passage_holds"
	related         = "related"   // coverage where words that ask for the same thing count in part
	beside          = "beside"    // best coverage of the sentences next to it
	newWords        = "new_words" // coverage that the heading lacks
	nearness        = "nearness"  // of the question's words to one another in it
	search          = "search"    // score of the passage against the best one's
	firstPassage    = "first_passage"
	laterPassage    = "later_passage" // 0 for the best passage, towards 1 down the list
	firstSentence   = "first_sentence"
	laterSentence   = "later_sentence"
	length          = "length"
	isItem          = "item"
	isRow           = "row"
	isCode          = "code"
	hasCode         = "has_code"
	hasNumber       = "has_number"
	asksItself      = "asks" // ends in a question mark
	leansBack       = "leans_back"
	announcing      = "announces"
	defines         = "defines" // says what the question's word is
	sameSection     = "same_section"
	partHeld        = "part_held"           // best coverage of one of a double question's parts
	headingExact    = "heading_exact"       // the heading names what is asked for, and nothing else
	exactFirst      = "heading_exact_first" // and this is what stands first below it
	titleExact      = "title_exact"

	relative        = "relative_coverage" // against the best sentence of all passages
	holdsRarest     = "holds_rarest"      // the question's rarest word
	numberWanted    = "number_wanted"     // has the number that was asked for
	nameWanted      = "name_wanted"       // has the flag, file or setting that was asked for
	relativePassage = "relative_passage"

	defining        = "defining" // how far the passage defines what the question asks the meaning of
	definingFirst   = "defining_first"
	definitionFirst = "definition_first"
	definitionSays  = "definition_defines"
	howToCode       = "how_to_code"
	howToItem       = "how_to_item"
	howToHasCode    = "how_to_has_code"
	lookupNumber    = "lookup_number"
	lookupHasCode   = "lookup_has_code"
	troubleRemedy   = "trouble_remedy"
	listItem        = "list_item"
	yesNoJudges     = "yes_no_judges"
)

var (
	wantsNumber = regexp.MustCompile(`(?i)\b(how (many|long|often|much|big|large|old|fast|soon|quickly|far|high|late|early)|what (port|version|size|time)|port|limits?|default|at most|max(imum)?|min(imum)?|timeouts?|interval|since when|when)\b`)
	wantsName   = regexp.MustCompile(`(?i)\b((which|what|whats|what's) (\w+ )?(flag|option|env|variable|var|vars|command|cmd|file|field|setting|key|annotation|label|parameter|param|path|folder|directory)|where|flags?|env|annotations?|settings?|command|path)\b`)
	digits      = regexp.MustCompile(`\d`)
	numberWords = regexp.MustCompile(`(?i)\b(two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|sixty|ninety|hundred|thousand|half|dozen|twice|unlimited)\b`)
	backward    = regexp.MustCompile(`(?i)^\W*(this|that|these|those|it|its|they|he|she|however|also|but|and|or|so|then|thus|therefore|for example|in this case|similarly|as (mentioned|noted|shown|described))\b`)
	pronoun     = regexp.MustCompile(`(?i)^\W*(?:(?:note|tip|hint|important|warning|caution)\W+)?(?:(?:for|to do) )?(this|that|these|those|it|its|they|he|she|in this case)\b`)
	connective  = regexp.MustCompile(`(?i)^\W*(then|instead|so|however|but|thus|hence|therefore|conversely|similarly|likewise|otherwise)\b`)
	example     = regexp.MustCompile(`(?i)^\W*(?:for (?:example|instance)|e\.g\.|example\b|zum beispiel|par exemple|por ejemplo)`) //nolint:misspell // French
	remedy      = regexp.MustCompile(`(?i)\b(to (fix|solve|resolve|avoid|work around)|fix|fixed|solution|workaround|instead|you (can|should|must|need)|make sure|ensure|required to|try|run|set|use|add|remove|upgrade|update|enable|disable|increase|install|delete|check)\b`)
	judgement   = regexp.MustCompile(`(?i)\b(not|no|cannot|can't|never|only|always|must|deprecated|removed|supported|supports|allowed|possible|safe|unsafe|recommended|no longer|does|will|may)\b`)
	yesNo       = regexp.MustCompile(`(?i)^\W*(is|are|was|were|do|does|did|can|could|will|would|should|has|have|may|must|am)\b`)
	isWhat      = regexp.MustCompile(`(?i)^\W*((?:[^\s,;:。、]+\s+){0,4}?[^\s,;:。、]+?)(?:\s*\([^)]*\))?(?:\s+(?:is|are|was|were|means?|refers? to|stands? for|describes?|allows?|lets?|provides?|represents?|ist|sind|bezeichnet|beschreibt|bedeutet|est|sont|désigne|es|son|é|são|è|sono|zijn)\s|とは|は、|是)`)
	noSubject   = regexp.MustCompile(`(?i)^\W*(we|you|i|they|it|this|that|these|those|there|here|if|when|while|because|since|once|as|for|in|on|with|by|to|note|each|many|some|all|most|how|what|which|where|one|see)\b`)
)

// context is what a sentence is compared with.
type context struct {
	passages []ranked
	covered  [][]float64 // by passage and sentence
	most     float64     // of covered
	held     []float64   // coverage by passage
	mostHeld float64
}

// readUnits takes a passage apart.
func readUnits(q Question, p Passage) []unit {
	var units []unit
	for _, s := range sentence.Split(p.Text) {
		if kindOf(s) == code && len(s.Text) > longCode {
			s.Text = excerpt(q.Profile, s.Text)
		}
		u := newUnit(p, s)
		if u.kind == prose {
			runsOn := len(units) > 0 && !strings.Contains(p.Text[units[len(units)-1].End:s.Start], "\n")
			u.isExample = example.MatchString(s.Text) || runsOn && units[len(units)-1].isExample
		}
		units = append(units, u)
	}
	return units
}

func newUnit(p Passage, s sentence.Sentence) unit {
	u := unit{Sentence: s, kind: kindOf(s), indent: indentAt(p.Text, s.Start), plain: knowledge.WithoutAddresses(s.Text)}
	u.length = utf8.RuneCountInString(u.plain)
	u.terms = lexical.AnalyzeIn(p.Language, u.plain)
	u.set = make(support.Set, len(u.terms))
	for _, term := range u.terms {
		u.set[term] = struct{}{}
	}
	if p.Language != language.English && p.Language != language.Unknown {
		u.terms = lexical.Analyze(u.plain) // without the stems of its language between them
	}
	return u
}

func newContext(q Question, passages []ranked, units [][]unit) context {
	c := context{passages: passages}
	for i := range units {
		covered := make([]float64, len(units[i]))
		for j, u := range units[i] {
			covered[j] = q.Profile.Coverage(u.set)
			c.most = max(c.most, covered[j])
		}
		c.covered = append(c.covered, covered)
		p := passages[i].Passage
		held := q.Profile.Coverage(support.Passage{Language: p.Language, Title: p.Title, Headings: p.Headings, Text: p.Text}.Analyze().All())
		c.held = append(c.held, held)
		c.mostHeld = max(c.mostHeld, held)
	}
	return c
}

// saysNumber tells how surely a text says a number: words such as "two" often only count what
// follows.
func saysNumber(text string) float64 {
	switch {
	case digits.MatchString(text):
		return 1
	case numberWords.MatchString(text):
		return numberWordShare
	}
	return 0
}

const numberWordShare = 0.5

func ratio(part, whole float64) float64 {
	if whole == 0 {
		return 0
	}
	return part / whole
}

func indentAt(text string, start int) int {
	return start - 1 - strings.LastIndexByte(text[:start], '\n')
}

// features are those of one sentence, by name; one that is missing is 0.
type features map[string]float64

// featuresOf gives the features of a passage's sentences.
func featuresOf(q Question, at int, c context, units []unit) []features {
	p := c.passages[at].Passage
	shared := sharedFeatures(q, at, c.passages)
	shared[defining] = c.passages[at].defines
	headings := support.OfIn(p.Language, p.Headings...)
	shared[passageHolds] = c.held[at]
	shared[relativePassage] = ratio(c.held[at], c.mostHeld)
	covered := c.covered[at]
	rarest := rarestTerm(q.Profile)
	asksNumber, name := wantsNumber.MatchString(q.Text), wantsName.MatchString(q.Text)
	yes := yesNo.MatchString(q.Text)
	all := make([]features, len(units))
	for i, u := range units {
		f := features{}
		for name, value := range shared {
			f[name] = value
		}
		f[coverage] = covered[i]
		f[relative] = ratio(covered[i], c.most)
		f[holdsRarest] = logistic.Number(rarest.Holds(u.set))
		f[related] = coverageByRelated(q.Profile, u.set)
		f[coverageSquared] = covered[i] * covered[i]
		f[beside] = neighbours(covered, i)
		f[newWords] = coverageBeyond(q.Profile, u.set, headings)
		f[nearness] = near(q.Profile, u.terms)
		f[firstSentence] = logistic.Number(i == 0)
		f[definingFirst] = logistic.Number(i == 0) * f[defining]
		f[exactFirst] = logistic.Number(i == 0) * f[headingExact]
		f[laterSentence] = 1 - 1/float64(i+1)
		f[length] = math.Log(float64(len(u.Text)+20)) - 4.5
		f[isItem] = logistic.Number(u.kind == item)
		f[isRow] = logistic.Number(u.kind == row)
		f[isCode] = logistic.Number(u.kind == code)
		quotesCode := u.kind != code && strings.Contains(u.Text, "`")
		number := saysNumber(u.Text)
		f[hasCode] = logistic.Number(quotesCode)
		f[hasNumber] = number
		f[numberWanted] = logistic.Number(asksNumber) * number
		f[nameWanted] = logistic.Number(name && (quotesCode || u.kind == code || strings.Contains(u.Text, "--")))
		f[asksItself] = logistic.Number(strings.HasSuffix(u.Text, "?"))
		f[leansBack] = logistic.Number(u.kind == prose && backward.MatchString(u.Text))
		f[announcing] = logistic.Number(announces(u.Text))
		says := definesTerm(q.Profile, p.Language, u)
		f[defines] = says
		f[partHeld] = bestPart(q, u.set)
		f.addByIntent(q.Intent, u, says)
		f[definitionFirst] = logistic.Number(i == 0 && (q.Intent == definition || q.Intent == summary))
		f[yesNoJudges] = logistic.Number(yes && judgement.MatchString(u.Text))
		all[i] = f
	}
	return all
}

// addByIntent adds the forms of sentence that a kind of question is answered by.
func (f features) addByIntent(intent string, u unit, says float64) {
	switch intent {
	case definition, summary:
		f[definitionSays] = says
	case "how-to":
		f[howToCode] = logistic.Number(u.kind == code)
		f[howToItem] = logistic.Number(u.kind == item)
		f[howToHasCode] = f[hasCode]
	case "lookup":
		f[lookupNumber] = f[hasNumber]
		f[lookupHasCode] = f[hasCode]
	case troubleshooting:
		f[troubleRemedy] = logistic.Number(remedy.MatchString(u.Text))
	case list:
		f[listItem] = logistic.Number(u.kind == item || u.kind == row)
	}
}

// sharedFeatures are those that all sentences of a passage have.
func sharedFeatures(q Question, at int, passages []ranked) features {
	p := passages[at]
	heading := support.OfIn(p.Language, p.heading())
	f := features{
		always: 1, headingHolds: q.Profile.Coverage(heading), headingAsked: q.Profile.AskedShare(heading),
		titleHolds:   q.Profile.Coverage(support.OfIn(p.Language, append([]string{p.Title}, p.Headings...)...)),
		firstPassage: logistic.Number(at == 0), laterPassage: 1 - 1/float64(at+1),
	}
	f[headingExact] = f[headingHolds] * f[headingAsked]
	title := support.OfIn(p.Language, p.Title)
	f[titleExact] = q.Profile.Exactness(title)
	if best := bestScore(passages); best > 0 {
		f[search] = p.Score / best
	}
	f[sameSection] = logistic.Number(at > 0 && p.Document == passages[0].Document)
	return f
}

func bestScore(passages []ranked) float64 {
	best := 0.0
	for _, p := range passages {
		best = max(best, p.Score)
	}
	return best
}

func neighbours(covered []float64, i int) float64 {
	around := 0.0
	if i > 0 {
		around = covered[i-1]
	}
	if i+1 < len(covered) {
		around = max(around, covered[i+1])
	}
	return around
}

// coverageBeyond is the coverage of the terms that the headings lack, of all terms.
func coverageBeyond(profile support.Profile, set, headings support.Set) float64 {
	held, sum := 0.0, 0.0
	for _, term := range profile.Terms {
		sum += term.IDF
		if term.Holds(set) && !term.Holds(headings) {
			held += term.IDF
		}
	}
	if sum == 0 {
		return 0
	}
	return held / sum
}

// window is how many terms apart two words of a question are near.
const window = 5

// near is the part of the question's neighbouring pairs of words that stand near one
// another in a sentence.
func near(profile support.Profile, terms []string) float64 {
	if len(profile.Terms) < 2 {
		return 0
	}
	places := make([][]int, len(profile.Terms))
	for at, term := range terms {
		for i, t := range profile.Terms {
			if t.Text == term || slices.Contains(t.Also, term) {
				places[i] = append(places[i], at)
			}
		}
	}
	pairs := 0
	for i := range len(places) - 1 {
		if within(places[i], places[i+1]) {
			pairs++
		}
	}
	return float64(pairs) / float64(len(places)-1)
}

func within(a, b []int) bool {
	for _, x := range a {
		for _, y := range b {
			if x-y <= window && y-x <= window {
				return true
			}
		}
	}
	return false
}

// entryTerm finds the term of an entry of a glossary: a row of a table, or an item of a list that
// says a term and, after a colon or a dash, what it is.
var entryTerm = map[kind]*regexp.Regexp{
	row:  regexp.MustCompile(`^\s*\|\s*([^|\n]{1,60}?)\s*\|\s*[^|\s]`),
	item: regexp.MustCompile(`^\s*(?:[-*+]|\d+[.)])\s+([^:\n]{1,60}?)(?::\s|\s[–—-]\s)`),
}

// definesTerm tells how far a sentence says what is asked for: it begins with the words of
// the question and no others, and goes on with "is" or the like, or is their entry in a glossary.
func definesTerm(profile support.Profile, tag language.Tag, u unit) float64 {
	if entry := entryTerm[u.kind]; entry != nil {
		if found := entry.FindStringSubmatch(u.plain); found != nil && profile.Exactness(support.OfIn(tag, found[1])) == 1 {
			return 1
		}
	}
	found := isWhat.FindStringSubmatch(u.plain)
	if u.kind == code || found == nil || noSubject.MatchString(u.plain) {
		return 0
	}
	if (tag == language.English || tag == language.Unknown) && comparing.MatchString(u.plain[len(found[0]):]) {
		return 0 // how it is beside another
	}
	subject := genericNoun.ReplaceAllString(found[1], "")
	if subject == "" || profile.Coverage(support.OfIn(tag, subject)) < 1 {
		subject = found[1]
	}
	return profile.Exactness(support.OfIn(tag, subject))
}

// comparing is how a sentence goes on that says of a thing how it differs, rather than what it is.
var comparing = regexp.MustCompile(`(?i)^\s*(?:not|now|also|still|only|already|(?:an? |the |very |quite )*(?:different|similar|same|better|worse|faster|slower|more|less))\b`)

// genericNoun is what a thing is, behind its name: "the introducer feature".
var genericNoun = regexp.MustCompile(`(?i)\s+(?:feature|option|setting|command|subcommand|flag|mode|function|field|parameter|argument|attribute|property|directive|service|tool|program|concept|term|keyword|file|folder|directory|page|element|type|object|method|event)s?$`)

// relatedShare is what a word counts that asks for the same thing as one of the question.
const relatedShare = 0.6

// coverageByRelated is the coverage of a question by a text in which another word may stand for
// one of the question: "enable" for "turn on".
func coverageByRelated(profile support.Profile, set support.Set) float64 {
	held, all := 0.0, 0.0
	for _, term := range profile.Terms {
		all += term.IDF
		switch {
		case term.Holds(set):
			held += term.IDF
		case slices.ContainsFunc(words.Related(term.Text), set.Has):
			held += relatedShare * term.IDF
		}
	}
	return ratio(held, all)
}

func bestPart(q Question, set support.Set) float64 {
	best := 0.0
	for _, part := range q.Parts {
		best = max(best, part.Coverage(set))
	}
	return best
}

func rarestTerm(profile support.Profile) support.Term {
	var rarest support.Term
	for _, term := range profile.Terms {
		if term.IDF > rarest.IDF {
			rarest = term
		}
	}
	return rarest
}
