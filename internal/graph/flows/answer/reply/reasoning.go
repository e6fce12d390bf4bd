package reply

import "regexp"

var (
	reasoning     = regexp.MustCompile(`(?is)<(think|thinking|thought|reasoning|reflection|scratchpad)>.*?</(?:think|thinking|thought|reasoning|reflection|scratchpad)>\s*`)
	reasoningOpen = regexp.MustCompile(`(?is)^\s*<(?:think|thinking|thought|reasoning|reflection|scratchpad)>.*$`)
	reasoningEnd  = regexp.MustCompile(`(?is)^.*</(?:think|thinking|thought|reasoning)>\s*`)
)

// WithoutReasoning takes out what a model thought aloud in front of its reply, or in it. Of a
// text that never stops thinking nothing is left.
func WithoutReasoning(text string) string {
	text = reasoning.ReplaceAllString(text, "")
	text = reasoningOpen.ReplaceAllString(text, "")
	return reasoningEnd.ReplaceAllString(text, "")
}
