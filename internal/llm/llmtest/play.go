package llmtest

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/cairn-bot/cairn/internal/shorten"
)

func (s *Server) chat(w http.ResponseWriter, r *http.Request) {
	request, ok := s.receive(w, r, parseChat)
	if !ok {
		return
	}
	step, ok := s.next(request)
	if !ok {
		s.refuse(w, problem{http.StatusNotImplemented, "", "no step is left for a chat that says: " + shorten.Text(request.Text(), 200)})
		return
	}
	for step.by != nil {
		step = step.by(request)
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	switch {
	case step.failure != nil:
		step.fail(w)
	case step.ending == silent:
		<-ctx.Done()
		panic(http.ErrAbortHandler)
	case request.Stream:
		player{ctx, w, request, step}.stream()
	default:
		player{ctx, w, request, step}.whole()
	}
}

// reply is what the server says, whole or a chunk of it.
type reply struct {
	ID      string      `json:"id"`
	Object  string      `json:"object"`
	Created int         `json:"created"`
	Model   string      `json:"model"`
	Choices []choice    `json:"choices"`
	Usage   *usageCount `json:"usage,omitempty"`
}

type choice struct {
	Index   int     `json:"index"`
	Delta   *delta  `json:"delta,omitempty"`
	Message *delta  `json:"message,omitempty"`
	Finish  *string `json:"finish_reason"`
}

type delta struct {
	Role      string      `json:"role,omitempty"`
	Content   *string     `json:"content,omitempty"`
	Refusal   string      `json:"refusal,omitempty"`
	ToolCalls []callDelta `json:"tool_calls,omitempty"`

	ReasoningContent string `json:"reasoning_content,omitempty"`
	Reasoning        string `json:"reasoning,omitempty"`
	Thinking         string `json:"thinking,omitempty"`
}

// think puts a thought into the field that has it.
func (d *delta) think(field, text string) {
	switch field {
	case "reasoning_content":
		d.ReasoningContent = text
	case "reasoning":
		d.Reasoning = text
	case "thinking":
		d.Thinking = text
	}
}

type callDelta struct {
	Index    int          `json:"index"`
	ID       string       `json:"id,omitempty"`
	Type     string       `json:"type,omitempty"`
	Function wireFunction `json:"function"`
}

type usageCount struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
}

// player plays one step. A client that is gone ends it: writing fails, and that is all
// there is to know.
type player struct {
	ctx     context.Context //nolint:containedctx // a player lives as long as its request
	w       http.ResponseWriter
	request Request
	step    Step
}

func (p player) stream() {
	p.w.Header().Set("Content-Type", "text/event-stream")
	p.w.WriteHeader(http.StatusOK)
	empty := ""
	p.delta(delta{Role: "assistant", Content: &empty})
	for _, token := range p.step.thought.tokens {
		var d delta
		d.think(p.step.thought.field, token)
		p.delta(d)
	}
	for i, token := range p.step.tokens {
		p.turn(i)
		p.delta(delta{Content: &token})
	}
	p.turn(len(p.step.tokens))
	if p.step.refusal != "" {
		p.delta(delta{Refusal: p.step.refusal})
	}
	p.streamCalls()
	finish := p.finish()
	p.chunk(choice{Delta: &delta{}, Finish: &finish})
	if p.request.Usage && !p.step.usage.absent {
		p.send(p.reply("chat.completion.chunk", nil, p.usage()))
	}
	p.line("[DONE]")
}

// turn is the moment before a token: whoever waits for it is served, and a reply that
// ends here in another way than it should does.
func (p player) turn(token int) {
	for _, call := range p.step.before[token] {
		call(p.ctx)
	}
	if p.step.ending == complete || p.step.endAt != token {
		return
	}
	switch p.step.ending {
	case garbles:
		p.line(`{"id":"chatcmpl-1","choices":[{"delta":{"content":`)
		p.line("[DONE]")
	case fails:
		p.line(`{"error":{"message":"The server had an error","type":"server_error","code":null}}`)
	case hangs:
		<-p.ctx.Done()
	}
	panic(http.ErrAbortHandler)
}

