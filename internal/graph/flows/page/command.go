package page

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strconv"
	"strings"
)

// Verb is what is done with a page.
type Verb string

// The verbs, by the words that people write behind "page:".
const (
	Open       Verb = "open"
	Create     Verb = "new"
	List       Verb = "list"
	Show       Verb = "show"
	History    Verb = "history"
	Restore    Verb = "restore"
	Title      Verb = "title"
	AppendText Verb = "append"
	Replace    Verb = "replace"
	Close      Verb = "close"
	Undo       Verb = "undo"
	Snapshot   Verb = "snapshot"
	Delete     Verb = "delete"
	FromThread Verb = "thread"
	Draft      Verb = "draft"
	Correct    Verb = "correct"
	Keep       Verb = "keep"
	Help       Verb = "help"
	Merge      Verb = "merge" // of files; nobody types it
	Free       Verb = ""      // in free words: the language model edits
)

// verbs are all that take a word; each with what is behind it.
var verbs = []struct {
	verb Verb
	help string
}{
	{Create, "`page: new` and a title: a new page; what stands below the title is written on it"},
	{FromThread, "`page: thread` and a title: a page of what was said in this thread"},
	{Draft, "`page: draft` and a question: a new page with an outline from the passages that are nearest to it"},
	{Open, "`page: open` and an id or a title: works on that page here"},
	{List, "`page: list`: the pages that you may see here"},
	{Show, "`page: show`: the page; `page: show ids` with the id of each block"},
	{AppendText, "`page: append` and a text: adds it at the end"},
	{Replace, "`page: replace`, the id of a block and a text: has it in that place; without a text the block goes"},
	{Title, "`page: title` and a text: renames the page"},
	{History, "`page: history`: who changed what, and when"},
	{Restore, "`page: restore` and a number: has that version again"},
	{Snapshot, "`page: snapshot` and a name: keeps this version under that name"},
	{Keep, "`page: keep` and a title: makes a page of the last analysis, overview or report of this thread"},
	{Correct, "`page: correct` below an answer: proposes the changes of its sources that messages of this thread call for, or a text such as `it is 45s, not 30s`"},
	{Undo, "`page: undo`: takes the last change back, within a day"},
	{Close, "`page: close`: works on no page here"},
	{Delete, "`page: delete`: removes the page and its history"},
	{Help, "`page: help`: this"},
}

// Command is a request as it was understood.
type Command struct {
	Verb Verb
	Rest string // behind the verb
}

// fromThread is a wish in free words for a page of what was said.
var fromThread = regexp.MustCompile(`(?i)^\W*(?:(?:please|pls|can you|could you|kannst du|bitte)\W+)*(?:write|make|create|draft|start|turn|schreib\w*|mach\w*|erstell\w*)\b.{0,60}\b(?:this|the|diese\w*|dem) (?:thread|conversation|discussion|chat|unterhaltung|diskussion)\b`)

// ReadCommand reads what stands behind "page:".
func ReadCommand(text string) Command {
	text = strings.TrimSpace(text)
	word, rest := text, ""
	if end := strings.IndexAny(text, " \t\n\r\u00A0:"); end >= 0 {
		word, rest = text[:end], strings.TrimLeft(text[end:], ": \t\u00A0")
	}
	word = strings.ToLower(word)
	if text == "" {
		return Command{Help, ""}
	}
	for _, known := range verbs {
		if string(known.verb) == word && !isSentence(known.verb, rest) {
			return Command{known.verb, strings.TrimRight(rest, " \t\r\n")}
		}
	}
	if fromThread.MatchString(text) {
		return Command{FromThread, ""}
	}
	return Command{Free, text}
}

// isSentence tells that a verb begins a wish in free words, for more stands behind it than it
// takes: "delete the second paragraph".
func isSentence(verb Verb, rest string) bool {
	rest = strings.TrimSpace(rest)
	switch verb {
	case Delete, Close, List, History, Help:
		return rest != ""
	case Undo:
		return rest != "" && !runID.MatchString(rest)
	case Show:
		return rest != "" && !strings.EqualFold(rest, "ids")
	case Draft:
		return draftsText.MatchString(rest)
	case Replace:
		block, _, _ := strings.Cut(rest, " ")
		block, _, _ = strings.Cut(block, "\n")
		return rest != "" && !blockID.MatchString(strings.Trim(block, "`:"))
	}
	return false
}

// draftsText is what stands behind "draft" where text of the open page is meant, and no question.
var draftsText = regexp.MustCompile(`(?i)^(?:an?|another|this|my|me)\b`)

// runID is what the id of a run looks like, which buttons name.
var runID = regexp.MustCompile(`^run-[A-Za-z0-9]{1,64}$`)

// blockID is what an id of a block looks like that `page: show ids` tells, and no word does.
var blockID = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*[0-9][A-Za-z0-9_-]*$|^[nu][a-z0-9]{9,}$`)

// describeCommands lists the commands.
func describeCommands() string {
	lines := make([]string, len(verbs))
	for i, known := range verbs {
		lines[i] = "- " + known.help
	}
	return strings.Join(lines, "\n")
}

// splitTitle parts a text into its first line and what stands below.
func splitTitle(text string) (title, body string) {
	title, body, _ = strings.Cut(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(strings.TrimLeft(title, "# ")), strings.TrimSpace(body)
}

// readNumber reads the number of a version: "3", "v3", "#3".
func readNumber(text string) (int, bool) {
	number, err := strconv.Atoi(strings.TrimLeft(strings.TrimSpace(text), "vV#"))
	return number, err == nil && number > 0
}

// writeKey names the one write of a run, so that it is made once whatever dies.
func writeKey(run string) string {
	sum := sha256.Sum256([]byte(run))
	return hex.EncodeToString(sum[:8])
}
