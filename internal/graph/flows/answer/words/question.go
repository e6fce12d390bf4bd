package words

import (
	"regexp"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/knowledge/lexical"
)

// WriteOut gives a question with its chat shorthand written out. Words inside back
// quotes or double quotes are left as they are.
func WriteOut(text string) string {
	fields := strings.Fields(text)
	quoted := false
	for i, field := range fields {
		opens := strings.Count(field, "`") + strings.Count(field, `"`)
		if !quoted && opens == 0 {
			fields[i] = writeOutWord(field)
		}
		if opens%2 == 1 {
			quoted = !quoted
		}
	}
	return strings.Join(fields, " ")
}

const punctuation = ".,;:!?()[]"

func writeOutWord(field string) string {
	if long, ok := Expand(field); ok {
		return long
	}
	word := strings.Trim(field, punctuation)
	long, ok := Expand(word)
	if !ok {
		return field
	}
	return strings.Replace(field, word, long, 1)
}

// intents are tried in order; the first that matches tells what a question wants.
var intents = []struct {
	name    string
	pattern *regexp.Regexp
}{
	{"comparison", regexp.MustCompile(`\b(vs\.?|versus|compared? (to|with)|difference between|differ from|which (one )?is (better|faster)|or\b.*\bwhich (one|is|should)|better than|instead of)\b`)},
	{"troubleshooting", regexp.MustCompile(`\b(error|errors|fails?|failed|failing|failure|stuck|hangs?|broken|crash\w*|not work\w*|doesn'?t|can'?t|cannot|won'?t|isn'?t|unable|denied|refused|invalid|timed? ?out|exceeded|missing|why (is|are|do|does|did|am))\b`)},
	{"list", regexp.MustCompile(`^(list|which|what) [\w\s-]*(types|kinds|options|are there|are available|ways|variables|commands|flags|fields|exist)\b|^(the )?[\w-]+s (i|we|you|one) can\b|\b(list of|all (the )?\w+s)\b`)},
	{"how-to", regexp.MustCompile(`\b(how (do|to|can|should|would|is)|how'?d|steps|set ?up|configure|enable|disable|turn (on|off)|command to|way to|can (i|we|you|it)|need to|want to)\b`)},
	{"definition", regexp.MustCompile(`^(what|who) (is|are)( an?| the)? [\w.-]+( [\w.-]+){0,4}\W*$|\b(meaning of|definition|define|stands? for|what does .* mean)\b|^\W*[\w-]{2,8}\W*$`)},
	{"summary", regexp.MustCompile(`\b(summar\w+|overview|explain|tell me about|describe|introduction)\b`)},
}

// definitions ask in other languages than English what something is.
var definitions = regexp.MustCompile(`^\W*(?:(?:was|wer) (?:ist|sind|bedeutet|heißt)(?: (?:eigentlich|denn|nochmal|überhaupt|genau))*|(?:qu['’]est[- ]ce qu(?:e |['’])|c['’]est quoi|que (?:veut dire|signifie))|(?:qu[eé]|q) (?:es|son|significa)|o que (?:é|são|significa)|(?:che )?cos(?:a |['’])(?:è|sono|significa)|wat (?:is|zijn|betekent))(?: (?:ein|eine|einen|der|die|das|une?|les?|la|el|los|las|una|uno|uma?|o|os|as|il|lo|een|het|de))?(?:\s+|['’])[\p{L}\p{N}.'’-]+(?: [\p{L}\p{N}.'’-]+){0,3}\W*$|^[^。？?]{1,24}(?:とは|って(?:何|なに)|(?:は|って)(?:何|なん)ですか|是什么(?:意思)?|是啥|什么意思)[^。]{0,6}$|^什么是[^。？?]{1,20}`)

// Intent gives what kind of answer a question wants: "definition", "how-to",
// "troubleshooting", "comparison", "list", "summary", or else "lookup".
func Intent(text string) string {
	lower := strings.ToLower(strings.TrimSpace(text))
	if definitions.MatchString(lower) {
		return "definition"
	}
	for _, intent := range intents {
		if intent.pattern.MatchString(lower) {
			return intent.name
		}
	}
	return "lookup"
}

var (
	referents = regexp.MustCompile(`(?i)\b(it|its|this|that|these|those|they|them|their|he|she|there)\b`)
	// expletive uses refer to nothing: "is it possible", "that is", "it says".
	expletives = regexp.MustCompile(`(?i)\b((is|was|makes?) it (possible|ok|safe|true)|it (is|was|'s) (possible|an?|the)|is there|are there|there (is|are)|(still|be) there|that (is|are|can|will|has|have|i|we|you|they|he|she|it|there|the|an?|my|our|your|their|its|all|every|each|no|some)|this (week|month|year|time|way))\b`)
	leadIns    = regexp.MustCompile(`(?i)^\W*(and|but|or|so|also|ok(ay)?|then|what if|what about|how about|same|why|else)\b`)
)

// LeansOn says whether a question leans on what was said before it, and gives the
// referent that only the thread can explain, such as "it"; the referent is empty
// where the question names what it refers to.
func LeansOn(text string) (referent string, leans bool) {
	rest := expletives.ReplaceAllString(withoutPasted(text), " ")
	at := referents.FindStringIndex(rest)
	if at == nil {
		return "", leadIns.MatchString(text)
	}
	if explained(rest[:at[0]]) {
		return "", leadIns.MatchString(text)
	}
	return strings.ToLower(rest[at[0]:at[1]]), true
}

