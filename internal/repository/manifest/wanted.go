package manifest

import (
	"regexp"
	"strings"

	"github.com/cairn-bot/cairn/internal/shorten"
)

// Wanted is a dependency that is looked for: "go-redis", version "8".
type Wanted struct {
	Name    string
	Version string // its first numbers, "" for any
}

// wantedPattern is a question for what depends on something, over several repositories.
var wantedPattern = regexp.MustCompile(`(?i)\b(?:which|what|who|where|list|find|show)\b.*?\b(?:us(?:e|es|ing)|depend(?:s|ing)?\s+on|requir(?:e|es|ing)|import(?:s|ing)?|need(?:s|ing)?|pin(?:s|ned)?(?:\s+to)?|(?:is|are|run|runs|stuck)\s+(?:still\s+)?on)\s+` +
	"(?:the\\s+|an?\\s+)?[`\"']?(@?[a-z0-9][\\w./-]*[a-z0-9])[`\"']?" + `(?:@|\s+)?(?:version\s+|in\s+version\s+)?(?:v?(\d+(?:\.\d+)*)(?:\.x)?)?\s*[?.!]*$`)

// several is a subject that is more than one repository.
var several = regexp.MustCompile(`(?i)\b(?:services|repos|repositories|projects|modules|apps|applications|packages|components|of our|of ours|of us|teams|codebases)\b|^(?:who|what|which)\s+(?:all\s+)?(?:still\s+)?(?:uses|depends|requires|imports|needs)\b`)

// ParseWanted reads a question like "which of our services still use go-redis v8?".
func ParseWanted(question string) (Wanted, bool) {
	question = strings.Join(strings.Fields(question), " ")
	found := wantedPattern.FindStringSubmatch(question)
	if found == nil || !several.MatchString(question) {
		return Wanted{}, false
	}
	return Wanted{Name: shorten.Line(found[1], maxText), Version: found[2]}, true
}

var (
	// holdsCode is a subject that has manifests.
	holdsCode = regexp.MustCompile(`(?i)\b(?:(?:micro)?services|repos|repositories|projects|modules|apps|applications|packages|codebases)\b`)
	// packageName is what is a package's name, and hyphenedName what may be one.
	packageName  = regexp.MustCompile(`[/@_.:]`)
	hyphenedName = regexp.MustCompile(`\w-\w`)
	stillPattern = regexp.MustCompile(`(?i)\bstill\b`)
)

// IsAsked tells whether a question is plainly for what the manifests of several repositories say:
// it names a version, or what can only be a package. Other questions of that form, as "which apps
// use Slack?", may be for documents.
func IsAsked(question string) bool {
	wanted, ok := ParseWanted(question)
	if !ok || !holdsCode.MatchString(question) {
		return false
	}
	return wanted.Version != "" || packageName.MatchString(wanted.Name) || strings.Contains(question, "`") ||
		hyphenedName.MatchString(wanted.Name) && stillPattern.MatchString(question)
}

// majorPath is the part of a Go module's path that has its major version.
var majorPath = regexp.MustCompile(`^v(\d+)$`)

// Names tells whether a dependency is the wanted one, by its whole name or a part of it
// between slashes.
func (w Wanted) Names(d Dependency) bool {
	name, wanted := strings.ToLower(d.Name), strings.ToLower(w.Name)
	if name == wanted || strings.HasPrefix(name, wanted+"/") {
		return true
	}
	for part := range strings.FieldsFuncSeq(name, func(r rune) bool { return r == '/' || r == ':' }) {
		if part == wanted {
			return true
		}
	}
	return false
}

// Fit tells whether a dependency has the wanted version: that of the lock file, else what is
// required, else the major version of a Go module's path.
func (w Wanted) Fit(e Ecosystem, d Dependency, locked string) Fit {
	wanted, count := numbersOf(w.Version)
	if count == 0 {
		return Fits
	}
	asked := span{wanted, wanted.next(count - 1)}
	if locked != "" {
		return fitOf(asked, e.spansOf(locked))
	}
	if strings.ContainsAny(d.Version, "0123456789") {
		return fitOf(asked, e.spansOf(d.Version))
	}
	for part := range strings.SplitSeq(d.Name, "/") {
		if found := majorPath.FindStringSubmatch(part); found != nil {
			return fitOf(asked, e.spansOf(found[1]))
		}
	}
	return Allowed // any version may be taken
}

// fitOf compares what is asked for with what is allowed.
func fitOf(asked span, allowed []span) Fit {
	fit := Different
	all := len(allowed) > 0
	for _, one := range allowed {
		all = all && one.within(asked)
		if _, ok := one.intersect(asked); ok {
			fit = Allowed
		}
	}
	if all {
		return Fits
	}
	return fit
}
