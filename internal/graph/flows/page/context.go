package page

import (
	"embed"
	"fmt"
	"strings"

	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/llm"
	"github.com/cairn-bot/cairn/internal/llm/prompt"
	"github.com/cairn-bot/cairn/internal/pages"
	"github.com/cairn-bot/cairn/internal/pages/tools"
	"github.com/cairn-bot/cairn/internal/pages/tree"
	"github.com/cairn-bot/cairn/internal/shorten"
)

//go:embed edit.tmpl thread.tmpl thread.json
var promptFiles embed.FS

var editPrompt = prompt.Template(promptFiles, "edit", nil)

// promptBuilder puts together what the model is sent.
type promptBuilder struct {
	state State
	draft *tools.Draft
	model llm.Model
	// changed: the draft is not what the first round was shown. The page is then shown behind
	// the request, where it is never stale, in place of in front of it.
	changed bool
	block   string // the page
	note    string // on the page, for the trace
}

// providers give the messages of a prompt, in their order. The page's block stands behind the
// agent's own instructions and in front of the tools'.
var providers = []func(b *promptBuilder) ([]llm.Message, error){
	provideAgent, providePage, provideTools, provideThread, provideRequest, provideRounds,
}

// buildRequest gives the request of a round, with a note for the trace on what was injected.
func (f *Flow) buildRequest(s State, draft *tools.Draft) (llm.Request, string, error) {
	b := &promptBuilder{state: s, draft: draft, model: f.model, changed: len(s.listApplied()) > 0}
	request := llm.Request{Tools: tools.List(), RawCalls: true, Run: s.RequestID}
	budget, err := b.measureBudget(request)
	if err != nil {
		return llm.Request{}, "", err
	}
	if err := b.renderPage(budget); err != nil {
		return llm.Request{}, "", err
	}
	request.Messages, err = b.collect()
	return request, b.note, err
}

// collect asks all providers.
func (b *promptBuilder) collect() ([]llm.Message, error) {
	var messages []llm.Message
	for _, provide := range providers {
		more, err := provide(b)
		if err != nil {
			return nil, err
		}
		messages = append(messages, more...)
	}
	return messages, nil
}

// minPage is how many tokens the page has at least: with fewer the model could do nothing.
const minPage = 500

// measureBudget gives how many tokens are left for the page.
func (b *promptBuilder) measureBudget(request llm.Request) (int, error) {
	messages, err := b.collect()
	if err != nil {
		return 0, err
	}
	request.Messages = messages
	limits := b.model.Limits()
	const frame = 200 // around the page
	return max(limits.Context-limits.Reply-llm.PromptTokens(b.model, request)-frame, minPage), nil
}

// renderPage writes the page's block, cut to a budget of tokens by whole blocks.
func (b *promptBuilder) renderPage(budget int) error {
	const bytesPerToken = 4
	root, limit := b.draft.Root, budget*bytesPerToken
	text, left := tree.CutXML(root, limit)
	for tokens := b.model.Tokens(text); tokens > budget; tokens = b.model.Tokens(text) {
		limit = min(limit, len(text)) * budget / tokens * 9 / 10
		text, left = tree.CutXML(root, limit)
		if left == len(root.Children) {
			break
		}
	}
	p := b.state.Proposal
	shown := struct {
		ID       pages.PageID
		Version  int
		Title    string
		Audience string
		XML      string
		Left     int
		LastID   string
	}{p.Page, p.Base, strings.ReplaceAll(b.draft.Title, `"`, "'"), string(b.state.Room.Audience.OrPublic()), text, left, ""}
	if left > 0 && left < len(root.Children) {
		shown.LastID = root.Children[len(root.Children)-left-1].ID
	}
	block, err := b.render("page", shown)
	b.block = block
	b.note = fmt.Sprintf("system-injected context: page %s, version %d, %d blocks", p.Page, p.Base, len(root.Children)-left)
	if b.changed {
		b.note += " as changed so far, behind the request"
	}
	if left > 0 {
		b.note += fmt.Sprintf("; %d more did not fit", left)
	}
	return err
}

// render executes a part of the prompt's template.
func (b *promptBuilder) render(part string, shown any) (string, error) {
	var text strings.Builder
	if err := editPrompt.ExecuteTemplate(&text, part, shown); err != nil {
		return "", fmt.Errorf("prompt edit: %w", err)
	}
	return text.String(), nil
}

// provideSystem gives a message of the template alone.
func (b *promptBuilder) provideSystem(part string) ([]llm.Message, error) {
	text, err := b.render(part, nil)
	return []llm.Message{{Role: llm.System, Text: text}}, err
}

// provideAgent says what the model is to do.
func provideAgent(b *promptBuilder) ([]llm.Message, error) { return b.provideSystem("system") }

// provideTools says how tools are used.
func provideTools(b *promptBuilder) ([]llm.Message, error) { return b.provideSystem("tools") }

// providePage injects the page, before any message of a user.
func providePage(b *promptBuilder) ([]llm.Message, error) {
	if b.changed || b.block == "" {
		return nil, nil
	}
	return []llm.Message{{Role: llm.User, Text: b.block}}, nil
}

// Bounds of what is shown of the thread.
const (
	maxTurns = 30
	maxTurn  = 4000 // letters
)

// provideThread shows what people said in the thread.
func provideThread(b *promptBuilder) ([]llm.Message, error) {
	messages := listMessages(b.state)
	messages = messages[max(len(messages)-maxTurns, 0):]
	if len(messages) == 0 {
		return nil, nil
	}
	shown := make([]flows.Said, len(messages))
	for i, message := range messages {
		shown[i] = flows.Said{Author: strings.ReplaceAll(message.Author, `"`, "'"), Text: shorten.Text(message.Text, maxTurn)}
	}
	text, err := b.render("thread", shown)
	return []llm.Message{{Role: llm.User, Text: text}}, err
}

// provideRequest gives what the person asked for, with the page behind it once that changed.
func provideRequest(b *promptBuilder) ([]llm.Message, error) {
	text, err := b.render("request", b.state.Proposal.Text)
	if b.changed && b.block != "" {
		text += "\n\n" + b.block
	}
	return []llm.Message{{Role: llm.User, Text: text}}, err
}

// provideRounds gives what the model did so far, and the results.
func provideRounds(b *promptBuilder) ([]llm.Message, error) {
	var messages []llm.Message
	for _, round := range b.state.Rounds {
		said := llm.Message{Role: llm.Assistant, Text: round.Text}
		for _, call := range round.Calls {
			said.Calls = append(said.Calls, llm.ToolCall{ID: call.ID, Name: call.Tool, Arguments: []byte(call.Arguments)})
		}
		messages = append(messages, said)
		for _, call := range round.Calls {
			messages = append(messages, llm.Message{Role: llm.ToolRole, CallID: call.ID, Text: prompt.Data(call.Result)})
		}
	}
	return messages, nil
}
