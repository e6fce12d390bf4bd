package words

import "regexp"

// clauses are descriptions of a thing by something else about it: "the team that owns
// the checkout page".
var clauses = regexp.MustCompile(`(?i)\b(?:the|which|what|whose|a|an)\s+((?:[\w-]+\s+){0,2}?[\w-]+)\s+(?:that|which|who|where|whose|in which|on which)\s+([^?.!;]{6,})`)

// notThings are words before "that" which name nothing to be found: "the fact that".
var notThings = regexp.MustCompile(`(?i)^(?:fact|way|case|reason|so|is|are|was|be|means?|says?|one|ones|thing|things)$`)

// Hop is a question about something that it describes and does not name.
type Hop struct {
	Thing  string // "team"
	Clause string // "owns the checkout page"
	// Before and After are the rest of the question around the description.
	Before, After string
}

// Dependent says whether what a question asks about has to be found first.
func Dependent(text string) bool {
	_, found := FirstHop(text)
	return found
}

// FirstHop takes apart a question whose subject has to be found first.
func FirstHop(text string) (Hop, bool) {
	at := clauses.FindStringSubmatchIndex(text)
	if at == nil || notThings.MatchString(text[at[2]:at[3]]) {
		return Hop{}, false
	}
	return Hop{Thing: text[at[2]:at[3]], Clause: text[at[4]:at[5]], Before: text[:at[0]], After: text[at[1]:]}, true
}
