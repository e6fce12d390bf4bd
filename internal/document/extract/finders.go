package extract

import (
	"regexp"
	"strings"

	"github.com/cairn-bot/cairn/internal/document/evidence"
)

// finder tells sentences of one kind by their form and by the heading over them.
type finder struct {
	says    *regexp.Regexp // in the text
	under   *regexp.Regexp // in the heading: all that stands there is of the kind
	opening *regexp.Regexp // in the heading: the first sentence is of the kind
	also    func(evidence.Sentence) bool
	not     *regexp.Regexp // in the text: it is none of the kind
}

// findAmong returns the sentences of the kind. What announces a list says nothing without it.
func (f finder) findAmong(sentences []evidence.Sentence) []scoredSentence {
	var found []scoredSentence
	over, text := f.headingKind(""), ""
	for _, s := range sentences {
		if s.Heading != text {
			over, text = f.headingKind(s.Heading), s.Heading
		}
		if strength := f.sentenceStrength(s, over); strength > 0 && !strings.HasSuffix(s.Text, ":") {
			found = append(found, scoredSentence{s, strength})
		}
	}
	return found
}

// formStrength is what the form of a sentence counts, against 1 for its words or for the heading over
// it: a sentence about a consequence comes before one that only stands under "Risks".
const formStrength = 2

// sentenceStrength returns how surely a sentence is of the kind: 0 for no, 4 for what says so in its
// words, in its form and under a heading that does.
func (f finder) sentenceStrength(s evidence.Sentence, over heading) float64 {
	if f.not != nil && f.not.MatchString(s.Text) {
		return 0
	}
	strength := 0.0
	if f.says != nil && f.says.MatchString(s.Text) {
		strength++
	}
	if f.also != nil && f.also(s) {
		strength += formStrength
	}
	if over.under {
		strength++
	}
	if f.opening != nil && s.First && over.opening {
		strength++
	}
	return strength
}

// heading is what a heading tells of the sentences below it.
type heading struct{ under, opening bool }

func (f finder) headingKind(text string) heading {
	return heading{
		under:   f.under != nil && f.under.MatchString(text),
		opening: f.opening != nil && (text == "" || f.opening.MatchString(text)),
	}
}

const (
	month = `(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)`
	name  = `\p{Lu}\p{Ll}[\p{L}'’-]*(?: (?:\p{Lu}\.|[a-z]{2,3}|\p{Lu}\p{Ll}[\p{L}'’-]*)){0,2} \p{Lu}\p{Ll}[\p{L}'’-]*`
	job   = `(?:[Ff]inance|[Ll]ead|[Oo]wner|[Mm]anager|[Dd]irector|CTO|CEO|CFO|[Hh]ead|[Ee]ngineer\w*|[Pp]roduct|[Ll]egal|[Ss]ales|[Ss]upport|[Ss]ecurity|[Oo]ps|[Oo]n[- ]call|[Aa]uthor|[Mm]aintainer|PM|QA|HR|[Mm]arketing|[Dd]esign\w*|[Dd]eveloper|[Tt]eam|[Cc]ontractor|[Aa]dmin\w*)`
	// unit is of a quantity, in small letters.
	unit = `(?:%|percent|‰|gb|gib|mb|mib|kb|tb|ms|secs?|seconds?|mins?|minutes?|hours?|days?|weeks?|months?|years?|times|users?|requests?|replicas?|nodes?|cores?|cpus?|people|clusters?|services?|applications?|teams?|projects?|files?|pods?|shards?|connections?|messages?|orders?|events?|records?|rows?|eur|usd|gbp|chf|dollars|euros|million|thousand|billion)`
	// measure is of a quantity, beside those that unit has.
	measure = `(?:[tglm]|kg|mg|km|cm|mm|ml|kwh?|mw|[kmg]?hz|[kmg]bit(?:/s)?|[rqf]ps|°\s?[cf]|tonnes?|lit(?:er|re)s?|met(?:er|re)s?|pixels?|px)`
	spelled = `(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)`
	role    = `(?:[Oo]wner|[Aa]uthors?|[Cc]ontacts?|[Mm]aintainers?|[Ll]ead|[Mm]anager|[Rr]esponsible|[Aa]ssignee|[Rr]eviewer|[Oo]n[- ]call|[Ss]ponsor)`
	// by is what stands before who did something.
	by = `(?:[Oo]wned by|[Ww]ritten by|[Mm]aintained by|[Aa]ssigned to|[Aa]pproved by|[Rr]eviewed by|[Rr]eported by|[Dd]ecided by|[Ll]ed by|[Aa]sk)`
)

