package render

import "unicode/utf8"

// Packer puts pieces into messages. Its costs are at least 0, and those of runs don't
// fall when text is added.
type Packer struct {
	Budget   int             // of a message, in what the costs count
	Messages int             // at most
	Cost     func(Piece) int // of a piece in a message, with what sets it apart from the next
	RunCost  func(Run) int   // of a run in a piece
}

// Pack puts pieces into messages, in order. Only paragraphs are divided; whole is false
// where a piece fits into no message, or the messages became too many. It then gives those
// that come before.
func (p Packer) Pack(pieces []Piece) (messages [][]Piece, whole bool) {
	var current []Piece
	left := p.Budget
	flush := func() {
		if len(current) > 0 {
			messages = append(messages, current)
		}
		current, left = nil, p.Budget
	}
	for len(pieces) > 0 {
		next := pieces[0]
		cost := p.Cost(next)
		switch {
		case cost <= left:
			current, left, pieces = append(current, next), left-cost, pieces[1:]
		case next.Shape == Paragraph && (cost > p.Budget || left > p.Budget/2):
			first, rest := p.splitRuns(next.Runs, left-p.Cost(Piece{}))
			if head := (Piece{Runs: first}); p.Cost(head) <= left || len(current) == 0 {
				current = append(current, head)
			} else {
				rest = next.Runs
			}
			pieces = pieces[1:]
			if len(rest) > 0 {
				pieces = append([]Piece{{Runs: Join(rest)}}, pieces...)
			}
			flush()
		case cost > p.Budget:
			flush()
			return messages, false
		default:
			flush()
		}
		if len(messages) == p.Messages && (len(pieces) > 0 || len(current) > 0) {
			return messages, false
		}
	}
	flush()
	return messages, len(messages) <= p.Messages
}

// splitRuns divides runs so that the first part costs at most budget: between runs, or at
// white space in a run of text, or where there is none between two characters. A link is
// never divided; one that is too dear alone becomes text. The first part has at least a
// character or a mention, to come to an end.
func (p Packer) splitRuns(runs []Run, budget int) (first, rest []Run) {
	for i, r := range runs {
		if cost := p.RunCost(r); cost <= budget {
			budget -= cost
			continue
		}
		switch {
		case i > 0 && (r.URL != "" || r.User != ""):
			return runs[:i:i], runs[i:]
		case r.User != "":
			return runs[:1:1], runs[1:]
		case r.URL != "":
			r = Run{Text: r.Text + " (" + r.URL + ")", Style: r.Style}
		}
		at := p.divideText(r, budget)
		if at == 0 {
			if i > 0 {
				return runs[:i:i], runs[i:]
			}
			_, at = utf8.DecodeRuneInString(r.Text)
		}
		before, after := r, r
		before.Text, after.Text = r.Text[:at], r.Text[at:]
		return append(runs[:i:i], before), append([]Run{after}, runs[i+1:]...)
	}
	return runs, nil
}

// divideText returns where to cut a run so that what comes before costs at most budget. How
// much its text costs is found by trying: it may have to be escaped.
func (p Packer) divideText(r Run, budget int) int {
	at := breakAt(r.Text, budget-p.RunCost(Run{}))
	for at > 0 && p.RunCost(Run{Text: r.Text[:at], Style: r.Style}) > budget {
		at = breakAt(r.Text[:at], Length(r.Text[:at])*9/10)
	}
	return at
}