// streamCalls sends each call as its name, then its arguments in pieces.
func (p player) streamCalls() {
	for i, call := range p.step.calls {
		p.delta(delta{ToolCalls: []callDelta{{i, call.ID, "function", wireFunction{Name: call.Name}}}})
		for _, piece := range JSON(call.Arguments).tokens {
			p.delta(delta{ToolCalls: []callDelta{{Index: i, Function: wireFunction{Arguments: piece}}}})
		}
	}
}

func (p player) whole() {
	message := delta{Role: "assistant", Refusal: p.step.refusal}
	message.think(p.step.thought.field, strings.Join(p.step.thought.tokens, ""))
	for i := range p.step.tokens {
		for _, call := range p.step.before[i] {
			call(p.ctx)
		}
	}
	if text := strings.Join(p.step.tokens, ""); text != "" || len(p.step.calls) == 0 {
		message.Content = &text
	}
	for i, call := range p.step.calls {
		message.ToolCalls = append(message.ToolCalls, callDelta{i, call.ID, "function", wireFunction{call.Name, call.Arguments}})
	}
	finish := p.finish()
	answer := p.reply("chat.completion", []choice{{Message: &message, Finish: &finish}}, nil)
	if !p.step.usage.absent {
		answer.Usage = p.usage()
	}
	data, err := json.Marshal(answer)
	if err != nil {
		panic(err)
	}
	p.w.Header().Set("Content-Type", "application/json")
	if p.step.ending == complete {
		p.write(data)
		return
	}
	p.write(data[:len(data)/2])
	switch p.step.ending {
	case garbles:
		return
	case hangs:
		<-p.ctx.Done()
	}
	panic(http.ErrAbortHandler)
}

func (p player) finish() string {
	switch {
	case p.step.finish != "":
		return p.step.finish
	case len(p.step.calls) > 0:
		return "tool_calls"
	}
	return "stop"
}

func (p player) usage() *usageCount {
	count := usageCount{Prompt: p.step.usage.prompt, Completion: p.step.usage.completion}
	if count.Prompt == 0 {
		count.Prompt = len(strings.Fields(p.request.Text()))
	}
	if count.Completion == 0 {
		count.Completion = len(p.step.tokens)
	}
	count.Total = count.Prompt + count.Completion
	return &count
}

func (p player) reply(object string, choices []choice, usage *usageCount) reply {
	if choices == nil {
		choices = []choice{}
	}
	return reply{"chatcmpl-1", object, 1_700_000_000, p.request.Model, choices, usage}
}

func (p player) delta(d delta) { p.chunk(choice{Delta: &d}) }

func (p player) chunk(c choice) {
	p.send(p.reply("chat.completion.chunk", []choice{c}, nil))
}

func (p player) send(r reply) {
	data, err := json.Marshal(r)
	if err != nil {
		panic(err)
	}
	p.line(string(data))
}

func (p player) line(data string) { p.write([]byte("data: " + data + "\n\n")) }

func (p player) write(data []byte) {
	if _, err := p.w.Write(data); err != nil {
		panic(http.ErrAbortHandler)
	}
	if flusher, ok := p.w.(http.Flusher); ok {
		flusher.Flush()
	}
}

// wireError is an error as it stands in a reply's body.
type wireError struct {
	Error errorBody `json:"error"`
}

type errorBody struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    *string `json:"code"`
}

func (s Step) fail(w http.ResponseWriter) {
	f := s.failure
	body := wireError{errorBody{Message: f.message, Type: f.kind}}
	if f.param != "" {
		body.Error.Param = &f.param
	}
	if f.code != "" {
		body.Error.Code = &f.code
	}
	data, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	if f.retryAfter != "" {
		w.Header().Set("Retry-After", f.retryAfter)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(f.status)
	if _, err := w.Write(data); err != nil {
		panic(http.ErrAbortHandler)
	}
}
