package correction

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/cairn-bot/cairn/internal/knowledge/sentence"
	"github.com/cairn-bot/cairn/internal/shorten"
)

// token is an exact word of a sentence: a number, a name, a command, a quoted text.
type token struct {
	text       string
	start, end int  // in the sentence, with its quotes
	plain      bool // an ordinary word, which counts only where the wording points at it
	quoted     bool
}

// statement is a sentence that may correct something.
type statement struct {
	text    string
	tokens  []token
	cued    bool // its words say that something is otherwise
	objects bool
}

var (
	parenthesis = regexp.MustCompile(`\([^)]*\)`)
	hedged      = regexp.MustCompile(`(?i)\b(?:maybe|perhaps|i think|i guess|i believe|i suppose|not sure|might|could|would|wonder\w*|should (?:we|i|this|it)|do i|if it were|probably|let'?s|vielleicht|glaube|könnte)\b`)
	// personal is what people tell of their own place, which says nothing of the documents.
	personal = regexp.MustCompile(`(?i)\b(?:(?:we|i)(?:'ve| have)? (?:use[ds]?|ran|run|running|set|have|had|named|created|pulled|installed|deleted|switched|prefer|registered|tried|got|bumped|picked|went|put)\b|(?:my|mine|ours)\b|for me\b|on (?:prod|production|staging|dev)\b|last (?:week|year|month)|yesterday)`)
	// ownDeed is what people did, which says of the documents no more, unless it is one of findings.
	ownDeed  = regexp.MustCompile(`(?i)\b(?:we|i)(?:'ve| have)? (?:just |also |now |then )?(\pL{2,}ed)\b`)
	ourOwn   = regexp.MustCompile(`(?i)\bour\b(?:\s+\w+)?\s+(\w+)`)
	cue      = regexp.MustCompile(`(?i)\b(?:not|isn'?t|aren'?t|hasn'?t|haven'?t|wasn'?t|instead|rather than|renamed|replaced|replaces|moved|now|nowadays|these days|any ?more|no longer|typo|misspell\w*|mistake|wrong|incorrect|outdated|old|obsolete|deprecated|gone|dropped|removed|archived|retired|dead|changed|rotated|lowered|raised|should (?:be|read)|has to be|have to be|must be|since|used to|actually|correct|doesn'?t|don'?t|does not|there(?:'s| is) no|defaults?|by default|nicht|sondern|statt|jetzt|inzwischen|falsch|veraltet|heißt)\b`)
	spans    = regexp.MustCompile("`[^`\n]+`|\"[^\"\n]+\"|“[^”\n]+”|„[^“\n]+“|(?:^|[\\s(])'[^'\n]+'")
	bareWord = regexp.MustCompile(`[^\s,;()"“”„` + "`" + `]+`)
)

// findings are what people did to learn what holds.
var findings = map[string]bool{"checked": true, "looked": true, "tested": true, "verified": true, "confirmed": true, "noticed": true, "asked": true, "compared": true, "learned": true}

// readStatements gives those sentences of a message that state something about what is documented.
func readStatements(message Message) []statement {
	var found []statement
	text := shorten.Head(strings.ToValidUTF8(message.Text, "\uFFFD"), maxMessage)
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		cuts := sentence.Split(line)
		texts := make([]string, 0, len(cuts)+1)
		for _, cut := range cuts {
			texts = append(texts, strings.TrimSpace(line[cut.Start:cut.End]))
		}
		if len(cuts) > 1 { // what is wrong may stand in one sentence, what is right in the next
			texts = append(texts, line)
		}
		for _, text := range texts {
			if said, ok := readStatement(text); ok && len(found) < maxSentences {
				said.objects = message.Objects
				found = append(found, said)
			}
		}
	}
	return found
}

func readStatement(text string) (statement, bool) {
	bare := parenthesis.ReplaceAllString(text, " ")
	if strings.HasSuffix(strings.TrimRight(text, " )"), "?") || hedged.MatchString(bare) || isPersonal(bare) {
		return statement{}, false
	}
	said := statement{text: text, cued: cue.MatchString(bare)}
	said.tokens = readTokens(text)
	return said, len(said.tokens) > 0
}

func isPersonal(text string) bool {
	if personal.MatchString(text) {
		return true
	}
	for _, done := range ownDeed.FindAllStringSubmatch(text, -1) {
		if !findings[strings.ToLower(done[1])] {
			return true
		}
	}
	own := ourOwn.FindStringSubmatch(text)
	return own != nil && !strings.HasPrefix(strings.ToLower(own[1]), "doc")
}

// readTokens gives the exact words of a sentence in their order.
func readTokens(text string) []token {
	var tokens []token
	masked := []byte(text)
	for _, at := range spans.FindAllStringIndex(text, -1) {
		start := at[0] + strings.IndexAny(text[at[0]:at[1]], "`\"“„'")
		inner := strings.Trim(text[start:at[1]], "`\"“”„'")
		if strings.TrimSpace(inner) != "" {
			tokens = append(tokens, token{text: inner, start: start, end: at[1], quoted: true})
		}
		for i := start; i < at[1]; i++ {
			masked[i] = ','
		}
	}
	for _, at := range bareWord.FindAllStringIndex(string(masked), -1) {
		word := strings.TrimRight(text[at[0]:at[1]], ".,:;!?'")
		if word == "" {
			continue
		}
		tokens = append(tokens, token{text: word, start: at[0], end: at[0] + len(word), plain: !isExact(word)})
	}
	sortTokens(tokens)
	return joinFlags(tokens)
}

func sortTokens(tokens []token) {
	for i := 1; i < len(tokens); i++ {
		for j := i; j > 0 && tokens[j].start < tokens[j-1].start; j-- {
			tokens[j], tokens[j-1] = tokens[j-1], tokens[j]
		}
	}
}