var (
	// consequencePattern is something that may happen and that nobody wants.
	consequencePattern = regexp.MustCompile(`(?i)\b(?:risk(?:s|y)? (?:of|that|is|are|to)|(?:a|the|main|biggest|greatest|high|low|security|operational|real|serious) risk\b|at risk|single point of failure|data loss|los(?:e|es|ing|s of) (?:\w+ ){0,3}(?:data|access|messages?|orders?|money|customers?|records?|work|events?|state)|outages?|downtime|` +
		`vulnerab\w+|breach(?:es)?|attackers?|malicious|no (?:backup|fallback|owner|test|failover|rollback|monitoring)s?\b|` +
		`can(?:not|'t) be (?:undone|restored|recovered|reverted|rolled back)|irreversibl\w+|` +
		`(?:can|could|may|might|will|would|to|otherwise|else|then|and|which|it|this|that)\s+(?:\w+ ){0,2}?(?:leads?|leading) to|(?:can|could|may|might|will|would|which|this|that)\s+(?:\w+ly )?(?:results?|end up|ends up) in|` +
		`(?:can|could|may|might|will|would)\s+(?:\w+ ){0,2}?(?:break|breaks|fail|crash|corrupt|leak|expose|overwhelm|exhaust|block|delay|stall|hang|overload|overwrite|destroy|disappear|be (?:lost|deleted|overwritten|exposed|compromised|blocked|rejected|unavailable|stolen|leaked|corrupted))\b|` +
		`(?:otherwise|or else)\b[^.]{0,80}\b(?:fails?|lost|breaks?|stops?|unavailable|reject(?:ed|s)?)|(?:stops?|blocks?|breaks?|deletes?|exposes?|leaks?) (?:all|every|the whole)\b|bottleneck|not recommended because|dangerous because|insecure because|causes? (?:\w+ ){0,3}(?:outage|failure|loss|errors?|delays?|downtime|problems?|issues?))`)
	// harmlessPattern says that there is no risk, asks for one, or deals with it.
	harmlessPattern = regexp.MustCompile(`(?i)\?\W*$|\b(?:no|without any?|not any|none of the) (?:\w+ ){0,2}risks?\b|\b(?:does|do|did|will|would|should) not (?:\w+ ){0,3}(?:break|fail|lead to|result in|cause|expose|risk|overwrite|delete|block|corrupt|leak|lose|crash|destroy)|\bno (?:\w+ ){0,2}(?:data loss|loss of|outages?|downtime)|^\W*what (?:are|is) the |\b(?:no|nothing|none)\b[^.,;]{0,40}\b(?:is|are|gets?|can be|will be) (?:ever )?(?:lost|dropped|overwritten|exposed|leaked|deleted|affected|interrupted)\b|\b(?:to|which|that|and|also|helps?|help) (?:prevent|avoid|protect against|guard against)s?\b|\bno immediate risk|^\W*mitigations?\b|\b(?:prevents?|avoids?|reduces?|eliminates?) (?:the |any )?(?:risk|data loss|outages?|downtime)`)
)

