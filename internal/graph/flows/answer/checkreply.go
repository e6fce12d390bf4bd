package answer

import (
	"context"
	"fmt"

	"cairn/internal/knowledge/retrieve"
	"cairn/internal/knowledge/support"
	"cairn/internal/llm"
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
	Marked, Removed bool
}

// CheckReply checks a reply as the flow checks what its model wrote. verify may be nil: then
// words alone are compared.
func CheckReply(ctx context.Context, reply WrittenReply, verify llm.Model) (CheckedReply, error) {
	f := &Flow{models: Models{Verify: verify}}
	shown := make([]int, len(reply.Evidence))
	for i := range shown {
		shown[i] = i
	}
	text, claims := claimsOf(reply.Text, shown)
	attribute(claims, reply.Evidence, shown)
	judged, err := f.judge(ctx, nil, claimsRequest{Claims: claims, Evidence: reply.Evidence})
	if err != nil {
		return CheckedReply{}, fmt.Errorf("check a reply: %w", err)
	}
	kept, _ := remaining(claims, judged.Verdicts)
	stays := make(map[int]bool)
	for _, k := range kept {
		stays[k.Start] = true
	}
	answer, cited := rewrite(text, reply.Evidence, kept)
	checked := CheckedReply{Text: f.guard(State{SearchResults: reply.Evidence}).Clean(answer)}
	for _, c := range cited {
		checked.Cited = append(checked.Cited, c.Evidence)
	}
	for i, c := range claims {
		checked.Claims = append(checked.Claims, CheckedClaim{
			Text: c.Text, Marked: judged.Verdicts[i] == support.Partly, Removed: !stays[c.Start],
		})
	}
	return checked, nil
}
