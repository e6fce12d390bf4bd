package answer

import (
	"context"
	"fmt"

	"github.com/cairn-bot/cairn/internal/graph/flows/answer/reply"
	"github.com/cairn-bot/cairn/internal/knowledge/retrieve"
	"github.com/cairn-bot/cairn/internal/knowledge/support"
	"github.com/cairn-bot/cairn/internal/llm"
)

// WrittenReply is a text that a model wrote from evidence: "[n]" cites Evidence[n-1].
type WrittenReply struct {
	Question string
	Text     string // Markdown
	Evidence []retrieve.Evidence
}

// CheckedReply is what is shown of a reply.
type CheckedReply struct {
	Text   string // Markdown, numbered in the order of first use
	Cited  []int  // positions in the evidence, by number - 1
	Claims []CheckedClaim
}

// CheckedClaim is a statement of a reply, without marks.
type CheckedClaim struct {
	Text            string
	Asserts         bool // it is checked
	Marked, Removed bool
	Words           support.Verdict // what words alone say of it
	Absent          []string        // numbers, names and code that its sources don't have
}

// CheckReply checks a reply as the flow checks what its model wrote. verify may be nil: then
// words alone are compared.
func CheckReply(ctx context.Context, written WrittenReply, verify llm.Model) (CheckedReply, error) {
	judge := &answerGeneration{verifier: verify}
	shown := make([]int, len(written.Evidence))
	for i := range shown {
		shown[i] = i
	}
	read := reply.Read(written.Text, len(shown))
	claims := claimsOf(read, written.Evidence, shown)
	words := verdictsByWords(claims, written.Evidence, written.Question)
	judged, err := judge.judgeClaims(ctx, claimsRequest{Question: written.Question, Claims: claims, Evidence: written.Evidence}, words)
	if err != nil {
		return CheckedReply{}, fmt.Errorf("check a reply: %w", err)
	}
	kept := decideClaims(claims, judged.Verdicts, written.Question, shown)
	answer, cited := write(read, kept.decisions, written.Evidence, shown)
	checked := CheckedReply{Text: newGuard(State{SearchResults: written.Evidence}, nil).Clean(answer)}
	for _, c := range cited {
		checked.Cited = append(checked.Cited, c.Evidence)
	}
	gone := read.Removed(kept.decisions)
	for i, c := range claims {
		checked.Claims = append(checked.Claims, CheckedClaim{
			Text: c.Text, Asserts: c.asserts(), Marked: kept.decisions[i].Remark != "", Removed: gone[i],
			Words: words[i].Verdict, Absent: words[i].Absent,
		})
	}
	return checked, nil
}
