package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kaptinlin/jsonrepair"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"cairn/internal/llm"
)

// shape is a compiled schema, of structured output or of a tool's arguments.
type shape struct {
	name   string
	schema *jsonschema.Schema
}

// shapeURL is what schemas are called among themselves.
const shapeURL = "cairn:schema"

func compile(name string, schema json.RawMessage) (*shape, error) {
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return nil, fmt.Errorf("schema %q: %w", name, err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(jsonschema.SchemeURLLoader{}) // a $ref reads neither files nor addresses
	if err := compiler.AddResource(shapeURL, document); err != nil {
		return nil, fmt.Errorf("schema %q: %w", name, err)
	}
	compiled, err := compiler.Compile(shapeURL)
	if err != nil {
		return nil, fmt.Errorf("schema %q: %w", name, err)
	}
	return &shape{name, compiled}, nil
}

// breach is how a reply breaks what was asked of it.
type breach struct {
	detail string // for the model: may quote its reply
	safe   string // for errors: quotes nothing but our own schema
}

// Error tells nothing of the reply.
func (b *breach) Error() string { return b.safe }

// check validates JSON.
func (s *shape) check(text []byte) *breach {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return &breach{"it is not valid JSON", fmt.Sprintf("not JSON, for %q", s.name)}
	}
	err = s.schema.Validate(value)
	if err == nil {
		return nil
	}
	safe := fmt.Sprintf("does not follow %q", s.name)
	var invalid *jsonschema.ValidationError
	if errors.As(err, &invalid) {
		for len(invalid.Causes) > 0 {
			invalid = invalid.Causes[0]
		}
		where := strings.TrimPrefix(invalid.SchemaURL, shapeURL)
		safe += fmt.Sprintf(": %s, at %s of the schema", strings.Join(invalid.ErrorKind.KeywordPath(), "/"), where)
	}
	return &breach{strings.TrimPrefix(err.Error(), "jsonschema validation failed with '"+shapeURL+"#'\n"), safe}
}

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
	output *shape // nil: text
	tools  map[string]*shape
}

func want(request llm.Request) (wanted, error) {
	w := wanted{tools: make(map[string]*shape)}
	for _, tool := range request.Tools {
		compiled, err := compile(tool.Name, tool.Parameters)
		if err != nil {
			return wanted{}, fmt.Errorf("tool: %w", err)
		}
		w.tools[tool.Name] = compiled
	}
	if request.Schema == nil {
		return w, nil
	}
	compiled, err := compile(request.Schema.Name, request.Schema.JSON)
	w.output = compiled
	return w, err
}

// check validates a reply, and gives structured output without what is around it.
func (w wanted) check(reply *llm.Reply) *breach {
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
	broken := w.output.check([]byte(text))
	if broken != nil && reply.Finish != llm.Length && !json.Valid([]byte(text)) {
		if repaired, ok := repairedObject(reply.Text); ok && w.output.check([]byte(repaired)) == nil {
			text, broken = repaired, nil
		}
	}
	if broken != nil {
		return broken
	}
	reply.Text = text
	return nil
}

func (w wanted) checkCall(call llm.ToolCall) *breach {
	tool := w.tools[call.Name]
	if tool == nil {
		return &breach{"there is no such tool", "calls a tool that it was not given"}
	}
	arguments := call.Arguments
	if len(arguments) == 0 {
		arguments = json.RawMessage("{}")
	}
	return tool.check(arguments)
}

// repaired is the request that tells the model what was wrong with its reply.
func (w wanted) repaired(request llm.Request, reply llm.Reply, broken *breach) llm.Request {
	said := llm.Message{Role: llm.Assistant, Text: reply.Text, Calls: reply.Calls}
	messages := append(slices.Clone(request.Messages), said)
	for _, call := range reply.Calls {
		problem := "another call of the same reply can't be used"
		if own := w.checkCall(call); own != nil {
			problem = own.detail
		}
		text := prompt("repair_call.tmpl", wish{Problem: problem})
		messages = append(messages, llm.Message{Role: llm.ToolRole, CallID: call.ID, Text: text})
	}
	if len(reply.Calls) == 0 {
		text := prompt("repair.tmpl", wish{Schema: string(request.Schema.JSON), Problem: broken.detail})
		messages = append(messages, llm.Message{Role: llm.User, Text: text})
	}
	request.Messages = messages
	return request
}
