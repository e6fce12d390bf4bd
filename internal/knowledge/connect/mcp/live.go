package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/cairn-bot/cairn/internal/shorten"
)

// AnyReadOnly stands for all tools that the server marks as read-only, among the names of tools.
const AnyReadOnly = "read-only"

// Bounds of a search at question time.
const (
	liveTools    = 4 // of a server that are asked
	liveFindings = 20
	liveText     = 16 << 10 // bytes of one finding
	liveBytes    = 1 << 20  // of a message of the server
	liveQuestion = 1000     // bytes of a question that are sent
	liveIdle     = 5 * time.Minute
	maxToolPages = 20
)

// Live asks the search tools of a server when somebody asks a question. Its methods may be called
// concurrently. Close it.
type Live struct {
	source *Source
	names  []string // of tools, or AnyReadOnly

	mu      sync.Mutex
	session *session // nil: none is open
	tools   []liveTool
	faults  []error // tools that are not asked, and why
	uses    int     // searches that go on
	idle    *time.Timer
	closed  bool
}

// liveTool is a tool that takes a question.
type liveTool struct {
	name, title string
	parameter   string // that the question goes into
}

// Finding is what a tool gave. All of it is what the server says, shortened.
type Finding struct {
	Tool  string // its title
	Title string // "" where the server gives none
	URL   string // absolute and of the web, or ""
	Text  string
}

// NewLive makes what asks the tools of a server by their names, or those that it marks as
// read-only where a name is AnyReadOnly. Of the options, those of resources mean nothing.
func NewLive(options Options, tools []string) *Live {
	options.MaxBytes = liveBytes
	return &Live{source: New(options), names: tools}
}

// Search asks the tools, all at once, until ctx ends. What a tool does not give is among the
// errors, which are fit to show to a person; what others gave stands.
func (l *Live) Search(ctx context.Context, question string) ([]Finding, []error) {
	session, tools, faults, err := l.enter(ctx)
	if err != nil {
		return nil, []error{err}
	}
	defer l.leave()
	question = shorten.Text(question, liveQuestion)
	found, failed := make([][]Finding, len(tools)), make([]error, len(tools))
	var asking sync.WaitGroup
	for i, tool := range tools {
		asking.Go(func() { found[i], failed[i] = tool.ask(ctx, session, question) })
	}
	asking.Wait()
	for i, err := range failed {
		if err != nil {
			faults = append(faults, fmt.Errorf("the tool %s: %w", tools[i].name, err))
		}
	}
	all := slices.Concat(found...)
	return all[:min(len(all), liveFindings)], faults
}

// Close ends the connection to the server.
func (l *Live) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	l.endSession()
}

// endSession ends the session, with l.mu held.
func (l *Live) endSession() {
	if l.idle != nil {
		l.idle.Stop()
		l.idle = nil
	}
	if l.session != nil {
		l.session.close()
		l.session = nil
	}
}

// enter gives the open session with its tools. leave has to be called afterwards.
func (l *Live) enter(ctx context.Context) (*session, []liveTool, []error, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, nil, nil, errors.New("the connection is closed")
	}
	if l.session != nil && l.session.isOver() {
		l.endSession()
	}
	if l.session == nil {
		opened, err := l.source.open(ctx)
		if err != nil {
			return nil, nil, nil, err
		}
		listed, err := listTools(ctx, opened)
		if err != nil {
			opened.close()
			return nil, nil, nil, l.source.serverError(ctx, "list the tools", err)
		}
		l.session = opened
		l.tools, l.faults = chooseTools(listed, l.names)
	}
	if l.idle != nil {
		l.idle.Stop()
		l.idle = nil
	}
	l.uses++
	return l.session, l.tools, slices.Clone(l.faults), nil
}

func (l *Live) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.uses--
	if l.uses == 0 && l.session != nil {
		l.idle = time.AfterFunc(liveIdle, func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			if l.uses == 0 {
				l.endSession()
			}
		})
	}
}

// listTools gives the tools of the server.
func listTools(ctx context.Context, session *session) ([]*sdk.Tool, error) {
	var all []*sdk.Tool
	params := &sdk.ListToolsParams{}
	for range maxToolPages {
		page, err := session.ListTools(ctx, params)
		if err != nil {
			return nil, err
		}
		all = append(all, page.Tools...)
		if page.NextCursor == "" || page.NextCursor == params.Cursor {
			return all, nil
		}
		params.Cursor = page.NextCursor
	}
	return nil, fmt.Errorf("its list of tools has more than %d pages", maxToolPages)
}

// chooseTools gives the tools that are asked: those that are named, and with AnyReadOnly those that
// are marked as read-only and take a question. A named tool that can't be asked is among the errors.
func chooseTools(listed []*sdk.Tool, names []string) ([]liveTool, []error) {
	var chosen []liveTool
	var faults []error
	for _, tool := range listed {
		if tool == nil || tool.Name == "" {
			continue
		}
		named := slices.Contains(names, tool.Name)
		if !named && (!slices.Contains(names, AnyReadOnly) || tool.Annotations == nil || !tool.Annotations.ReadOnlyHint) {
			continue
		}
		parameter, ok := questionParameter(tool.InputSchema)
		switch {
		case ok:
			title := cmp.Or(tool.Title, tool.Name)
			if tool.Annotations != nil {
				title = cmp.Or(tool.Title, tool.Annotations.Title, tool.Name)
			}
			chosen = append(chosen, liveTool{name: shorten.Line(tool.Name, maxTitle), title: shorten.Line(title, maxTitle), parameter: parameter})
		case named:
			faults = append(faults, fmt.Errorf("the tool %s takes no question: want one required parameter that is a text", shorten.Line(tool.Name, maxTitle)))
		}
	}
	for _, name := range names {
		if name != AnyReadOnly && !slices.ContainsFunc(listed, func(t *sdk.Tool) bool { return t != nil && t.Name == name }) {
			faults = append(faults, fmt.Errorf("the server has no tool %s", name))
		}
	}
	if len(chosen) > liveTools {
		faults = append(faults, fmt.Errorf("%d of %d tools were not asked", len(chosen)-liveTools, len(chosen)))
		chosen = chosen[:liveTools]
	}
	return chosen, faults
}

