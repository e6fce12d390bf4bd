package openai

import (
	"encoding/json"
	"fmt"
	"strings"

	wire "github.com/sashabaranov/go-openai"

	"github.com/cairn-bot/cairn/internal/llm"
)

// maxCalls is how many calls of tools one reply may hold.
const maxCalls = 128

// chunk is one event of a stream. Some servers put an error in place of a choice.
type chunk struct {
	wire.ChatCompletionStreamResponse
	Error *wire.APIError `json:"error"`
}

// thoughtChunk is how some servers send what a model thinks, each under a name of its own.
type thoughtChunk struct {
	Choices []struct {
		Delta struct {
			Reasoning string `json:"reasoning"`
			Thinking  string `json:"thinking"`
		} `json:"delta"`
	} `json:"choices"`
}

// holdsThought says whether an event holds a thought in a field that the client does not know.
func holdsThought(data []byte) bool {
	var event thoughtChunk
	return json.Unmarshal(data, &event) == nil && len(event.Choices) > 0 &&
		event.Choices[0].Delta.Reasoning+event.Choices[0].Delta.Thinking != ""
}

// assembly puts a reply together from the pieces of a stream.
type assembly struct {
	model   string
	text    strings.Builder // as the server sent it
	shown   strings.Builder // without thoughts
	stream  llm.Thoughts
	thought bool // the model thought, in a field of its own
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
	shown := a.addText(delta.Content)
	a.thought = a.thought || delta.ReasoningContent != ""
	a.refused = a.refused || delta.Refusal != ""
	for _, piece := range delta.ToolCalls {
		if err := a.addCall(piece); err != nil {
			return "", false, err
		}
	}
	moved = delta.Content != "" || delta.Refusal != "" || delta.ReasoningContent != "" || len(delta.ToolCalls) > 0
	if !moved && holdsThought(data) {
		moved, a.thought = true, true
	}
	return shown, moved, nil
}

// addText takes text of the reply, and gives what can be shown by now.
func (a *assembly) addText(text string) string {
	a.text.WriteString(text)
	shown := a.stream.Write(text)
	a.shown.WriteString(shown)
	return shown
}

// endText gives what is left to be shown.
func (a *assembly) endText() string {
	rest := a.stream.Close()
	if a.finish == wire.FinishReasonLength && a.stream.Unopened && !a.stream.Seen() {
		rest = "" // the limit ended it in its thought
	}
	a.shown.WriteString(rest)
	return rest
}

// hasThought says whether the model thought before it replied.
func (a *assembly) hasThought() bool { return a.thought || a.stream.Seen() }

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
	a.addText(choice.Message.Content)
	a.thought = choice.Message.ReasoningContent != ""
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
	reply := llm.Reply{Text: a.shown.String(), Finish: llm.Stop}
	if a.stream.EndedUnopened() {
		reply.Text = llm.WithoutThoughts(a.text.String())
	}
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
