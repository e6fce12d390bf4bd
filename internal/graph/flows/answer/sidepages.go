package answer

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/cairn-bot/cairn/internal/knowledge/retrieve"
)

// sideKind is a kind of page that tells how things were, or may be one day, rather than
// how they are.
type sideKind struct {
	page  *regexp.Regexp // of a path or title
	asked *regexp.Regexp // of a question that such a page answers
}

var sideKinds = []sideKind{
	{
		regexp.MustCompile(`(?i)\b(?:release[-_ ]?notes?|releases|change[-_ ]?logs?|changes|history|news|whats[-_ ]?new|upgrad(?:e|ing)s?|migrat(?:e|ion|ing)|changes[-_ ]since)\b`),
		regexp.MustCompile(`(?i)\b(?:release[sd]?|changes|changed|change ?logs?|upgrad\w+|updat\w+|migrat\w+|new in|what'?s new|since|version|deprecat\w+|removed|break\w*|v?\d+\.\d+|v\d+|old|previous(?:ly)?|used to|anymore|still)\b`),
	},
	{
		regexp.MustCompile(`(?i)\b(?:proposals?|rfcs?|adrs?|enhancements?|keps?|hips?|design[-_ ]docs?)\b`),
		regexp.MustCompile(`(?i)\b(?:propos\w+|rfcs?|adrs?|enhancements?|keps?|hips?|design|decision|decided|why|plan\w*|future|roadmap)\b`),
	},
	{
		regexp.MustCompile(`(?i)\b(?:meetings?|minutes|standups?|retros?|retrospectives?|meeting[-_ ]notes)\b`),
		regexp.MustCompile(`(?i)\b(?:meeting|minutes|standup|retro\w*|discuss\w*|agreed|decided|said|who|when)\b`),
	},
	{
		regexp.MustCompile(`(?i)\b(?:contribut(?:e|ing|ors?|or[-_ ]guide)|developer[-_ ]guide|maintainers?|governance|code[-_ ]of[-_ ]conduct|owners|authors|bug[-_ ]triage)\b`),
		regexp.MustCompile(`(?i)\b(?:contribut\w+|develop\w*|maintain\w*|pull request|prs?|build|compile|governance|conduct|source code|who|bug|triage|test\w*)\b`),
	},
	{
		regexp.MustCompile(`(?i)\b(?:licen[cs]es?|copyright|legal|imprint|trademarks?|acknowledge?ments?)\b`),
		regexp.MustCompile(`(?i)\b(?:licen[cs]\w+|copyright\w*|legal\w*|imprint|trademark\w*|acknowledg\w+|commercial\w*|mit|bsd|apache|gpl|free|open[- ]source|law\w*|allowed)\b`),
	},
}

// words of paths are parted by what a regular expression takes for a letter.
var pathWords = strings.NewReplacer("_", " ", "-", " ", "/", " ", ".", " ")

// partial is the path of a file that site generators put into pages, and show nowhere by
// itself; "_index" is a page.
var partial = regexp.MustCompile(`(?:^|/)_[^/]+$`)

func isPartial(path string) bool {
	return partial.MatchString(path) && !strings.HasPrefix(path[strings.LastIndexByte(path, '/')+1:], "_index.")
}

// positionsAside gives the positions of the evidence from pages of a side kind that a question
// does not ask for.
func positionsAside(evidence []retrieve.Evidence, question string) map[int]bool {
	var kinds []*regexp.Regexp
	for _, kind := range sideKinds {
		if !kind.asked.MatchString(question) {
			kinds = append(kinds, kind.page)
		}
	}
	aside, known := make(map[int]bool), make(map[string]bool) // the latter by path and title
	for i := range evidence {
		document := &evidence[i].Document
		names := pathWords.Replace(document.Path) + " / " + document.Title
		place := document.Path + "\n" + document.Title
		isAside, ok := known[place]
		if !ok {
			isAside = isPartial(document.Path) || slices.ContainsFunc(kinds, func(kind *regexp.Regexp) bool { return kind.MatchString(names) })
			known[place] = isAside
		}
		if isAside {
			aside[i] = true
		}
	}
	return aside
}

