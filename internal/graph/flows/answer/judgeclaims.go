package answer

import (
	"context"

	"github.com/cairn-bot/cairn/internal/agent"
	"github.com/cairn-bot/cairn/internal/document/verification"
	"github.com/cairn-bot/cairn/internal/graph/flows/answer/reply"
	"github.com/cairn-bot/cairn/internal/knowledge/retrieve"
	"github.com/cairn-bot/cairn/internal/knowledge/support"
)

// judge finds out whether passages support statements. Words say what
// they can; a model, where there is one, judges as well. It is believed where the words don't
// speak against it, and not at all where it takes a statement for supported that no source
// has.
func (g *answerGeneration) handleClaims(ctx context.Context, _ *agent.Task, request claimsRequest) (claimsResponse, error) {
	return g.judgeClaims(ctx, request, verdictsByWords(request.Claims, request.Evidence, request.Question))
}

// judgeClaims judges claims of which it is known what words say.
func (g *answerGeneration) judgeClaims(ctx context.Context, request claimsRequest, words []wordVerdict) (claimsResponse, error) {
	judged := claimsResponse{Verdicts: labelByWords(request.Claims, words, shownFrom), Basis: judgedByWords}
	if g.verifier == nil {
		return judged, nil
	}
	asked, err := g.askVerdicts(ctx, request)
	if err != nil {
		return claimsResponse{}, err
	}
	judged.Uses = asked.Uses
	if remark := asked.Remark(); remark != "" {
		if asked.Credulous {
			judged.Verdicts = labelByWords(request.Claims, words, strictlyFrom)
		}
		judged.Remarks = []string{remark}
		return judged, nil
	}
	judged.Basis = judgedByModel
	for i, c := range request.Claims {
		label, told := asked.Labels[i]
		switch {
		case !told:
		case label == support.Supported && len(words[i].Absent) > 0:
			judged.Verdicts[i] = support.Partly
		case c.Kind == reply.Lead && label == support.Unsupported:
			judged.Verdicts[i] = support.Partly
		default:
			judged.Verdicts[i] = label
		}
	}
	completeBare(request.Claims, judged.Verdicts)
	return judged, nil
}

// From these chances on words alone let a claim stand unmarked, and where a model that was
// asked proved credulous.
const (
	shownFrom    = support.FaithfulFrom
	strictlyFrom = 0.72
)

// verdictsByWords checks claims by their words.
func verdictsByWords(claims []claim, evidence []retrieve.Evidence, question string) []wordVerdict {
	verdicts := make([]wordVerdict, len(claims))
	texts := newCitedTexts(evidence)
	for i, c := range claims {
		if c.asserts() {
			verdicts[i] = texts.checkClaim(c, question)
		}
	}
	return verdicts
}

// wordVerdict is what words say of a claim.
type wordVerdict struct {
	support.Verdict
	Absent []string // numbers, names and code of the claim that its sources don't have
}

// labelByWords labels claims by their words. What must not be shown as checked is marked, and
// taken out where nothing speaks for it.
func labelByWords(claims []claim, words []wordVerdict, from float64) []support.Label {
	labels := make([]support.Label, len(claims))
	for i, c := range claims {
		switch {
		case !c.asserts():
		case len(c.Cites) == 0:
			labels[i] = support.Unsupported
		case len(words[i].Absent) == 0 && words[i].Faithful >= from:
			labels[i] = support.Supported
		case words[i].Label == support.Unsupported:
			labels[i] = support.Unsupported
		default:
			labels[i] = support.Partly
		}
	}
	completeBare(claims, labels)
	return labels
}

// completeBare gives a bare "No." the label of the statement behind it.
func completeBare(claims []claim, labels []support.Label) {
	for i, c := range claims {
		if c.Next >= 0 && c.Next < len(claims) && claims[c.Next].asserts() && labels[i] != "" {
			labels[i] = labels[c.Next]
		}
	}
}

// askVerdicts asks the model about all claims that assert something of a source.
func (g *answerGeneration) askVerdicts(ctx context.Context, request claimsRequest) (verification.Verdicts, error) {
	asked := verification.Request{Run: request.Run, Question: request.Question}
	for _, e := range request.Evidence {
		asked.Sources = append(asked.Sources, verification.Source{Title: e.Document.Title, Section: e.Passage.Section(), Text: e.Passage.Text})
	}
	for _, c := range request.Claims {
		statement := verification.Statement{Text: c.Text, Under: c.Under}
		if !c.AboutSources && c.Kind != reply.Header {
			statement.Cites = c.Cites
		}
		asked.Statements = append(asked.Statements, statement)
	}
	return verification.Ask(ctx, g.verifier, asked)
}
