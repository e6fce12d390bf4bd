package extract

import (
	"regexp"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/document/evidence"
)

// riskFamily is a way to tell a risk without a condition: by something that nobody wants, or by what
// would keep it away and is missing.
type riskFamily struct {
	pattern *regexp.Regexp
	// needs are parts of words in small letters: each match has one of them. Looking for them first
	// spares most sentences the pattern, which is slow.
	needs []string
}

var riskFamilies = []riskFamily{
	{missingSafeguardPattern, []string{"no ", "without ", "nobody ", "no-one ", "nothing ", "never ", "not ", "n't ", "untested", "unencrypted", "unpatched", "unmonitored", "unmaintained", "unlimited", "grow", "neither "}},
	{singlePointPattern, []string{"hinge", "hang", "rest on", "rests on", "depend", "relies on", "rely on", "bus factor", "one person", "only ", "just ", "by one ", "to one ", "by a single ", "to a single ", "share", "a single ", "one single "}},
	{exposurePattern, []string{"plain", "clear", "encrypted", "world", "hard", "internet", "exposed", "reachable", "accessible", "visible", "open ", "readable", "shared", "the same", "reused", "guessable", "any", "every", "whoever", "account", "trainee", "intern", "guest", "contractor", "all "}},
	{reachedLimitPattern, []string{"full", "exhausted", "exceeded", "used up", "outgrown", "run", "fill up", "overflow", "expire", "lapse", "ends ", "end ", "end-", "out of ", "no longer ", "stop", "discontinued", "unsupported"}},
	{latenessPattern, []string{"risk", "slip", "late", "delayed", "missed", "postponed", "miss ", "overrun", "not ", "n't ", "blocked", "behind", "understaffed", "too few", "available"}},
	{damagePattern, []string{"silent", "lock ", "invalidate", "brick", "not ", "n't ", "race", "deadlock", "drift", "crafted", "forged", "spoofed", "wrong", "leav", "block", "charge", "be ", "is ", "become", "pose", "also ", "even ", "can ", "could ", "may ", "might ", "would ", "potentially ", "increase", "risks ", "double ", "the same"}},
}

const (
	safeguard = `(?:backup|fallback|failover|roll ?back|owner|successor|alert|alarm|monitoring|tests?|plan|quota|checks?|validation|encryption|authentication|authori[sz]ation|audit|replacement|redundancy|replica|spare|stand-?in|alternative|documentation|procedure|approval|review|insurance|protection|safeguard|rate limit|copy|undo|confirmation|warning|signature|budget)s?`
	neglected = `(?:tested|restored|rehearsed|verified|audited|reviewed|rotated|backed up|encrypted|monitored|patched|isolated|replicated|maintained|rate[- ]limited|merged upstream)`
	secret    = `(?:passwords?|passphrases?|secrets?|tokens?|keys?|credentials?)`
	// outsider is who should not be able to do all that a system can do.
	outsider = `(?:anyone|anybody|everyone|everybody|whoever|accounts?|any (?:user|client|pod|tenant|caller|visitor|process|service)|trainees?|interns?|guests?|contractors?)`
)