var pathVersion = regexp.MustCompile(`(?i)(?:^|/)(?:version-|release-|v)?(\d+(?:\.(?:\d+|x))+|\d+)(?:\.x)?(?:/|$)`)

// versionOf gives the version that a page's path says it is about, and the path without it;
// nil for none.
func versionOf(path string) (version []int, rest string) {
	at := pathVersion.FindStringSubmatchIndex(path)
	if at == nil {
		return nil, path
	}
	for part := range strings.SplitSeq(path[at[2]:at[3]], ".") {
		number, err := strconv.Atoi(part)
		if err != nil {
			number = 0
		}
		version = append(version, number)
	}
	return version, path[:at[0]] + "/" + path[at[1]:]
}

// outdated gives the positions of the evidence from pages of which the evidence holds a
// newer version, but for those whose version the question names.
func outdated(evidence []retrieve.Evidence, question string) map[int]bool {
	newest := make(map[string][]int)
	for _, e := range evidence {
		if version, rest := versionOf(e.Document.Path); version != nil && slices.Compare(version, newest[rest]) > 0 {
			newest[rest] = version
		}
	}
	old := make(map[int]bool)
	for i, e := range evidence {
		version, rest := versionOf(e.Document.Path)
		if version != nil && slices.Compare(version, newest[rest]) < 0 && !strings.Contains(question, dotted(version)) {
			old[i] = true
		}
	}
	return old
}

// superseded gives the positions of the evidence from pages of which the evidence holds the
// same section in a newer version, each with the position of that. Pages whose version the
// question names are left out.
func superseded(evidence []retrieve.Evidence, question string) map[int]int {
	old := outdated(evidence, question)
	type section struct{ page, anchor string }
	newest := make(map[section]int)
	for i, e := range evidence {
		version, rest := versionOf(e.Document.Path)
		if version == nil || old[i] {
			continue
		}
		at := section{rest, e.Passage.Anchor}
		if _, known := newest[at]; !known {
			newest[at] = i
		}
	}
	replaced := make(map[int]int)
	for i := range old {
		_, rest := versionOf(evidence[i].Document.Path)
		if by, ok := newest[section{rest, evidence[i].Passage.Anchor}]; ok {
			replaced[i] = by
		}
	}
	return replaced
}

// differingVersions gives the versions, newest first, in which a cited section says
// something else than the newer one that is cited.
func differingVersions(evidence []retrieve.Evidence, question string, cited []citation) []string {
	isCited := make(map[int]bool)
	for _, c := range cited {
		isCited[c.Evidence] = true
	}
	var versions [][]int
	for old, by := range superseded(evidence, question) {
		said, says := evidence[old].Passage.Text, evidence[by].Passage.Text
		if version, _ := versionOf(evidence[old].Document.Path); isCited[by] && !contains(said, says) && !contains(says, said) {
			versions = append(versions, version)
		}
	}
	slices.SortFunc(versions, func(a, b []int) int { return slices.Compare(b, a) })
	var names []string
	for _, version := range slices.CompactFunc(versions, slices.Equal) {
		names = append(names, dotted(version))
	}
	return names
}

func dotted(version []int) string {
	parts := make([]string, len(version))
	for i, number := range version {
		parts[i] = strconv.Itoa(number)
	}
	return strings.Join(parts, ".")
}

// weighPages lowers the scores of pages that answer a question only where it asks for
// their kind, and of outdated versions, to a part of what they were, and puts the evidence
// in order again.
func weighPages(evidence []retrieve.Evidence, question string, part float64) []retrieve.Evidence {
	old, aside := outdated(evidence, question), positionsAside(evidence, question)
	weighed := slices.Clone(evidence)
	for i := range weighed {
		if old[i] || aside[i] {
			weighed[i].Score *= part
		}
	}
	slices.SortStableFunc(weighed, func(a, b retrieve.Evidence) int { return cmp.Compare(b.Score, a.Score) })
	return weighed
}