// pointed is a thing that a message points at and describes, up to where the description ends.
var pointed = regexp.MustCompile(`(?i)\b(?:that|this|these|those)\s+((?:[\w-]+[\s/]+){1,3}?(?:thing|things|stuff|one|ones|feature|option|setting))\b`)

// DescribesReferent says whether a message describes what it points at: "that terminal thing".
func DescribesReferent(text string) bool {
	at := pointed.FindStringSubmatch(text)
	return at != nil && slices.ContainsFunc(lexical.Analyze(at[1]), namesThing)
}

// actions say what is to be done, not what it is done to.
var actions = func() map[string]bool {
	set := make(map[string]bool)
	for _, term := range lexical.Analyze(`add build change check configure create decrease delete deploy disable edit
		enable extend find fix ignore increase install keep list make manage modify raise reduce remove reset
		restart rotate run setup show solve start stop store test turn uninstall update upgrade use view`) {
		set[term] = true
	}
	return set
}()

// IsAction says whether an analysed term says what is to be done rather than to what.
func IsAction(term string) bool { return actions[term] }

var (
	live = regexp.MustCompile(`(?i)\b(today|tonight|tomorrow|yesterday|right now|at the moment|currently|(this|next|last) (week|month|quarter|night|morning|sprint)|` +
		`heute|gestern|morgen|gerade|derzeit|aktuell|(diese|nächste|letzte)[nrs]? (woche|monat|quartal)|aujourd'hui|demain|hier|en ce moment|actuellement|(cette|ce) (semaine|mois)|` +
		`hoy|mañana|ayer|ahora mismo|actualmente|est[ae] (semana|mes)|hoje|amanhã|ontem|agora|oggi|domani|ieri|adesso|vandaag|morgen|gisteren|nu|deze week)\b|今週|今日|明日|昨日|現在|今月|本周|这周|今天|明天|昨天|现在|目前` +
		`|(?i)^\W*(?:which|what|how many|welche\w*|was für|quel\w*|combien|qu[eé]|cuál\w*|cuánt\w*|qua[lin]\w*|welke|hoeveel)\s.*\b(?:do we (?:have|run|use)|are we on|haben wir|avons-nous|tenemos|temos|abbiamo|hebben we)\b.*\b(?:prod|production|produktion|producción|produção|produzione|productie|staging)\b`) //nolint:misspell // German and Dutch
	who   = regexp.MustCompile(`(?i)^\W*(?:who'?s\s|(?:who|whose|wer|wessen|qui|quién|quien|quem|chi|wie)\s(?:is|are|has|owns?|maintains?|manages?|runs?|handles?|wrote|made|do|can|ist|hat|est|a|es|está|tiene|é|tem|ha|heeft)\b)|誰|谁`)
	price = regexp.MustCompile(`(?i)\b(?:how much (?:does|do|is|are|would)|costs?|prices?|pricing|fees?|kostet|kosten|preis|coûte|prix|tarif|cuesta|precio|custa|preço|costa|prezzo|kost|prijs)\b|いくら|料金|価格|多少钱|价格`)
	own   = regexp.MustCompile(`(?i)\b(?:our|ours|we|us|prod|production|unser\w*|wir|notre|nos|nous|nuestr\w+|tenemos|nosotros|noss\w+|temos|nostr\w+|abbiamo|ons|onze|wij)\b|我们|私たち|当社`)
)

// Live says whether a question asks how things stand at this time, which documents
// seldom tell.
func Live(text string) bool { return live.MatchString(text) }

// AsksWho says whether a question asks for a person.
func AsksWho(text string) bool { return who.MatchString(text) }

// AsksPrice says whether a question asks what something costs.
func AsksPrice(text string) bool { return price.MatchString(text) }

// Own says whether a question speaks of the team's own things.
func Own(text string) bool { return own.MatchString(text) }

var (
	joints  = regexp.MustCompile(`(?i)(?:[.?!;]\s+|,?\s+(?:and|n|also|plus)\s+(?:how|what|which|where|when|why|who|can|do|does|is|are|whats|hows|wheres)\b)`)
	between = regexp.MustCompile(`(?i)\b(?:differences? between|distinguish|compare)\s+(\S.{1,60}?)\s+(?:and|with|to|from|vs\.?)\s+(\S.{1,60})$`)
	versus  = regexp.MustCompile(`(?i)^(.*?)\s+(?:vs\.?|versus|compared (?:to|with)|or)\s+(.*)$`)
)

// Parts gives the questions that a question consists of, where it asks for several
// things or compares two; nil where it is one.
func Parts(text string) []string {
	if sides := between.FindStringSubmatch(text); sides != nil {
		return nonEmpty(sides[1:])
	}
	if sides := versus.FindStringSubmatch(text); sides != nil && Intent(text) == "comparison" {
		return nonEmpty(sides[1:])
	}
	var found []string
	start := 0
	for _, at := range joints.FindAllStringIndex(text, -1) {
		found = append(found, text[start:at[0]])
		start = at[0] + 1
	}
	return nonEmpty(append(found, text[start:]))
}

// nonEmpty gives the parts that say something, or nil where fewer than two do.
func nonEmpty(parts []string) []string {
	var kept []string
	for _, part := range parts {
		if part = strings.Trim(part, " ,;.?!-:"); strings.ContainsRune(part, ' ') || len(part) > 4 {
			kept = append(kept, part)
		}
	}
	if len(kept) < 2 {
		return nil
	}
	return kept
}