// questionParameters are names of parameters that take a question, best first.
var questionParameters = []string{"query", "question", "q", "search", "search_query", "text", "keywords", "prompt"}

// questionParameter gives the parameter of a tool that takes a question: the only one that is
// required, or else, where none is, one with a usual name.
func questionParameter(schema any) (string, bool) {
	encoded, err := json.Marshal(schema)
	if err != nil {
		return "", false
	}
	var read struct {
		Properties map[string]struct {
			Type any   `json:"type"`
			Enum []any `json:"enum"`
		} `json:"properties"`
		Required []string `json:"required"`
	}
	if json.Unmarshal(encoded, &read) != nil {
		return "", false
	}
	takesText := func(name string) bool {
		property, ok := read.Properties[name]
		return ok && property.Type == "string" && len(property.Enum) == 0
	}
	switch {
	case len(read.Required) == 1:
		return read.Required[0], takesText(read.Required[0])
	case len(read.Required) > 1:
		return "", false
	}
	for _, name := range questionParameters {
		if takesText(name) {
			return name, true
		}
	}
	if names := slices.Collect(maps.Keys(read.Properties)); len(names) == 1 && takesText(names[0]) {
		return names[0], true
	}
	return "", false
}

// ask asks a tool.
func (t liveTool) ask(ctx context.Context, session *session, question string) ([]Finding, error) {
	result, err := session.CallTool(ctx, &sdk.CallToolParams{Name: t.name, Arguments: map[string]any{t.parameter: question}})
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return nil, errors.New("it did not answer in time")
	case err != nil:
		return nil, errors.New(shorten.Line(err.Error(), maxTitle))
	}
	found := readFindings(t.title, result)
	if result.IsError {
		reason := "it failed"
		if len(found) > 0 {
			reason += ": " + shorten.Line(found[0].Text, maxTitle)
		}
		return nil, errors.New(reason)
	}
	return found, nil
}

// readFindings reads what a tool gave: texts, resources, links, and lists of results in JSON.
func readFindings(tool string, result *sdk.CallToolResult) []Finding {
	var found []Finding
	add := func(title, address, text string) {
		if text = strings.TrimSpace(strings.ToValidUTF8(text, "")); text != "" && len(found) < liveFindings {
			found = append(found, Finding{Tool: tool, Title: shorten.Line(title, maxTitle), URL: webAddress(address), Text: shorten.Text(text, liveText)})
		}
	}
	for _, content := range result.Content {
		switch part := content.(type) {
		case *sdk.TextContent:
			if results, ok := readResults([]byte(part.Text)); ok {
				for _, one := range results {
					add(one.Title, one.address(), one.body())
				}
				continue
			}
			add("", "", part.Text)
		case *sdk.EmbeddedResource:
			if part.Resource != nil {
				add("", part.Resource.URI, part.Resource.Text)
			}
		case *sdk.ResourceLink:
			add(cmp.Or(part.Title, part.Name), part.URI, part.Description)
		}
	}
	if len(found) == 0 && result.StructuredContent != nil {
		if encoded, err := json.Marshal(result.StructuredContent); err == nil {
			results, _ := readResults(encoded)
			for _, one := range results {
				add(one.Title, one.address(), one.body())
			}
		}
	}
	return found
}

// webAddress gives an address of the web as it is, and "" for any other.
func webAddress(address string) string {
	parsed, err := url.Parse(address)
	if err != nil || parsed.Scheme != "https" && parsed.Scheme != "http" || parsed.Host == "" || parsed.User != nil || len(address) > maxURI || strings.ContainsAny(address, " <>\"\n\t") {
		return ""
	}
	return address
}

// listedResult is a result in a list, by the names of fields that search tools use.
type listedResult struct {
	Title       string `json:"title"`
	URL         string `json:"url"`
	Link        string `json:"link"`
	URI         string `json:"uri"`
	Text        string `json:"text"`
	Content     string `json:"content"`
	Snippet     string `json:"snippet"`
	Description string `json:"description"`
	Summary     string `json:"summary"`
}

func (r listedResult) address() string { return cmp.Or(r.URL, r.Link, r.URI) }

func (r listedResult) body() string {
	return cmp.Or(r.Text, r.Content, r.Snippet, r.Description, r.Summary)
}

// readResults reads a list of results in JSON, alone or as the field results.
func readResults(text []byte) ([]listedResult, bool) {
	var results []listedResult
	if json.Unmarshal(text, &results) == nil && len(results) > 0 {
		return results, true
	}
	var whole struct {
		Results []listedResult `json:"results"`
	}
	if json.Unmarshal(text, &whole) == nil && len(whole.Results) > 0 {
		return whole.Results, true
	}
	return nil, false
}