// joinFlags makes one token of flags side by side, and of a flag and the value behind it.
func joinFlags(tokens []token) []token {
	var joined []token
	for _, t := range tokens {
		last := len(joined) - 1
		if last >= 0 && strings.HasPrefix(joined[last].text, "--") && !joined[last].quoted && !t.plain && !t.quoted && t.start == joined[last].end+1 {
			joined[last].text += " " + t.text
			joined[last].end = t.end
			continue
		}
		joined = append(joined, t)
	}
	return joined
}

// isExact tells a word that is no ordinary one: with digits, with signs inside, in capitals.
func isExact(word string) bool {
	letters, upper, inner := 0, 0, false
	for i, r := range word {
		switch {
		case unicode.IsDigit(r):
			return true
		case unicode.IsLetter(r):
			letters++
			if unicode.IsUpper(r) {
				upper++
				inner = inner || i > 0
			}
		case strings.ContainsRune("_/.:<>#$@=*", r), r == '-' && (i == 0 || strings.HasPrefix(word, "-")):
			return letters > 0 || i == 0
		}
	}
	return letters >= 3 && (inner || upper == letters) || strings.Count(word, "-") > 0 && letters > 3 && !isHyphenated(word)
}

// prefixes begin everyday words that have a hyphen.
var prefixes = map[string]bool{
	"re": true, "e": true, "non": true, "pre": true, "post": true, "un": true, "multi": true, "self": true, "real": true, "built": true,
	"so": true, "up": true, "out": true, "long": true, "short": true, "well": true, "read": true, "one": true, "two": true, "half": true,
}

// isHyphenated tells a word such as "real-time" or "multi-step" from the name of a program.
func isHyphenated(word string) bool {
	first, _, _ := strings.Cut(strings.ToLower(word), "-")
	return prefixes[first]
}

// Numerals that people write as words.
var numerals = map[string]string{
	"one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9", "ten": "10",
	"eleven": "11", "twelve": "12", "zwei": "2", "drei": "3", "vier": "4", "fünf": "5", "sechs": "6", "sieben": "7", "acht": "8", "neun": "9", "zehn": "10",
}

var numberShape = regexp.MustCompile(`(?i)^[v~]?\d+(?:[.,]\d+)*(?:\.x)?\+?(?:%|[a-zµ]{1,3})?$`)

// isNumber tells a number, also with a unit or as a version, and one that is a word.
func isNumber(text string) bool {
	return numberShape.MatchString(strings.Trim(text, `"'`)) || numerals[strings.ToLower(text)] != ""
}

var (
	oldBefore = regexp.MustCompile(`(?i)(?:\bnot|\bno|instead of|rather than|\bthan|\bfrom|dropped|removed|replaces|without|nicht|statt|kein\w*|misspelled as|used to be|was)\s+(?:the |a |an |any |just |called |named )?[\pL ]{0,0}["'` + "`" + `“]?$`)
	oldAfter  = regexp.MustCompile(`(?i)^["'` + "`" + `”]?,?\s*(?:(?:command|flag|binary|label|field|image|header|config ?map|option|setting|channel|branch|path|method|one)\s+)?(?:(?:is|are|was|were|has been|got|has)\s+)?(?:(?:also|already|long|since)\s+)*(?:gone|replaced|renamed|removed|moved|deprecated|dead|archived|retired|a typo|misspell|wrong|outdated|obsolete|the old|dropped|no longer|not (?:there|supported|valid|used)|doesn'?t|does not|does nothing|do nothing|fails|should (?:be|read)|changed (?:to|into)|needs docker|too (?:short|long|small|large|low|high|old)|(?:is|are) now\b|(?:hasn'?t|haven'?t|isn'?t|aren'?t|wasn'?t|won'?t)\s+(?:be |been )?(?:enough|supported|maintained|updated|available|valid|there|true|right|correct)|heißt jetzt|gibt es nicht)`)
	contrast  = regexp.MustCompile(`(?i)(?:instead of|rather than|\bstatt|,\s*not|\b(?:and|but) not)\s+(?:the |a |an )?["'` + "`" + `“]?$`)
	newBefore = regexp.MustCompile(`(?i)(?:\bit'?s|\bit is|\bis|\bare|\bnow|\buse|\busing|\bcalled|\bbe|\bread|\bto|\bby|\bwith|\bwant|\bnamed|\blabell?ed|\bsays|\brun|\bbecomes?|\bunder|\bin|\btakes|\bhas|\bthen|\bsondern|\bheißt|\bist)\s+(?:the |a |an |now |jetzt )?(?:HTTP )?["'` + "`" + `“]?$`)
	newAfter  = regexp.MustCompile(`(?i)^["'` + "`" + `”]?\s*(?:\([^)]*\)\s*)?(?:now\b|these days|instead|(?:\pL+ )?by default|,?\s*not\b|in current|is the (?:new|right|correct)|replaces|works\b)`)
)

// role is what a sentence says of one of its words.
type role int

const (
	unclear role = iota
	isOld        // it holds no more, or never did
	isNew        // it holds
)

// isContrasted tells a token that is set against another one: "not X", "instead of X".
func (s statement) isContrasted(t token) bool {
	return contrast.MatchString(s.text[:t.start])
}

// readRole reads off the words around a token what is said of it.
func (s statement) readRole(t token) role {
	before, after := s.text[:t.start], s.text[t.end:]
	wasOld := oldBefore.MatchString(before) || oldAfter.MatchString(after)
	wasNew := newBefore.MatchString(before) || newAfter.MatchString(after)
	switch {
	case wasOld:
		return isOld
	case wasNew:
		return isNew
	}
	return unclear
}
