package llmtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// chatBody is what a request for a chat may hold.
type chatBody struct {
	Model               string            `json:"model"`
	Messages            []wireMessage     `json:"messages"`
	Stream              bool              `json:"stream"`
	StreamOptions       *streamOptions    `json:"stream_options"`
	ResponseFormat      *responseFormat   `json:"response_format"`
	Tools               []wireTool        `json:"tools"`
	ToolChoice          json.RawMessage   `json:"tool_choice"`
	ParallelToolCalls   *bool             `json:"parallel_tool_calls"`
	MaxTokens           *int              `json:"max_tokens"`
	MaxCompletionTokens *int              `json:"max_completion_tokens"`
	Temperature         *float64          `json:"temperature"`
	TopP                *float64          `json:"top_p"`
	N                   *int              `json:"n"`
	Stop                json.RawMessage   `json:"stop"`
	Seed                *int              `json:"seed"`
	PresencePenalty     *float64          `json:"presence_penalty"`
	FrequencyPenalty    *float64          `json:"frequency_penalty"`
	User                string            `json:"user"`
	Store               bool              `json:"store"`
	Metadata            map[string]string `json:"metadata"`
	ReasoningEffort     string            `json:"reasoning_effort"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type wireMessage struct {
	Role       string     `json:"role"`
	Content    *string    `json:"content"`
	Name       string     `json:"name"`
	Refusal    string     `json:"refusal"`
	ToolCalls  []wireCall `json:"tool_calls"`
	ToolCallID string     `json:"tool_call_id"`
}

type wireCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function wireFunction `json:"function"`
}

type wireFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type wireTool struct {
	Type     string `json:"type"`
	Function *struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
		Strict      bool            `json:"strict"`
	} `json:"function"`
}

type responseFormat struct {
	Type       string `json:"type"`
	JSONSchema *struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Schema      json.RawMessage `json:"schema"`
		Strict      bool            `json:"strict"`
	} `json:"json_schema"`
}

// identifier is what schemas and tools may be called.
var identifier = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

func parseChat(request *Request) error {
	var body chatBody
	if err := strictly(request.Body, &body); err != nil {
		return fmt.Errorf("chat: %w", err)
	}
	request.Model, request.Stream, request.Temperature = body.Model, body.Stream, body.Temperature
	request.Usage = body.StreamOptions != nil && body.StreamOptions.IncludeUsage
	for _, message := range body.Messages {
		request.Messages = append(request.Messages, message.plain())
	}
	if format := body.ResponseFormat; format != nil {
		request.Format = format.Type
		if format.JSONSchema != nil {
			request.SchemaName, request.Schema = format.JSONSchema.Name, format.JSONSchema.Schema
		}
	}
	for field, value := range map[Feature]*int{MaxTokens: body.MaxTokens, MaxCompletionTokens: body.MaxCompletionTokens} {
		if value != nil {
			request.MaxReply, request.maxField = *value, string(field)
		}
	}
	for _, tool := range body.Tools {
		if tool.Function != nil {
			request.Tools = append(request.Tools, tool.Function.Name)
		}
	}
	return errors.Join(body.checkScalars(), checkMessages(body.Messages), body.checkFormat(), checkTools(body.Tools))
}

func (m wireMessage) plain() Message {
	message := Message{Role: m.Role, CallID: m.ToolCallID}
	if m.Content != nil {
		message.Text = *m.Content
	}
	for _, call := range m.ToolCalls {
		message.Calls = append(message.Calls, Call{call.ID, call.Function.Name, call.Function.Arguments})
	}
	return message
}

func (b chatBody) checkScalars() error {
	switch {
	case b.Model == "":
		return errors.New("chat: you must provide a model parameter")
	case b.MaxTokens != nil && b.MaxCompletionTokens != nil:
		return errors.New("chat: max_tokens and max_completion_tokens together")
	case b.MaxTokens != nil && *b.MaxTokens < 1, b.MaxCompletionTokens != nil && *b.MaxCompletionTokens < 1:
		return errors.New("chat: a limit of tokens below 1")
	case b.Temperature != nil && (*b.Temperature < 0 || *b.Temperature > 2):
		return errors.New("chat: temperature must be between 0 and 2")
	case b.StreamOptions != nil && !b.Stream:
		return errors.New("chat: stream_options is only allowed when stream is enabled")
	}
	return nil
}

// checkMessages checks the order of roles, and that calls and results of tools pair up.
func checkMessages(messages []wireMessage) error {
	if len(messages) == 0 {
		return errors.New("messages: at least one is required")
	}
	var open []string // calls without a result
	for i, message := range messages {
		if len(open) > 0 && message.Role != "tool" {
			return fmt.Errorf("messages[%d]: the calls %q before it have no results", i, open)
		}
		switch message.Role {
		case "system", "developer", "user":
			if message.Content == nil {
				return fmt.Errorf("messages[%d]: content is required", i)
			}
		case "assistant":
			if message.Content == nil && len(message.ToolCalls) == 0 {
				return fmt.Errorf("messages[%d]: content or tool_calls is required", i)
			}
			for _, call := range message.ToolCalls {
				if call.ID == "" || call.Type != "function" || !identifier.MatchString(call.Function.Name) {
					return fmt.Errorf("messages[%d]: a call without id, type or name", i)
				}
				open = append(open, call.ID)
			}
		case "tool":
			at := slices.Index(open, message.ToolCallID)
			if at < 0 || message.Content == nil {
				return fmt.Errorf("messages[%d]: a tool's message needs content, and the tool_call_id of a call before it", i)
			}
			open = slices.Delete(open, at, at+1)
		default:
			return fmt.Errorf("messages[%d]: role %q", i, message.Role)
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("messages: the calls %q have no results", open)
	}
	return nil
}

func (b chatBody) checkFormat() error {
	if b.ResponseFormat == nil {
		return nil
	}
	format := b.ResponseFormat
	switch format.Type {
	case "text":
		return nil
	case "json_object":
		for _, message := range b.Messages {
			if message.Content != nil && strings.Contains(strings.ToLower(*message.Content), "json") {
				return nil
			}
		}
		return errors.New("response_format: messages must contain the word 'json' in some form to use json_object")
	case "json_schema":
	default:
		return fmt.Errorf("response_format: type %q", format.Type)
	}
	schema := format.JSONSchema
	if schema == nil || !identifier.MatchString(schema.Name) || len(schema.Schema) == 0 {
		return errors.New("response_format: json_schema needs a name of letters, digits, _ and -, and a schema")
	}
	if !schema.Strict {
		return nil
	}
	if err := checkStrict(schema.Schema); err != nil {
		return fmt.Errorf("response_format: invalid schema %q: %w", schema.Name, err)
	}
	return nil
}

func checkTools(tools []wireTool) error {
	names := make(map[string]bool)
	for i, tool := range tools {
		if tool.Type != "function" || tool.Function == nil || !identifier.MatchString(tool.Function.Name) {
			return fmt.Errorf("tools[%d]: want type function, with a name of letters, digits, _ and -", i)
		}
		if names[tool.Function.Name] {
			return fmt.Errorf("tools[%d]: %q is there twice", i, tool.Function.Name)
		}
		names[tool.Function.Name] = true
		var root struct {
			Type string `json:"type"`
		}
		if err := json.Unmarshal(tool.Function.Parameters, &root); err != nil || root.Type != "object" {
			return fmt.Errorf("tools[%d]: parameters must be a schema of an object", i)
		}
	}
	return nil
}
