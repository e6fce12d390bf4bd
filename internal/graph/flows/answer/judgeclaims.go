package answer

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"cairn/internal/agent"
	"cairn/internal/graph/flows"
	"cairn/internal/graph/flows/answer/prompts"
	"cairn/internal/graph/flows/answer/reply"
	"cairn/internal/knowledge/retrieve"
	"cairn/internal/knowledge/support"
	"cairn/internal/llm"
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
	judged.Uses = asked.uses
	if ctx.Err() != nil {
		return claimsResponse{}, fmt.Errorf("judge the answer: %w", ctx.Err())
	}
	switch {
	case asked.failure != "":
		judged.Remarks = []string{"judged by words alone, for the model failed: " + asked.failure}
		return judged, nil
	case asked.credulous:
		judged.Verdicts = labelByWords(request.Claims, words, strictlyFrom)
		judged.Remarks = []string{CredulousRemark}
		return judged, nil
	}
	judged.Basis = judgedByModel
	for i, c := range request.Claims {
		label, told := asked.labels[i]
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

// CredulousRemark is the remark of a trace on a model that verifies and is not believed.
const CredulousRemark = "judged by words alone, for the model took a statement for supported that no source has"

// From these chances on words alone let a claim stand unmarked, and where a model that was
// asked proved credulous.
const (
	shownFrom    = support.FaithfulFrom
	strictlyFrom = 0.74
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

// verifyTokens bounds the sources that a model judges by in one request, verifyClaims the
// statements.
const (
	verifyTokens = 8000
	verifyClaims = 40
)

// verdictsAsked are a model's verdicts on claims.
type verdictsAsked struct {
	labels    map[int]support.Label // by claim
	uses      []flows.ModelUse
	failure   string // why there are none
	credulous bool   // it supports what no source has
}

// askVerdicts asks the model about all claims, several in a request.
func (g *answerGeneration) askVerdicts(ctx context.Context, request claimsRequest) (verdictsAsked, error) {
	asked := verdictsAsked{labels: make(map[int]support.Label)}
	for _, batch := range g.groupClaims(request) {
		if err := g.askBatch(ctx, request, batch, &asked); err != nil || asked.failure != "" {
			return asked, err
		}
	}
	return asked, nil
}

// groupClaims groups claims so that what they cite fits a request.
func (g *answerGeneration) groupClaims(request claimsRequest) [][]int {
	var batches [][]int
	var batch, cited []int
	tokens := 0
	for i, c := range request.Claims {
		cites := presentCites(c, request.Evidence)
		if c.AboutSources || c.Kind == reply.Header || len(cites) == 0 {
			continue
		}
		added := 0
		for _, position := range cites {
			if !slices.Contains(cited, position) {
				added += g.verifier.Tokens(request.Evidence[position].Passage.Text) + sourceTokens
			}
		}
		if len(batch) > 0 && (tokens+added > verifyTokens || len(batch) == verifyClaims) {
			batches = append(batches, batch)
			batch, cited, tokens = nil, nil, 0
		}
		batch, tokens = append(batch, i), tokens+added
		cited = distinctCites(append(cited, cites...))
	}
	if len(batch) > 0 {
		batches = append(batches, batch)
	}
	return batches
}

// askBatch asks the model about some of the claims, and about one statement that no source
// has.
func (g *answerGeneration) askBatch(ctx context.Context, request claimsRequest, batch []int, asked *verdictsAsked) error {
	prompt, control := g.verifyPrompt(request, batch)
	messages, err := prompt.Messages()
	if err != nil {
		return err
	}
	type answered struct {
		Verdicts []struct {
			Statement int    `json:"statement"`
			Support   string `json:"support"`
		} `json:"verdicts"`
	}
	told, use := flows.ConsultFor[answered](ctx, roleVerify, g.verifier, llm.Request{Run: request.Run, Messages: messages, Schema: &prompts.VerifySchema})
	asked.uses = append(asked.uses, use)
	if asked.failure = use.Failure; use.Failure != "" {
		return nil
	}
	for _, v := range told.Verdicts {
		label, ok := labels[v.Support]
		at := v.Statement - 1
		switch {
		case !ok || at < 0 || at > len(batch):
			continue
		case at == control:
			asked.credulous = asked.credulous || label == support.Supported
			continue
		case at > control:
			at--
		}
		asked.labels[batch[at]] = label
	}
	return nil
}

// verifyPrompt puts the claims of a batch to the model; control is the position of the
// statement that no source has.
func (g *answerGeneration) verifyPrompt(request claimsRequest, batch []int) (prompt prompts.Verify, control int) {
	var cited []int
	for _, i := range batch {
		cited = distinctCites(append(cited, presentCites(request.Claims[i], request.Evidence)...))
	}
	evidence := make([]retrieve.Evidence, len(cited))
	for n, position := range cited {
		evidence[n] = request.Evidence[position]
	}
	prompt.Question = request.Question
	prompt.Sources = shownSources(g.verifier, evidence, sizeOfContext{passages: len(evidence), all: true, tokens: max(verifyTokens, g.verifier.Limits().Context/2)}).sources
	control = len(batch) / 2
	for n, i := range batch {
		if n == control {
			prompt.Statements = append(prompt.Statements, prompts.Statement{Number: n + 1, Cites: "1", Text: prompts.ControlStatement})
		}
		c := request.Claims[i]
		var numbers []string
		for _, position := range presentCites(c, request.Evidence) {
			if number := slices.Index(cited, position) + 1; number <= len(prompt.Sources) {
				numbers = append(numbers, fmt.Sprint(number))
			}
		}
		prompt.Statements = append(prompt.Statements, prompts.Statement{
			Number: len(prompt.Statements) + 1, Cites: strings.Join(numbers, ", "), Under: c.Under, Text: c.Text,
		})
	}
	return prompt, control
}

var labels = map[string]support.Label{"full": support.Supported, "partial": support.Partly, "none": support.Unsupported}

// presentCites gives the evidence that a claim cites and that still has text: a document may
// have been removed since.
func presentCites(c claim, evidence []retrieve.Evidence) []int {
	var present []int
	for _, position := range c.Cites {
		if evidence[position].Passage.Text != "" {
			present = append(present, position)
		}
	}
	return present
}

func distinctCites(cites []int) []int {
	var distinct []int
	for _, c := range cites {
		if !slices.Contains(distinct, c) {
			distinct = append(distinct, c)
		}
	}
	return distinct
}
