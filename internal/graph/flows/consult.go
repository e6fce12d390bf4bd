package flows

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/cairn-bot/cairn/internal/llm"
	"github.com/cairn-bot/cairn/internal/phrases"
)

// Consult asks a model that plays a role, and tells of the use also where it failed: then
// there is no reply to rely on. onToken is given the text as it comes; it may be nil.
func Consult(ctx context.Context, role string, model llm.Model, request llm.Request, onToken func(string)) (llm.Reply, ModelUse) {
	reply, err := model.Chat(ctx, request, onToken)
	usage := reply.Usage
	use := ModelUse{Role: role}
	if failed, is := errors.AsType[*llm.Error](err); is {
		usage, use.Failure = failed.Usage, string(failed.Failure)
	} else if err != nil {
		use.Failure = string(llm.Unavailable)
	}
	use.Model, use.Prompt, use.Completion = usage.Model, usage.Prompt, usage.Completion
	use.Cost, use.Took, use.FirstToken = usage.Cost, usage.Took, usage.FirstToken
	return reply, use
}

// Unsupported is why a text of a model is not shown that no source supports.
const Unsupported llm.Failure = "unsupported"

// failureReasons are the clauses on why there is no text of a model.
var failureReasons = map[llm.Failure]phrases.Key{
	Unsupported: phrases.ModelUnsupported, llm.Unavailable: phrases.ModelUnavailable, llm.Slow: phrases.ModelSlow,
	llm.Limited: phrases.ModelLimited, llm.OverBudget: phrases.ModelOverBudget, llm.Refused: phrases.ModelRefused,
	llm.TooLong: phrases.ModelTooLong, llm.Rejected: phrases.ModelRejected, llm.Invalid: phrases.ModelInvalid,
}

// ExplainFailure gives the clause on why there is no text of a model: "the language model took too
// long".
func ExplainFailure(speaker phrases.Speaker, failure llm.Failure) string {
	reason, ok := failureReasons[failure]
	if !ok {
		reason = phrases.ModelSilent
	}
	return speaker.Text(reason)
}

// ConsultFor asks a model for data; there is none where the use says that it failed.
func ConsultFor[T any](ctx context.Context, role string, model llm.Model, request llm.Request) (T, ModelUse) {
	var data T
	reply, use := Consult(ctx, role, model, request, nil)
	if use.Failure == "" && json.Unmarshal([]byte(reply.Text), &data) != nil {
		use.Failure = string(llm.Invalid)
	}
	return data, use
}
