package openai

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/kaptinlin/jsonrepair"

	"github.com/cairn-bot/cairn/internal/llm"
	"github.com/cairn-bot/cairn/internal/llm/schema"
)

// object finds the JSON object in a reply: servers without JSON mode have models that
// wrap it in a code fence or in words. A reply with none is given as it is.
func object(text string) string {
	trimmed := strings.TrimSpace(text)
	if json.Valid([]byte(trimmed)) {
		return trimmed
	}
	const most = 8 // beginnings that are tried, so that braces in plenty take no time
	rest := trimmed
	for range most {
		at := strings.IndexByte(rest, '{')
		if at < 0 {
			break
		}
		rest = rest[at:]
		var found json.RawMessage
		if err := json.NewDecoder(strings.NewReader(rest)).Decode(&found); err == nil {
			return string(found)
		}
		rest = rest[1:]
	}
	return trimmed
}

// What is read of a reply that is nearly JSON: more is none, and the reader goes into what is
// nested by calling itself.
const (
	maxRepaired = 256 << 10 // bytes
	maxNested   = 1000      // brackets that open something
)

// repairedObject makes a JSON object of a text that is nearly one: with single quotes, commas
// too many or too few, comments, or words around it. A text that ends within the object has
// none.
func repairedObject(text string) (string, bool) {
	begin, end := strings.IndexByte(text, '{'), strings.LastIndexByte(text, '}')
	if begin < 0 || end < begin || len(text) > maxRepaired || strings.Count(text, "{")+strings.Count(text, "[") > maxNested {
		return "", false
	}
	repaired, err := jsonrepair.Repair(text[begin : end+1])
	return repaired, err == nil && json.Valid([]byte(repaired))
}

// wanted is what a reply must be like.
type wanted struct {
	output *schema.Schema // nil: text
	tools  map[string]*schema.Schema
	raw    bool // calls are not checked
}

func want(request llm.Request) (wanted, error) {
	w := wanted{tools: make(map[string]*schema.Schema), raw: request.RawCalls}
	for _, tool := range request.Tools {
		compiled, err := schema.Compile(tool.Name, tool.Parameters)
		if err != nil {
			return wanted{}, fmt.Errorf("tool: %w", err)
		}
		w.tools[tool.Name] = compiled
	}
	if request.Schema == nil {
		return w, nil
	}
	compiled, err := schema.Compile(request.Schema.Name, request.Schema.JSON)
	w.output = compiled
	return w, err
}

// check validates a reply, and gives structured output without what is around it.
func (w wanted) check(reply *llm.Reply) *schema.BreachError {
	for i, call := range reply.Calls {
		if broken := w.checkCall(call); broken != nil {
			return broken
		}
		if len(call.Arguments) == 0 {
			reply.Calls[i].Arguments = json.RawMessage("{}")
		}
	}
	if w.output == nil || len(reply.Calls) > 0 {
		return nil
	}
	text := object(reply.Text)
	broken := w.output.Check([]byte(text))
	if broken != nil && reply.Finish != llm.Length && !json.Valid([]byte(text)) {
		if repaired, ok := repairedObject(reply.Text); ok && w.output.Check([]byte(repaired)) == nil {
			text, broken = repaired, nil
		}
	}
	if broken != nil {
		return broken
	}
	reply.Text = text
	return nil
}

func (w wanted) checkCall(call llm.ToolCall) *schema.BreachError {
	if w.raw {
		return nil
	}
	tool := w.tools[call.Name]
	if tool == nil {
		return &schema.BreachError{Detail: "there is no such tool", Safe: "calls a tool that it was not given"}
	}
	arguments := call.Arguments
	if len(arguments) == 0 {
		arguments = json.RawMessage("{}")
	}
	return tool.Check(arguments)
}

// repaired is the request that tells the model what was wrong with its reply.
func (w wanted) repaired(request llm.Request, reply llm.Reply, broken *schema.BreachError) llm.Request {
	said := llm.Message{Role: llm.Assistant, Text: reply.Text, Calls: reply.Calls}
	messages := append(slices.Clone(request.Messages), said)
	for _, call := range reply.Calls {
		problem := "another call of the same reply can't be used"
		if own := w.checkCall(call); own != nil {
			problem = own.Detail
		}
		text := prompt("repair_call.tmpl", wish{Problem: problem})
		messages = append(messages, llm.Message{Role: llm.ToolRole, CallID: call.ID, Text: text})
	}
	if len(reply.Calls) == 0 {
		text := prompt("repair.tmpl", wish{Schema: string(request.Schema.JSON), Problem: broken.Detail})
		messages = append(messages, llm.Message{Role: llm.User, Text: text})
	}
	request.Messages = messages
	return request
}
