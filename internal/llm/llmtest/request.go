package llmtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Request is what a client sent.
type Request struct {
	Path   string
	Query  url.Values
	Header http.Header
	Body   []byte

	Model    string
	Messages []Message // of a chat
	Tools    []string  // their names
	// Format is the type of the response_format; "" without one.
	Format      string
	SchemaName  string // of the Format json_schema
	Schema      json.RawMessage
	Stream      bool
	Usage       bool // stream_options.include_usage
	MaxReply    int  // max_tokens or max_completion_tokens; 0 without
	Temperature *float64

	Input      []string // of an embedding
	Dimensions int      // 0 without

	maxField string
}

// Message is one entry of a chat that was sent.
type Message struct {
	Role   string
	Text   string
	Calls  []Call
	CallID string
}

// Call is a call of a tool. Arguments is a string as the model wrote it, which may be
// anything.
type Call struct {
	ID        string
	Name      string
	Arguments string
}

// System is the text of the system messages.
func (r Request) System() string { return r.said("system") }

// User is the text of the user's messages.
func (r Request) User() string { return r.said("user") }

func (r Request) said(role string) string {
	var texts []string
	for _, message := range r.Messages {
		if message.Role == role {
			texts = append(texts, message.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// Text is all that the messages say.
func (r Request) Text() string {
	var texts []string
	for _, message := range r.Messages {
		texts = append(texts, message.Text)
	}
	return strings.Join(texts, "\n")
}

func (r Request) wants(feature Feature) bool {
	switch feature {
	case JSONSchema, JSONObject:
		return r.Format == string(feature)
	case Streaming:
		return r.Stream
	case StreamOptions:
		return r.Usage
	case MaxTokens, MaxCompletionTokens:
		return r.maxField == string(feature)
	case Temperature:
		return r.Temperature != nil
	}
	return false
}

// Match chooses requests.
type Match func(Request) bool

// Any matches every chat.
func Any(r Request) bool { return len(r.Messages) > 0 }

// System matches the chats whose system messages hold a text.
func System(marker string) Match {
	return func(r Request) bool { return strings.Contains(r.System(), marker) }
}

// Says matches the chats in which any message holds a text.
func Says(marker string) Match {
	return func(r Request) bool { return len(r.Messages) > 0 && strings.Contains(r.Text(), marker) }
}

// Schema matches the chats that want structured output by the name of its schema. A
// client that fell back from json_schema does not send one: match its messages.
func Schema(name string) Match {
	return func(r Request) bool { return r.SchemaName == name }
}

// Embeds matches the embeddings.
func Embeds(r Request) bool { return len(r.Input) > 0 }

// strictly decodes JSON and refuses fields that are not known.
func strictly(data []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return err
	}
	if decoder.More() {
		return errors.New("more than one JSON value")
	}
	return nil
}

// embeddingBody is what a request for embeddings may hold.
type embeddingBody struct {
	Model          string          `json:"model"`
	Input          json.RawMessage `json:"input"`
	EncodingFormat string          `json:"encoding_format"`
	Dimensions     int             `json:"dimensions"`
	User           string          `json:"user"`
}

// What the real service takes in one request for embeddings.
const maxInputs = 2048

func parseEmbedding(request *Request) error {
	var body embeddingBody
	if err := strictly(request.Body, &body); err != nil {
		return fmt.Errorf("embeddings: %w", err)
	}
	request.Model, request.Dimensions = body.Model, body.Dimensions
	var one string
	if err := json.Unmarshal(body.Input, &one); err == nil {
		request.Input = []string{one}
	} else if err := json.Unmarshal(body.Input, &request.Input); err != nil {
		return fmt.Errorf("embeddings: input: %w", err)
	}
	switch {
	case body.Model == "":
		return errors.New("embeddings: you must provide a model parameter")
	case len(request.Input) == 0 || slices.Contains(request.Input, ""):
		return errors.New("embeddings: input must not be empty, nor hold an empty text")
	case len(request.Input) > maxInputs:
		return fmt.Errorf("embeddings: input of %d texts, at most %d", len(request.Input), maxInputs)
	case body.EncodingFormat != "" && body.EncodingFormat != "float":
		return fmt.Errorf("embeddings: encoding_format %q", body.EncodingFormat)
	}
	return nil
}