// decisionPattern is what somebody settled, or took over something else.
var decisionPattern = regexp.MustCompile(`(?i)\b(?:decided|opted|settled|agreed|resolved) (?:to|on|not to|against|that|in favou?r of|upon|for)\b|\b(?:we|they|who|\w*team|board|committee|council|maintainers|architects?) (?:have |has |had |then |finally )?(?:chose|picked|selected|adopted|rejected|ruled out|went with|dropped|agreed|decided|approved|voted|signed off)\b|` +
	`\b(?:was|were|been) (?:\w+ )?(?:decided|chosen|agreed|rejected|adopted|ruled out|approved|accepted)\b|\bis (?:decided|agreed)\b|\bthe decision (?:is|was|to|of|for|against|fell)\b|^\W*decisions?\W*:|` +
	`\b(?:chosen|chose|picked|preferred|selected|won) [^.]{0,60}\bover\b|\b(?:was|were|been|has|have|had|board|team|committee|council|management|group|guild|leads?|union|owners?|we|they) (?:\w+ )?(?:turned down|called off|abandoned|vetoed|postponed until|voted (?:for|against|to)|ruled that|gave up on|gave (?:it |this )?(?:the )?(?:go-ahead|green light)|signed (?:this |that |it )?off|standardi[sz]ed on|converged on|moved away from|preferred|deprecated [^.]{1,40} in favou?r of|backed out)\b|` +
	`\b(?:and|then) (?:standardi[sz]ed on|settled on|gave up on|signed off)\b|\bas (?:agreed|decided) (?:with|by|in|at|on)\b|\b(?:our|the|their) choice (?:fell on|was|is)\b|^\W*(?:decided|agreed|rejected|approved)\W*:|\b(?:plan|idea|proposal|request|motion)s? [^.]{0,60}\b(?:was|were|has been|have been) (?:dropped|abandoned|approved|accepted|rejected|turned down|withdrawn)\b|\bwe(?:'ll| will| have)? (?:keep|kept|stick|stuck|go|went|stay|stayed|build|building|are building|chose)\b[^.]{1,80}\b(?:instead of|rather than|not to)\b|\b(?:instead of|rather than) [^.,]{1,60}, we (?:now |will |are )?(?:use|build|building|keep|keeping|run|stay|write|adopt)\b|\bwe (?:chose|opted|decided|agreed)\b|\b(?:from now on|with immediate effect)\b|\b(?:team|board|committee|council|guild|group|meeting|we|they) (?:have |has |had )?decided (?:this|it|so)\b|\bby decision of\b|\bwe (?:will |shall )?no longer (?:accept|use|support|offer|run|build|allow)|\bwe (?:will |shall |are going to |now )?(?:use|keep|adopt|go with|stay with|build|store|write|run) [^.]{1,80}\b(?:instead of|rather than)\b`)

var (
	// conditionPattern is what a consequence depends on: a clause, or what somebody does.
	conditionPattern = regexp.MustCompile(`(?i)\b(?:if|when|unless|without|as long as|once|in case|during|after|whoever|anybody who|anyone who)\b|^\W*(?:\p{Lu}\p{L}+ing|\p{Lu}\p{L}+ing \p{L}+ing|too (?:many|few|much|little)|a (?:wrong|missing|lost|stolen|leaked|failed|broken|full|shared|single))\b`)
	// harmPattern is what nobody wants to happen.
	harmPattern = regexp.MustCompile(`(?i)\b(?:makes? it impossible|(?:is|are|becomes?|gets?) (?:lost|unreachable|unavailable|unusable|corrupted?|compromised|locked out|exposed|overloaded|stuck|stale|inconsistent|irrecoverable)|locks? (?:\w+ ){1,3}out|no (?:\w+ ){1,4}can (?:be )?\w+(?: any ?more| again)?|` +
		`nobody (?:can|notices|knows|is able|will)|anybody|anyone (?:can|may|could)|(?:goes|go|remains?) unnoticed|unnoticed|without anybody noticing|brings? (?:\w+ ){1,4}down|takes? (?:\w+ ){1,4}down|(?:halts?|crash(?:es)?|hangs?|collapses?)\b|(?:stops?|fails?) (?:until|for everybody|for all|silently)|(?:every|all) [^.,]{1,40}\b(?:stops?|fails?|breaks?)|` +
		`runs? out of|costs? (?:us|them|the (?:team|company)|customers)|(?:will|would|can|could|may|might) cost|wip(?:e|es|ed|ing)\b|delet(?:es|ed|ing) (?:\w+ ){0,3}(?:production|customer|live|all|everything)|bypass(?:es)?|steal(?:s|ing)?|leaks?|impersonat\w+|lose[s]? (?:\w+ ){0,3}\w+|floods?|exhausts?|overwhelms?|twice|duplicates? (?:of )?(?:orders?|payments?|charges?))`)
)

