package correction

import (
	"regexp"
	"slices"
)

// minCommand is how many words a quoted command has at least that is compared with others word by word.
const minCommand = 4

var commandWord = regexp.MustCompile(`[^\s` + "`" + `]+`)

// replaceInCommand changes the one word of a command in which the document has it otherwise than a
// statement quotes it: "helm repo add acme https://charts.acme.example".
func (d *document) replaceInCommand(made token) []Edit {
	words := commandWord.FindAllString(made.text, -1)
	if !made.quoted || len(words) < minCommand {
		return nil
	}
	var edits []Edit
	for i, line := range d.lines {
		if len(line) > maxLine {
			continue
		}
		places := commandWord.FindAllStringIndex(line, -1)
		for first := 0; first+len(words) <= len(places); first++ {
			at, ok := findOnlyDifference(line, places[first:first+len(words)], words)
			if !ok {
				continue
			}
			place := places[first+at]
			edits = append(edits, Edit{Line: i, Start: place[0], End: place[1], New: words[at]})
		}
	}
	for _, edit := range edits { // several words: it is not known which one is meant
		if d.textAt(edit) != d.textAt(edits[0]) || edit.New != edits[0].New {
			return nil
		}
	}
	if len(edits) > maxEdits {
		return nil
	}
	return edits
}

// findOnlyDifference gives the index of the one word in which two commands differ, which is not the
// program; false where they do not differ in one alone, or by words of another kind.
func findOnlyDifference(line string, places [][]int, words []string) (at int, ok bool) {
	at = -1
	for i, place := range places {
		if line[place[0]:place[1]] == words[i] {
			continue
		}
		if at >= 0 {
			return 0, false
		}
		at = i
	}
	if at <= 0 {
		return 0, false
	}
	old := line[places[at][0]:places[at][1]]
	both := []string{old, words[at]}
	return at, !slices.ContainsFunc(both, func(word string) bool { return !isExact(word) }) && isNumber(old) == isNumber(words[at]) && sameForm(old, words[at])
}