var (
	missingSafeguardPattern = regexp.MustCompile(`(?i)\b(?:(?:there (?:is|are)|there's|has|have|had|with|and|but) (?:currently |still |as yet )?no (?:\w+[ -])?` + safeguard + `\b|(?:there (?:is|are)|there's|has|have) no (?:second|other|spare|way (?:back|to (?:restore|recover|undo|roll|tell|know|detect|notice)))\b|` +
		`without (?:an? |any )?(?:second |prior |further |separate |explicit |its |their )?` + safeguard + `\b|(?:nobody|no one|no-one) (?:else )?(?:has|knows|owns|checks|notices|monitors|watches|reviews|remembers|understands|is (?:told|notified|responsible|in charge|alerted|paged|on call))\b|nothing (?:stops|prevents|limits|protects|checks|verifies|warns|alerts|notifies|detects|catches|tells)\b|` +
		`(?:never|not|n't) (?:\w+ )?(?:been )?` + neglected + `\b|un(?:tested|encrypted|patched|monitored|maintained)\b|(?:have|has|had) neither\b|unlimited and\b|grows? (?:without (?:bound|limit)|indefinitely|forever))`)

	singlePointPattern = regexp.MustCompile(`\b(?i:(?:hinges?|hangs?|rests?) on|depends? (?:entirely|solely|wholly|completely) on|(?:depends?|relies|rely) on (?:one|a single) \w+|bus factor|in one person's head|` +
		`(?:only|just) (?:one|two|a single) (?:\w+ )?(?:person|people|engineers?|developers?|employees?|colleagues?|admins?|members?|operators?|technicians?|of us)\b|` +
		`(?:kept|held|known|run|maintained|understood|operated|looked after) (?:by|to) (?:only |just )?(?:one|a single) \w+|(?:is|holds?|has|have|lives?) (?:on |in )?the only (?:copy|backup|key|documentation|person|one)|the only (?:copy|backup|documentation|person who|one who)\b|` +
		`(?:all|both|every|each|whole) [^.,;]{1,40} shares? (?:one|a single)|(?:a|one) single (?:sick|lost|failed|bad|wrong|broken|faulty|slow|misconfigured|corrupt)\b)|\bonly \p{Lu}\p{Ll}+ (?:knows|understands|can|has|remembers)\b`)

	exposurePattern = regexp.MustCompile(`(?i)\b(?:in (?:plain|clear)[ -]?text|unencrypted|world[- ](?:readable|writable)|hard-?coded ` + secret + `|from the (?:whole |entire |public )?internet|(?:exposed|reachable|accessible|visible|open|readable) (?:to|from|by|for) (?:the (?:public|world|(?:whole |entire |public )?internet)|anyone|anybody|everyone|everybody)|` +
		secret + `\b[^.,;]{0,40}\b(?:is|are) (?:\w+ )?(?:shared (?:by|among|between|across)|the same|reused|guessable)|` +
		outsider + `\b[^.,;]{0,50}\b(?:can|could|may) (?:\w+ )?(?:delete|overwrite|drop|impersonate|act as|bypass|reach|alter|escalate|read|see|change|modify|deploy|push|approve|point)\b[^.;]{0,60}\b(?:any|every|all|their own|its own|production|` + secret + `|names|personal|private)\b|` +
		`(?:accepts?|trusts?|admits?|runs?|executes?) [^.,;]{1,40} (?:from|by|of) (?:any|every|all|anyone|anybody|everyone|anywhere|everywhere) |(?:anyone|anybody|everyone|everybody|whoever) (?:with|who (?:knows|has|finds|guesses|gets)) (?:the|this|that|its|a) (?:link|address|url|token|key|password)\b)`)

	reachedLimitPattern = regexp.MustCompile(`(?i)\b(?:(?:will|would|is going to|about to|soon) (?:be (?:full|exhausted|exceeded|used up|outgrown)|run out|fill up|overflow|expire)|(?:licen[sc]e|contract|certificate|domain|support|warranty|agreement|subscription|lease)s?\b[^.,;]{0,40} (?:expires?|runs out|lapses?|ends) (?:on|in|at|by|next|this|before)|` +
		`end[ -]of[ -](?:life|support)\b|out of (?:support|warranty)|no longer (?:supported|maintained|patched|receives?|gets?)|stop(?:s|ped)? (?:shipping|supporting|maintaining|patching|receiving|getting|publishing) (?:\w+ )?(?:security |bug )?(?:patches|fixes|updates)|is discontinued|unsupported (?:version|release)s?|runs? out of (?:space|memory|disk|money|budget|time|connections|addresses|capacity))`)

	latenessPattern = regexp.MustCompile(`(?i)\b(?:at risk|(?:may|might|could|will|would|likely to) (?:\w+ )?(?:slip|be (?:late|delayed|missed|postponed)|miss (?:the|its|our)|overrun|not be (?:ready|staffed|done|finished|met|reached|delivered|enough))|(?:is|are|remains?) blocked (?:by|on|until)|behind schedule|(?:isn't|is not|aren't|are not) ready\b|understaffed|not enough (?:people|staff|time|money|capacity|volunteers|engineers)|too few (?:people|staff|engineers|volunteers)|no (?:one|body) is available)`)

	damagePattern = regexp.MustCompile(`(?i)\b(?:silently (?:drop|los|fail|ignor|overwrit|skip|delet|discard|chang|reset|truncat|disabl)\w*|invalidates? (?:every|all|the)|bricks?\b|(?:isn't|is not|aren't|are not) (?:idempotent|atomic)|race condition|(?:fight|fights|compete|competes|contend|collide|clash|race) (?:over|for|with) the same|deadlocks?|drift(?:s|ed)? apart|(?:crafted|forged|spoofed) \w+|` +
		`(?:a|one) wrong [^.,;]{1,50} (?:is|are|gets) (?:paid|sent|charged|applied|deployed|published|shipped)|leav(?:es|ing) [^.,;]{1,50} (?:without|unprotected|unreachable|inconsistent|stuck)|blocks? (?:writes|reads|traffic|the queue|other \w+|everything|everyone)|charg(?:es|ed) [^.,;]{0,40}(?:again|twice)|(?:may|might|could|can) be (?:\w+ )?(?:sent|charged|paid|processed|applied|counted|executed) (?:twice|again|more than once|to the same)|` +
		`(?:can|could|may|might|would) (?:\w+ )?(?:cause|disrupt|degrade|interfere|conflict with|hurt|harm|damage|slow down|starve|confuse|mislead|negatively affect|impact|flood)\b|(?:is|be|becomes?|poses?) an? (?:\w+ )?(?:risk|concern|problem|threat|burden|hazard)\b|will be broken|potentially \w+ing\b|increases? (?:the )?(?:\w+ )?(?:latency|overhead|load|cost)\b|(?:can|could|may|might|would|will) lock (?:\w+ ){1,4}out\b|risks (?:include|involve)|(?:also|even) (?:removes|deletes|erases|overwrites|wipes|drops)|double (?:the|its|our) (?:price|cost|fee)s?)`)
)

