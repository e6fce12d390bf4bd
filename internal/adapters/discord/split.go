package discord

import "strings"

// Discord's limits on a message, and what an answer uses of them.
const (
	maxContent = 2000
	// bodyBudget is for the answer itself; what is left is for remarks under it and for who
	// is asked.
	bodyBudget = 1600
	// maxMessages is how many messages an answer may be. A longer one is a file.
	maxMessages = 4
)

// write gives a piece as Discord reads it.
func (p piece) write() string {
	switch p.shape {
	case fence:
		return "```" + p.lang + "\n" + apart(tame(plain(p.runs))) + "\n```"
	case item:
		indent := strings.Repeat("  ", p.indent)
		text := strings.TrimRight(markdown(p.runs), "\n ")
		return indent + p.mark + " " + strings.ReplaceAll(text, "\n", "\n"+indent+"  ")
	case quote:
		return "> " + strings.ReplaceAll(strings.Trim(markdown(p.runs), "\n"), "\n", "\n> ")
	case paragraph:
	}
	return strings.Trim(markdown(p.runs), "\n ")
}

// gap is what stands between two pieces.
func gap(before, after piece) string {
	if before.shape == item && after.shape == item || before.shape == fence || after.shape == fence {
		return "\n"
	}
	return "\n\n"
}

// written gives pieces as the text of one message.
func written(pieces []piece) string {
	var out strings.Builder
	for i, p := range pieces {
		if i > 0 {
			out.WriteString(gap(pieces[i-1], p))
		}
		out.WriteString(p.write())
	}
	return out.String()
}

const gapCost = 2

// pack puts pieces into messages, in order. Only paragraphs are divided; whole is false
// where a piece fits into no message, or the messages became too many. It then gives those
// that come before.
func pack(pieces []piece) (messages [][]piece, whole bool) {
	var current []piece
	left := bodyBudget
	flush := func() {
		if len(current) > 0 {
			messages = append(messages, current)
		}
		current, left = nil, bodyBudget
	}
	for len(pieces) > 0 {
		next := pieces[0]
		cost := length(next.write()) + gapCost
		switch {
		case cost <= left:
			current, left, pieces = append(current, next), left-cost, pieces[1:]
		case next.shape == paragraph && (cost > bodyBudget || left > bodyBudget/2):
			first, rest := cutRuns(next.runs, left-gapCost)
			if cutOff := (piece{runs: first}); length(cutOff.write())+gapCost <= left || len(current) == 0 {
				current = append(current, cutOff)
			} else {
				rest = next.runs
			}
			pieces = pieces[1:]
			if len(rest) > 0 {
				pieces = append([]piece{{runs: joined(rest)}}, pieces...)
			}
			flush()
		case cost > bodyBudget:
			flush()
			return messages, false
		default:
			flush()
		}
		if len(messages) == maxMessages && (len(pieces) > 0 || len(current) > 0) {
			return messages, false
		}
	}
	flush()
	return messages, len(messages) <= maxMessages
}
