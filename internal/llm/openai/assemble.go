package openai

import (
	"encoding/json"
	"fmt"
	"strings"

	wire "github.com/sashabaranov/go-openai"

	"cairn/internal/llm"
)

// maxCalls is how many calls of tools one reply may hold.
const maxCalls = 128

// chunk is one event of a stream. Some servers put an error in place of a choice.
type chunk struct {
	wire.ChatCompletionStreamResponse
	Error *wire.APIError `json:"error"`
}

// assembly puts a reply together from the pieces of a stream.
type assembly struct {
	model   string
	text    strings.Builder
	refused bool
	calls   []wire.ToolCall
	finish  wire.FinishReason
	usage   *wire.Usage
}

// add takes one event, and gives the text that it adds and whether it holds anything of
// the reply.
func (a *assembly) add(data []byte) (text string, moved bool, err error) {
	var event chunk
	if err := json.Unmarshal(data, &event); err != nil {
		return "", false, errMalformed
	}
	if event.Error != nil {
		return "", false, event.Error
	}
	if event.Model != "" {
		a.model = event.Model
	}
	if event.Usage != nil {
		a.usage = event.Usage
	}
	if len(event.Choices) == 0 {
		return "", false, nil
	}
	choice := event.Choices[0]
	if choice.FinishReason != "" && choice.FinishReason != wire.FinishReasonNull {
		a.finish = choice.FinishReason
	}
	delta := choice.Delta
	a.text.WriteString(delta.Content)
	a.refused = a.refused || delta.Refusal != ""
	for _, piece := range delta.ToolCalls {
		if err := a.addCall(piece); err != nil {
			return "", false, err
		}
	}
	moved = delta.Content != "" || delta.Refusal != "" || delta.ReasoningContent != "" || len(delta.ToolCalls) > 0
	return delta.Content, moved, nil
}

// addCall takes a piece of a call. Servers that give no index send each call whole, or
// begin it with its id.
func (a *assembly) addCall(piece wire.ToolCall) error {
	at := len(a.calls) - 1
	switch {
	case piece.Index != nil:
		at = *piece.Index
	case piece.ID != "" || at < 0:
		at = len(a.calls)
	}
	if at < 0 || at > len(a.calls) || at >= maxCalls {
		return fmt.Errorf("%w: calls out of order", errMalformed)
	}
	if at == len(a.calls) {
		a.calls = append(a.calls, wire.ToolCall{})
	}
	call := &a.calls[at]
	if piece.ID != "" {
		call.ID = piece.ID
	}
	if call.Function.Name == "" {
		call.Function.Name = piece.Function.Name
	}
	call.Function.Arguments += piece.Function.Arguments
	return nil
}

// addWhole takes a reply that was not streamed.
func (a *assembly) addWhole(response wire.ChatCompletionResponse) error {
	a.model = response.Model
	if response.Usage != (wire.Usage{}) {
		a.usage = &response.Usage
	}
	if len(response.Choices) == 0 {
		return errMalformed
	}
	choice := response.Choices[0]
	a.finish = choice.FinishReason
	a.refused = choice.Message.Refusal != ""
	a.text.WriteString(choice.Message.Content)
	for _, call := range choice.Message.ToolCalls {
		call.Index = nil
		if call.ID == "" {
			call.ID = fmt.Sprintf("call_%d", len(a.calls))
		}
		if err := a.addCall(call); err != nil {
			return err
		}
	}
	return nil
}

// reply is what was said, when all of it is there.
func (a *assembly) reply() (llm.Reply, error) {
	reply := llm.Reply{Text: a.text.String(), Finish: llm.Stop}
	for i, call := range a.calls {
		if call.ID == "" {
			call.ID = fmt.Sprintf("call_%d", i)
		}
		reply.Calls = append(reply.Calls, llm.ToolCall{ID: call.ID, Name: call.Function.Name, Arguments: json.RawMessage(call.Function.Arguments)})
	}
	switch {
	case a.refused || a.finish == wire.FinishReasonContentFilter:
		return reply, errRefused
	case a.finish == "":
		return reply, errCut
	case a.finish == wire.FinishReasonLength:
		reply.Finish = llm.Length
	case len(reply.Calls) > 0:
		reply.Finish = llm.Calls
	case reply.Text == "":
		return reply, errEmpty
	}
	return reply, nil
}
