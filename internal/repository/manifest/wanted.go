package manifest

import (
	"regexp"
	"strings"
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
	return Wanted{Name: truncateText(found[1]), Version: found[2]}, true
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

var numbers = regexp.MustCompile(`\d+(?:\.\d+)*`)

// Fits tells whether a version is the wanted one: that of the lock file, else the first
// numbers of what is required, else the major version of a Go module's path.
func (w Wanted) Fits(d Dependency, locked string) bool {
	if w.Version == "" {
		return true
	}
	for _, version := range []string{locked, d.Version} {
		if number := numbers.FindString(version); number != "" {
			return number == w.Version || strings.HasPrefix(number, w.Version+".")
		}
	}
	for part := range strings.SplitSeq(d.Name, "/") {
		if found := majorPath.FindStringSubmatch(part); found != nil {
			return found[1] == w.Version
		}
	}
	return false
}
