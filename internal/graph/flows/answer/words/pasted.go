package words

import (
	"regexp"
	"slices"
	"strings"
)

var (
	// failing is what the lines of logs say that tell what went wrong.
	failing = regexp.MustCompile(`(?i)\b(?:error|err|fatal|panic|fail(?:ed|ure|s)?|unable|cannot|can't|could not|couldn't|denied|refused|forbidden|invalid|unauthorized|not found|does ?n[o']t|did not|no such|no matches|missing|unknown|exceeded|timed? ?out|warn(?:ing)?|deprecated|skipping|unexpected)\b`)
	// machineLine is a line that a program wrote: an assignment, a prompt, a time, a level, a list.
	machineLine = regexp.MustCompile("^\\s*(?:[$>#%]\\s|- |[\\w.\"'/-]+:(?:\\s|$)|[\\[{(]|\\d{2,4}[-:/]\\d{2}|(?:INFO|WARN(?:ING)?|ERROR|DEBUG|FATAL|E\\d{4})\\b|\\.\\.\\.|at |File \"|Traceback)")
	// lineHead is what stands in front of a log line's message: fences, times, levels, prompts.
	lineHead = regexp.MustCompile(`^(?:[\s\[\](){}|$>#%.=-]|\d{2,4}[-/]\d{2}[-/]\d{2}[T ]?|\d{2}:\d{2}(?::\d{2})?(?:[.,]\d+)?Z?|(?i:info|warn(?:ing)?|error|err|debug|fatal|panic|level=\w+|msg=)\b[:=]?\s*)+`)
)

const (
	// pastedLines is how many lines a message has at least that holds pasted text.
	pastedLines = 2
	// maxPasted is how many messages of a pasted text are searched for.
	maxPasted = 3
	// leastPasted is how many telling words such a message has.
	leastPasted = 3
)

var (
	// logHead is the time, and the level, that a line of a log begins with.
	logHead = regexp.MustCompile(`(?im)^[\s\[>$]*(?:\d{4}[-/]\d{2}[-/]\d{2}[T ]*)?\d{2}:\d{2}:\d{2}(?:[.,]\d+)?(?:Z|[+-]\d{2}:?\d{2})?[\s\]|:-]*(?:\[?(?:info|warn(?:ing)?|error|err|debug|fatal|panic)\]?[:\s]+)?`)
	// logLine is a whole line of a log, by its beginning: a time, a level, a frame of a stack.
	logLine = regexp.MustCompile(`(?m)^[\s\[>$]*(?:\d{4}[-/]\d{2}[-/]\d{2}\b|\d{2}:\d{2}:\d{2}\b|(?:INFO|WARN(?:ING)?|ERROR|DEBUG|FATAL)\b|Traceback\b|File ").*$`)
	fenced  = regexp.MustCompile("(?s)```.*?(?:```|$)")
)

// TrimLogHeads leaves out the times and levels that the lines of a log begin with.
func TrimLogHeads(text string) string { return logHead.ReplaceAllString(text, "") }

// withoutPasted leaves out what a program wrote: lines of logs, and blocks of code. Its "this" does
// not point at what people said.
func withoutPasted(text string) string {
	return logLine.ReplaceAllString(fenced.ReplaceAllString(text, " "), "")
}

// PastedMessages gives the messages of a log, or the lines of a configuration, that a person pasted,
// those that tell of a failure first; nil where nothing is pasted.
func PastedMessages(text string) []string {
	var lines []string
	machine := 0
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \t\r\n")
		if strings.TrimSpace(line) == "" {
			continue
		}
		if machineLine.MatchString(line) || strings.HasPrefix(line, "```") {
			machine++
		}
		lines = append(lines, line)
	}
	if len(lines) < pastedLines || machine == 0 {
		return nil
	}
	var failures, others []string
	for _, line := range lines {
		message := strings.Trim(lineHead.ReplaceAllString(line, ""), " `:")
		switch {
		case Telling(message) < leastPasted || slices.Contains(failures, message) || slices.Contains(others, message):
		case failing.MatchString(line):
			failures = append(failures, message)
		default:
			others = append(others, message)
		}
	}
	messages := slices.Concat(failures, others)
	return messages[:min(len(messages), maxPasted)]
}
