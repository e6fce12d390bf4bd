package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"regexp"
	"strings"

	"github.com/cairn-bot/cairn/internal/eval"
	"github.com/cairn-bot/cairn/internal/llm"
)

// The verifiers of replies: one that answers by the labels, one that says that all is
// supported, and one that fails.
const (
	honestVerifier = "honest"
	fullVerifier   = "full"
	noVerifier     = "none"
)

// labelVerifier stands in for the model that checks statements.
type labelVerifier struct {
	kind  string
	reply eval.Reply
}

func newLabelVerifier(kind string, reply eval.Reply) llm.Model {
	return labelVerifier{kind: kind, reply: reply}
}

var statementTags = regexp.MustCompile(`(?s)<statement n="(\d+)"[^>]*>\n(.*?)\n</statement>`)

// readWith is what a statement is read with, which is not judged itself.
var readWith = regexp.MustCompile(`(?s)^<under>\n.*?\n</under>\n`)

// Chat answers a request to check statements.
func (v labelVerifier) Chat(_ context.Context, request llm.Request, _ func(string)) (llm.Reply, error) {
	if v.kind == noVerifier {
		return llm.Reply{}, &llm.Error{Failure: llm.Unavailable, Cause: errors.New("the verifier is off")}
	}
	type verdict struct {
		Statement json.Number `json:"statement"`
		Support   string      `json:"support"`
	}
	var told struct {
		Verdicts []verdict `json:"verdicts"`
	}
	asked := request.Messages[len(request.Messages)-1].Text
	for _, found := range statementTags.FindAllStringSubmatch(asked, -1) {
		told.Verdicts = append(told.Verdicts, verdict{Statement: json.Number(found[1]), Support: v.support(html.UnescapeString(found[2]))})
	}
	text, err := json.Marshal(told)
	if err != nil {
		return llm.Reply{}, fmt.Errorf("answer a request to verify: %w", err)
	}
	return llm.Reply{Text: string(text), Finish: llm.Stop}, nil
}

// support is "full" for a statement of right units alone, and "none" for any other and for
// one that is not in the reply.
func (v labelVerifier) support(statement string) string {
	if v.kind == fullVerifier {
		return "full"
	}
	squashed := eval.SquashUnit(readWith.ReplaceAllString(statement, ""))
	found := false
	for _, unit := range v.reply.Units {
		text := eval.SquashUnit(unit.Text)
		if text == "" || !strings.Contains(squashed, text) && (squashed == "" || !strings.Contains(text, squashed)) {
			continue
		}
		if unit.Wrong() {
			return "none"
		}
		found = true
	}
	if found {
		return "full"
	}
	return "none"
}

// Tokens is about four characters each.
func (v labelVerifier) Tokens(text string) int { return (len(text) + 3) / 4 }

// Limits are those of a usual model.
func (v labelVerifier) Limits() llm.Limits { return llm.Limits{Context: 128_000, Reply: 8_000} }
