package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cairn-bot/cairn/docs"
	"github.com/cairn-bot/cairn/internal/app"
	"github.com/cairn-bot/cairn/internal/config"
	"github.com/cairn-bot/cairn/internal/document/verification"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/graph/flows/answer"
	"github.com/cairn-bot/cairn/internal/graph/flows/answer/prompts"
	"github.com/cairn-bot/cairn/internal/knowledge/ingest"
	"github.com/cairn-bot/cairn/internal/llm"
	"github.com/cairn-bot/cairn/internal/llm/gate"
	"github.com/cairn-bot/cairn/internal/llm/openai"
)

// playLimit is how long playing questions through the models may take.
const playLimit = 15 * time.Minute

// trialQuestion is a question that the doctor plays through the models, over Cairn's own
// documentation.
type trialQuestion struct {
	request flows.Request
	steps   bool // its answer is a list of steps
	absent  bool // the documentation does not answer it
}

// trialQuestions need steps, a comparison, the thread before them, one value, and an honest no.
func trialQuestions() []trialQuestion {
	return []trialQuestion{
		{request: flows.Request{Text: "How do I create the Slack app, step by step?"}, steps: true},
		{request: flows.Request{Text: "What is the difference between cairn ask and cairn chat?"}},
		{request: flows.Request{Text: "And which exit code does that have when it asks back?", History: []flows.Turn{
			{Role: flows.User, Text: "How do I ask from a script?"}, {Role: flows.Assistant, Text: "With `cairn ask QUESTION`; `--json` gives data [1]."},
		}}},
		{request: flows.Request{Text: "How long is a language model left alone after failures in a row?"}},
		{request: flows.Request{Text: "Who won the office table tennis tournament in Lisbon?"}, absent: true},
	}
}

// playedCall is a request to a model while questions are played.
type playedCall struct {
	question   int // from 0
	structured bool
	reply      llm.Reply
	failure    llm.Failure // "" for none
	usage      llm.Usage
	pieces     int // in which a reply was streamed
}

// playedModel passes requests on to a model and keeps what came of them.
type playedModel struct {
	llm.Model
	configured config.Model
	mu         sync.Mutex
	question   int
	calls      []playedCall
}

// expect tells which question is played next.
func (m *playedModel) expect(question int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.question = question
}