// openingConditionPattern begins a sentence whose consequence comes after a comma.
var openingConditionPattern = regexp.MustCompile(`(?i)^\W*(?:if|when|whenever|should|once|in case|until|unless|without|as long as|while|during|after|because|since)\b[^,]{3,160},\s*`)

// laterConditionPattern begins what follows the consequence.
var laterConditionPattern = regexp.MustCompile(`(?i),? \b(?:if|whenever|when|unless|as soon as|once)\b`)

// conditionalHarmPattern is what nobody wants to depend on something.
var conditionalHarmPattern = regexp.MustCompile(`(?i)(?:\b(?:is|are|be|gets?|been|being|remains?) (?:\w+ )?(?:lost|dropped|discarded|abandoned|stuck|blocked|corrupted|wiped|exposed|locked out|throttled|overwritten|orphaned|interrupted|delayed|compromised|leaked|unavailable|unreachable|unprotected|duplicated|down|late|charged twice|paid twice)\b|\b(?:nobody|no one) (?:is|can|will|knows|notices)\b|\btimes? out\b|\bthrottles?\b|` +
	`\b(?:stops?|halts?|stalls?|hangs?|crashes|freezes|collapses)\b|\bcloses the\b|\btwo \w+ (?:write|act|run|lead|claim|own|update)\b|\b(?:takes?|lasts?|for) (?:\w+ ){0,3}(?:hours|days|weeks|an hour|a day|a week)\b|\b(?:must|has to|have to) be (?:rebuilt|recreated|restored|redone|reinstalled)\b|\bby hand\b|\b(?:loses?|misses|lose|miss) (?:\w+ ){0,3}\w+|\bwe have no\b|\bcannot (?:\w+ )?(?:log in|sign in|recover|restore|deploy|work|pay|start)\b)`)

// isConsequence tells whether a sentence says what nobody wants to happen: under a condition, or
// because something is missing, shared by all, exposed, used up or late.
func isConsequence(s evidence.Sentence) bool {
	if isHarmfulCondition(s) || conditionalHarmPattern.MatchString(consequenceText(s.Text)) {
		return true
	}
	lower := strings.ToLower(s.Text)
	return slices.ContainsFunc(riskFamilies, func(family riskFamily) bool {
		return containsAny(lower, family.needs) && family.pattern.MatchString(s.Text)
	})
}

func containsAny(text string, parts []string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(text, part) })
}

// consequenceText returns the part of a sentence that depends on a condition, "" for none.
func consequenceText(text string) string {
	if opening := openingConditionPattern.FindStringIndex(text); opening != nil {
		return text[opening[1]:]
	}
	if later := laterConditionPattern.FindStringIndex(text); later != nil {
		return strings.TrimSpace(text[:later[0]])
	}
	return ""
}