// isHarmfulCondition tells whether a sentence says on what something depends that nobody wants.
func isHarmfulCondition(s evidence.Sentence) bool {
	return conditionPattern.MatchString(s.Text) && harmPattern.MatchString(s.Text)
}

var finders = map[Kind]finder{
	Dates: {
		says: regexp.MustCompile(`(?i)\b(?:\d{4}-\d{2}-\d{2}|\d{1,2}\.\d{1,2}\.\d{4}|\d{1,2}(?:st|nd|rd|th)? (?:of )?` + month + `\b(?:,? \d{4})?|` + month + ` \d{1,2}(?:st|nd|rd|th)?(?:,? \d{4})?\b|` +
			month + ` \d{4}|q[1-4] (?:of )?\d{4}|\d{4}[- ]?q[1-4]|(?:deadline (?:is|was|for|of)|deadline[:*]+\s+\w+|due (?:date|on|by)|end of life|expires? on)\b)`),
	},
	People: {
		says: regexp.MustCompile(role + `\**(?: (?:of|for) [^.:]{1,50}?)?\**\s*(?:is|are|:|=|·|–|—|-)\**\s+` + name + `|` + by + `\**:?\**\s+` + name + `|` + name + ` \([^()]{0,20}\b` + job + `\b[^()]{0,20}\)|` + name + `, (?:the|our|an?) (?:[\w-]+ ){0,2}` + job + `\b|` + name + `,? (?:owns|leads|decided|approved|reviewed|agreed|joined|(?:is|was) (?:responsible for|in charge of|on call)|(?:looks|looked) after|runs the|takes over)\b|[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.[A-Za-z]{2,}\b`),
		not:  regexp.MustCompile(`\b(?:Controller|Server|Service|Operator|Generator|Manager|Engine|Agent|API|UI|CLI|Proxy|Gateway|Webhook|Workflows?|Rollouts?|Events?|Plugin|Provider|Store|Cluster|Team|Group)s?,? (?:owns|leads|is|was|looks|runs|takes)\b`),
	},
	Numbers: {
		says: regexp.MustCompile(`(?i)(?:[$€£]\s?\d|\d\s?[$€£]|\b(?:EUR|USD|GBP|CHF)\s?\d|(?:^|[^\w.])\d[\d,.]*(?:[smhk]\b|\s[smh](?:[\s.,;)]|$)|\s?` + unit + `(?:\W|$))|(?:^|[^\w.])\d[\d,.]*\s?` + measure + `(?:[^\w]|$)|\b\d[\d,.]* (?:per|out of) [\w]+|\b` + spelled + ` (?:\w+ )?` + unit + `\b|\b(?:a |half a |two |three |several )?(?:dozen|hundred|thousand|million)s? (?:of )?\p{L}{3,}|\b(?:an?|one|two|three|four) (?:thirds?|quarters?|fifths?|tenths?) of\b|\bhalf (?:of|an?|the)\b|\b` + spelled + ` (?:(?:out )?of|in) (?:` + spelled + `|every)\b|\bone in (?:\d+|` + spelled + `)\b|\b(?:up to|at least|at most|more than|fewer than|less than|over|nearly|almost|about|around|only) ` + spelled + ` \p{Ll}{3,}s\b)`),
		also: isCounted,
	},
	Risks: {
		says:  consequencePattern,
		also:  isConsequence,
		under: regexp.MustCompile(`(?i)\b(?:risks?|threats?|known issues|limitations|caveats|security considerations)\b`),
		not:   harmlessPattern,
	},
	Questions: {
		says:  regexp.MustCompile(`(?i)\b(?:TODO|TBD|TBC|FIXME|XXX|to be (?:decided|determined|defined|confirmed|clarified)|open (?:question|issue|point)|not (?:yet )?(?:decided|clear|known)|not yet (?:defined|specified)|unclear|undecided|(?:remains?|is still) open (?:whether|who|which|how|when|what)|(?:nobody|no one) has (?:yet )?decided|needs? (?:a )?(?:decision|clarification)|we don't know)\b`),
		under: regexp.MustCompile(`(?i)\b(?:open (?:questions?|issues?|points?)|unresolved|to ?do|next steps)\b`),
		also: func(s evidence.Sentence) bool {
			return s.Open || explicitQuestion.MatchString(s.Text) || questionPattern.MatchString(s.Text) && strings.Contains(s.Text, " ") && s.Heading != "" && !faqHeading.MatchString(s.Heading)
		},
	},
	Purpose: {
		says:    regexp.MustCompile(`(?i)\b(?:(?:is|are) (?:a|an|the|our) [^.]{0,60}(?:service|system|tool|platform|application|app|library|component|program|server|product|bot|engine|controller)|purpose (?:of|is)|(?:goal|aim|mission) (?:of|is)|is (?:used|meant|designed|responsible) (?:to|for)|exists to|lets (?:you|users|teams|people|customers)|allows (?:you|users|teams|people|customers)|helps)\b`),
		under:   regexp.MustCompile(`(?i)\b(?:purpose|goals?|what is|about|mission|motivation)\b`),
		opening: regexp.MustCompile(`(?i)\b(?:overview|introduction|summary|readme|abstract|background)\b`),
	},
	Parts: {
		says:  regexp.MustCompile(`(?i)\b(?:(?:is|are) responsible for|takes care of|consists of|is made (?:up )?of|comprises|is composed of|is in charge of|component|subsystem|microservice|(?:service|server|controller|worker|module|daemon|scheduler|gateway|database|cache|store|repository) (?:that|which|is|handles|stores|manages|runs|exposes|provides|validates|keeps|holds))\b`),
		under: regexp.MustCompile(`(?i)\b(?:components?|architecture|parts|modules?|services|building blocks|responsibilit\w+|structure)\b`),
	},
	Flows: {
		says:  regexp.MustCompile(`(?i)(?:\b(?:sends?|receives?|publish(?:es)?|subscribes?|consumes?|forwards?|pushes|pulls|polls|fetch(?:es)?|streams?|syncs? (?:\w+ ){0,3}(?:to|with|from)|imports?|exports?|replicat(?:es|ed)|reads? (?:\w+ ){0,3}from|writes? (?:\w+ ){0,3}(?:to|into)|calls? the|requests? (?:\w+ ){0,3}from|flows? (?:from|to|through)|passes? (?:\w+ ){0,3}to|stores? (?:\w+ ){0,3}in|queue[ds]?|returns? (?:\w+ ){0,4}to)\b|→|->|=>)`),
		under: regexp.MustCompile(`(?i)\b(?:data ?flow|flows?|sequence|pipeline|life ?cycle|how it works|processing)\b`),
	},
	Interfaces: {
		says:  regexp.MustCompile("(?i)(?:\\b(?:REST|gRPC|GraphQL|API|endpoints?|webhooks?|CLI|command[- ]line|SDK|HTTPS?|ports? \\d+|topics?|OpenAPI|protobuf|socket|environment variables?)\\b|\\b(?:GET|POST|PUT|PATCH|DELETE) /|`--[a-z])"),
		under: regexp.MustCompile(`(?i)\b(?:apis?|interfaces?|endpoints?|webhooks?|integrations?|commands?|cli)\b`),
	},
	Decisions: {
		says:  decisionPattern,
		under: regexp.MustCompile(`(?i)\b(?:decisions?|decision (?:records?|log|outcome)|adrs?)$|^\W*(?:decisions?|adrs?)\b`),
		not:   regexp.MustCompile(`(?i)\?\W*$|\b(?:not|nothing|never) (?:yet |been |was |is ){0,2}(?:decided|agreed|chosen)\b|\b(?:no|needs? a|pending|awaiting) decision\b|\bto be (?:decided|agreed)\b|^\W*(?:if|when|once|whether)\b|\bif you (?:have )?(?:decided|opted|chose)\b`),
	},
}

var (
	// explicitQuestion begins with a mark of what is open.
	explicitQuestion = regexp.MustCompile(`^\W*(?:TODO|TBD|TBC|FIXME|Open|Open question|To be decided)\b\W`)
	questionPattern  = regexp.MustCompile(`\?["”)*_]*$`)
	// faqHeading are headings under which a question is followed by its answer.
	faqHeading = regexp.MustCompile(`(?i)\bfaq\b|frequently asked|\?`)
)