// Chat implements llm.Model.
func (m *playedModel) Chat(ctx context.Context, request llm.Request, onToken func(string)) (llm.Reply, error) {
	call := playedCall{structured: request.Schema != nil}
	counted := onToken
	if onToken != nil {
		counted = func(text string) {
			call.pieces++
			onToken(text)
		}
	}
	reply, err := m.Model.Chat(ctx, request, counted)
	call.reply, call.usage = reply, reply.Usage
	if failure, ok := errors.AsType[*llm.Error](err); ok {
		call.failure, call.usage = failure.Failure, failure.Usage
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	call.question = m.question
	m.calls = append(m.calls, call)
	return reply, err
}

// playModels plays five questions through the configured models, together as they answer, over
// Cairn's own documentation, and says how each did.
func playModels(ctx context.Context, configured config.Config, std stdio) []finding {
	failed := func(err error) []finding {
		return []finding{{What: "five questions", Problem: err, Remedy: "look at the models' addresses, names and keys, and at the space of the temporary folder"}}
	}
	models := slices.DeleteFunc(slices.Clone(configured.Models), func(m config.Model) bool { return m.Has(config.RoleEmbed) })
	if len(models) == 0 {
		return []finding{{What: "five questions", Told: "not played: no model holds conversations (see docs/models.md)"}}
	}
	dir, err := os.MkdirTemp("", "cairn-doctor-")
	if err != nil {
		return failed(err)
	}
	played, credulous, err := playIn(ctx, dir, configured, models, std)
	if err = errors.Join(err, os.RemoveAll(dir)); err != nil {
		return failed(err)
	}
	var found []finding
	for _, m := range played {
		found = append(found, m.judge(credulous)...)
	}
	return found
}

// playIn plays the questions over an index in a folder; credulous tells that what verifies
// took for supported what no source has.
func playIn(ctx context.Context, dir string, configured config.Config, models []config.Model, std stdio) (played []*playedModel, credulous bool, err error) {
	unpacked := filepath.Join(dir, "docs")
	if err := os.CopyFS(unpacked, fs.FS(docs.Files)); err != nil {
		return nil, false, fmt.Errorf("unpack the documentation: %w", err)
	}
	configured.DataDir, configured.Postgres.Address, configured.Models = dir, config.Address{}, nil
	ctx = asOperator(ctx)
	library, err := app.OpenLibrary(ctx, app.NewSetup(configured, std.Err), app.WriteIndex)
	if err != nil {
		return nil, false, err
	}
	defer func() { err = closeAfter(err, library) }()
	reading := &ingest.Ingester{Index: library.Index}
	if _, err := reading.Sync(ctx, app.NewConnector("", config.Source{Name: "docs", Path: unpacked})); err != nil {
		return nil, false, err
	}
	var roles answer.Models
	for _, m := range models {
		model, err := openai.New(app.ModelOptions(m, gate.Options{Budget: gate.NewBudget(gate.Allowance(configured.Budget))}, nil))
		if err != nil {
			return nil, false, err
		}
		one := &playedModel{Model: model, configured: m}
		played = append(played, one)
		assignRoles(&roles, m, one)
	}
	flow, err := app.NewAnswers(library, roles, app.Tuning{})
	if err != nil {
		return nil, false, err
	}
	defer func() { err = errors.Join(err, app.CloseAnswers(ctx, flow)) }()
	for n, trial := range trialQuestions() {
		for _, m := range played {
			m.expect(n)
		}
		trial.request.Run = fmt.Sprintf("doctor-%d", n+1)
		outcome, err := flow.Start(ctx, trial.request, flows.Runtime{})
		if err != nil {
			return nil, false, fmt.Errorf("question %d: %w", n+1, err)
		}
		credulous = credulous || slices.ContainsFunc(outcome.Trace.Notes, func(note string) bool { return strings.Contains(note, verification.CredulousRemark) })
	}
	return played, credulous, nil
}

// assignRoles has a model play its roles.
func assignRoles(roles *answer.Models, configured config.Model, model llm.Model) {
	for _, role := range configured.Roles {
		switch role {
		case config.RoleUnderstand:
			roles.Understand = model
		case config.RoleAnswer:
			roles.Answer = model
		case config.RoleVerify:
			roles.Verify = model
		case config.RoleEmbed:
		}
	}
}

// judge says how a model did.
func (m *playedModel) judge(credulous bool) []finding {
	var written, structured []playedCall
	for _, call := range m.calls {
		if call.structured {
			structured = append(structured, call)
		} else {
			written = append(written, call)
		}
	}
	found := []finding{m.judgeReplies()}
	if len(written) > 0 {
		found = append(found, judgeCitations(written), judgeForm(written), judgeStreaming(written))
	}
	if len(structured) > 0 {
		found = append(found, judgeStructures(structured))
	}
	if credulous && m.configured.Has(config.RoleVerify) {
		found = append(found, finding{
			What: "judgement", Problem: errors.New("it takes for supported what no source has"), Minor: true,
			Remedy: "give the role verify to another model: without one, words alone are compared",
		})
	}
	found = append(found, m.judgeSpeed(), m.judgeCost())
	for i := range found {
		found[i].What = "model " + printable(m.configured.Name) + ", " + found[i].What
	}
	return found
}

// judgeReplies says whether requests were answered at all, and what to set where they were not.
func (m *playedModel) judgeReplies() finding {
	failures := make(map[llm.Failure]int)
	cut := 0
	for _, call := range m.calls {
		if call.failure != "" && call.failure != llm.Invalid {
			failures[call.failure]++
		}
		if call.reply.Finish == llm.Length {
			cut++
		}
	}
	remedies := []struct {
		failure llm.Failure
		remedy  string
	}{
		{llm.Rejected, "check the model's address, name and key"},
		{llm.Unavailable, "look whether the server runs, and what it logs"},
		{llm.Slow, "raise first_token_timeout and timeout, or give the role understand, which waits 5 s, to a faster model"},
		{llm.Limited, "set requests_per_minute and tokens_per_minute to what the server allows"},
		{llm.TooLong, "set context to what the server really has: 8192 or more lets all sources in"},
		{llm.OverBudget, "raise budget.run_tokens and budget.run_cost"},
		{llm.Refused, "the server's filter or the model declines: try another model"},
	}
	for _, r := range remedies {
		if n := failures[r.failure]; n > 0 {
			return finding{What: "replies", Problem: fmt.Errorf("%d of %s failed: %s", n, count(len(m.calls), "request"), r.failure), Remedy: r.remedy}
		}
	}
	if cut > 0 {
		return finding{
			What: "replies", Problem: fmt.Errorf("to %d of %s the reply was cut at its limit of tokens", cut, count(len(m.calls), "request")), Minor: true,
			Remedy: fmt.Sprintf("raise max_reply (now %d); a model that reasons needs several thousand tokens", m.configured.MaxReply),
		}
	}
	return finding{What: "replies", Told: "a reply to each of " + count(len(m.calls), "request")}
}

var citation = regexp.MustCompile(`\[\^?(?:Source )?\d{1,3}(?:, ?\d{1,3})*\]|【\d{1,3}】`)

// judgeCitations says whether answers name their sources.
func judgeCitations(written []playedCall) finding {
	answers, cited := 0, 0
	for _, call := range written {
		if call.failure != "" || strings.HasPrefix(strings.TrimSpace(call.reply.Text), prompts.Sentinel) {
			continue
		}
		answers++
		if citation.MatchString(call.reply.Text) {
			cited++
		}
	}
	told := fmt.Sprintf("%d of %s name their sources", cited, count(answers, "answer"))
	if answers > 0 && 2*cited >= answers {
		return finding{What: "citations", Told: told}
	}
	return finding{
		What: "citations", Problem: errors.New(told), Minor: true,
		Remedy: "statements are checked against the passages that fit them best, and more are marked: a larger model, or temperature: 0, cites better",
	}
}

var numberedStep = regexp.MustCompile(`(?m)^\s*\d+[.)] `)

// judgeForm says whether answers have the form that they are asked for.
func judgeForm(written []playedCall) finding {
	var missed []string
	trials := trialQuestions()
	for _, call := range written {
		text := strings.TrimSpace(call.reply.Text)
		trial := trials[call.question]
		switch {
		case call.failure != "":
		case trial.absent && !strings.HasPrefix(text, prompts.Sentinel):
			missed = append(missed, "it answers what the documents don't tell")
		case trial.steps && !strings.HasPrefix(text, prompts.Sentinel) && !numberedStep.MatchString(text):
			missed = append(missed, "steps are no numbered list")
		}
	}
	if len(missed) == 0 {
		return finding{What: "form", Told: "as asked for"}
	}
	return finding{What: "form", Problem: errors.New(strings.Join(missed, "; ")), Minor: true, Remedy: "try temperature: 0; a larger model follows instructions better"}
}

// judgeStreaming says whether answers come in pieces.
func judgeStreaming(written []playedCall) finding {
	for _, call := range written {
		if call.pieces > 1 {
			return finding{What: "streaming", Told: "answers are shown while they are written"}
		}
	}
	return finding{What: "streaming", Problem: errors.New("replies come whole"), Minor: true, Remedy: "people wait for the last word: turn streaming on at the server, or at the proxy in front of it"}
}

// judgeStructures says whether replies that have to be JSON are.
func judgeStructures(structured []playedCall) finding {
	broken, repaired := 0, 0
	for _, call := range structured {
		switch {
		case call.failure == llm.Invalid:
			broken++
		case call.usage.Requests > 1:
			repaired++
		}
	}
	switch {
	case broken > 0:
		return finding{
			What: "structures", Problem: fmt.Errorf("to %d of %s the reply can't be read as the JSON that was asked for", broken, count(len(structured), "request")), Minor: true,
			Remedy: "give the roles understand and verify to a model that keeps to JSON, or leave them out: rules do their work then",
		}
	case repaired > 0:
		return finding{What: "structures", Told: fmt.Sprintf("valid; %d of %s had to be sent more than once", repaired, count(len(structured), "request"))}
	}
	return finding{What: "structures", Told: "valid"}
}

// judgeSpeed says how fast replies come, and which time-outs suit that.
func (m *playedModel) judgeSpeed() finding {
	var first []time.Duration
	var spent time.Duration
	tokens := 0
	for _, call := range m.calls {
		if call.failure == "" && call.usage.FirstToken > 0 {
			first = append(first, call.usage.FirstToken)
			spent += call.usage.Took - call.usage.FirstToken
			tokens += call.usage.Completion
		}
	}
	if len(first) == 0 {
		return finding{What: "speed", Told: "not measured: no reply came"}
	}
	slices.Sort(first)
	told := fmt.Sprintf("first token after %s in the middle, %s at the most", first[len(first)/2].Round(time.Millisecond), first[len(first)-1].Round(time.Millisecond))
	if spent > 0 {
		told += fmt.Sprintf("; %.0f tokens/s", float64(tokens)/spent.Seconds())
	}
	if slowest := first[len(first)-1]; slowest > m.configured.FirstTokenTimeout/2 {
		return finding{What: "speed", Problem: errors.New(told), Minor: true, Remedy: fmt.Sprintf("set first_token_timeout to %s or more (now %s)", (3 * slowest).Round(time.Second), m.configured.FirstTokenTimeout)}
	}
	return finding{What: "speed", Told: told}
}

// judgeCost says what the questions took.
func (m *playedModel) judgeCost() finding {
	prompt, completion, cost, estimated := 0, 0, 0.0, false
	for _, call := range m.calls {
		prompt, completion, cost = prompt+call.usage.Prompt, completion+call.usage.Completion, cost+call.usage.Cost
		estimated = estimated || call.usage.Estimated
	}
	questions := len(trialQuestions())
	told := fmt.Sprintf("%d tokens of prompts and %d of replies a question", prompt/questions, completion/questions)
	if estimated {
		told += ", estimated: the server does not count"
	}
	if m.configured.PricePrompt+m.configured.PriceCompletion > 0 {
		told += fmt.Sprintf("; %.4f a question at the configured prices", cost/float64(questions))
	}
	if m.configured.Temperature == nil {
		told += "; temperature: 0 makes answers steadier, where the model takes one"
	}
	return finding{What: "cost", Told: told}
}
