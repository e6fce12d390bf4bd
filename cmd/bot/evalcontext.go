package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/cairn-bot/cairn/internal/app"
	"github.com/cairn-bot/cairn/internal/config"
	"github.com/cairn-bot/cairn/internal/eval"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/graph/flows/answer"
	"github.com/cairn-bot/cairn/internal/graph/flows/answer/prompts"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/connect/files"
	"github.com/cairn-bot/cairn/internal/llm"
	"github.com/cairn-bot/cairn/internal/llm/openai"
)

// promptRecorder stands in for the models that read questions and write answers: it notes who
// asks to read, which it fails to, keeps what an answer is written from, and says that the
// sources hold none. It counts tokens as OpenAI's models do.
type promptRecorder struct {
	llm.Model
	mu    sync.Mutex
	shown map[string]llm.Request // by run
	asked map[string]time.Time   // the same: when it was asked
	read  map[string]bool        // the same: whether it was to read the question
}

func newPromptRecorder() (*promptRecorder, error) {
	counting, err := openai.New(openai.Options{Model: "gpt-4o", Context: 128_000, MaxReply: 8_000})
	return &promptRecorder{Model: counting, shown: make(map[string]llm.Request), asked: make(map[string]time.Time), read: make(map[string]bool)}, err
}

// Chat keeps the request.
func (r *promptRecorder) Chat(_ context.Context, request llm.Request, _ func(string)) (llm.Reply, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if request.Schema != nil {
		r.read[request.Run] = true
		return llm.Reply{}, &llm.Error{Failure: llm.Unavailable, Cause: errors.New("no model reads questions")}
	}
	r.shown[request.Run], r.asked[request.Run] = request, time.Now()
	return llm.Reply{Text: prompts.Sentinel, Finish: llm.Stop}, nil
}

// measureContext measures what a model is shown for the first messages of a set: those that
// are to be answered, have facts, and lean on nothing before them.
func (c *evalCommand) measureContext(ctx context.Context, in *invocation, configured config.Config, set questionSet) (report eval.Report, err error) {
	questions, root, halves, err := contextQuestions(set)
	if err != nil {
		return eval.Report{}, err
	}
	ctx = asOperator(ctx)
	configured.DataDir = filepath.Join(configured.DataDir, "eval", filepath.Base(set.dir))
	a, err := c.open(ctx, in, configured)
	if err != nil {
		return eval.Report{}, err
	}
	defer func() { err = closeAfter(err, a) }()
	if err := c.sync(ctx, in, a, files.New(files.Options{Root: root, Source: pagesSource, Include: topFolders(questions)})); err != nil {
		return eval.Report{}, err
	}
	recorder, err := newPromptRecorder()
	if err != nil {
		return eval.Report{}, err
	}
	flow, err := app.NewAnswers(a.Library, answer.Models{Understand: recorder, Answer: recorder}, app.Tuning{})
	if err != nil {
		return eval.Report{}, err
	}
	defer func() { err = errors.Join(err, app.CloseAnswers(ctx, flow)) }()
	var scores []eval.ContextScore
	for _, q := range questions {
		begun := time.Now()
		outcome, err := flow.Start(ctx, flows.Request{Run: evalRun(q), Text: q.Question, Depth: flows.Detailed}, flows.Runtime{})
		if err != nil {
			return eval.Report{}, err
		}
		request, ok := recorder.shown[evalRun(q)]
		if !ok { // the rules ask back
			continue
		}
		score, err := recorder.scoreContext(ctx, a, q, request, outcome.Trace.Evidence)
		if err != nil {
			return eval.Report{}, err
		}
		score.Read = recorder.read[evalRun(q)]
		score.Took = float64(recorder.asked[evalRun(q)].Sub(begun)) / float64(time.Millisecond)
		scores = append(scores, score)
		c.listContext(in.std.Err, score)
	}
	return eval.ReportContexts(scores, halves), nil
}

// listContext prints a question's line, with --by-kind.
func (c *evalCommand) listContext(out io.Writer, s eval.ContextScore) {
	if c.ByKind {
		fmt.Fprintf(out, "%s\t%.0f\t%.0f\t%.2f\t%.0f\t%.2f\n", s.ID, s.Tokens, s.Sources, s.Facts, s.BaseTokens, s.BaseFacts)
	}
}

// contextQuestions gives the questions of a set whose context is measured.
func contextQuestions(set questionSet) (questions []eval.Question, root string, halves map[string]int, err error) {
	var all []eval.Question
	switch set.form {
	case eval.FormTalk:
		items, err := eval.LoadTalk(set.dir)
		if err != nil {
			return nil, "", nil, err
		}
		for _, item := range items {
			if len(item.Thread) == 0 && item.Forwarded == nil && item.OpenQuestion == nil {
				all = append(all, item.AsQuestion())
			}
		}
		halves = eval.Halves(items)
		if root, err = eval.FindTalkPages(set.dir); err != nil {
			return nil, "", nil, err
		}
	case eval.FormAnswers:
		if all, err = eval.LoadQuestions(set.dir); err != nil {
			return nil, "", nil, err
		}
		halves = eval.HalvesOfQuestions(all)
		if root, err = eval.FindPages(set.dir, all); err != nil {
			return nil, "", nil, err
		}
	default:
		return nil, "", nil, fmt.Errorf("--context: %s has no questions with facts: name the folder of questions.jsonl or of talk.jsonl", set.dir)
	}
	for _, q := range all {
		if q.Expect == eval.DecisionAnswer && len(q.Facts) > 0 && len(q.History) == 0 {
			questions = append(questions, q)
		}
	}
	return questions, root, halves, nil
}

// sourcesBlock is what holds the sources in a prompt.
var sourcesBlock = regexp.MustCompile(`(?s)<sources>.*</sources>`)

// plainSources is how many passages a plain choice shows.
const plainSources = 12

// scoreContext compares what a model was shown with the best passages as they stand.
func (r *promptRecorder) scoreContext(ctx context.Context, a *measuredLibrary, q eval.Question, request llm.Request, found []flows.Candidate) (eval.ContextScore, error) {
	said := request.Messages[len(request.Messages)-1].Text
	shown := sourcesBlock.FindString(said)
	plain, err := plainBlock(ctx, a, found[:min(len(found), plainSources)])
	if err != nil {
		return eval.ContextScore{}, err
	}
	tokens := llm.PromptTokens(r, request)
	return eval.ContextScore{
		ID: q.ID, Tokens: float64(tokens), Sources: float64(strings.Count(shown, "\n</source>")), Facts: eval.ShareOfFacts(q.Facts, shown),
		BaseTokens: float64(tokens - r.Tokens(shown) + r.Tokens(plain)), BaseFacts: eval.ShareOfFacts(q.Facts, plain),
	}, nil
}

// plainBlock gives passages as the sources of a prompt.
func plainBlock(ctx context.Context, a *measuredLibrary, found []flows.Candidate) (string, error) {
	var ids []knowledge.PassageID
	for _, candidate := range found {
		ids = append(ids, candidate.Passage)
	}
	passages, err := a.Index.Passages(ctx, ids)
	if err != nil {
		return "", fmt.Errorf("read the passages: %w", err)
	}
	var sources []prompts.Source
	for _, p := range passages {
		source := prompts.Source{Number: len(sources) + 1, Title: p.Document.Title, Section: p.Passage.Section(), Text: p.Passage.Text}
		if !p.Document.Modified.IsZero() {
			source.Modified = p.Document.Modified.Format("2006-01-02")
		}
		sources = append(sources, source)
	}
	messages, err := prompts.Answer{Sources: sources, Question: "?", Length: "?"}.Messages()
	if err != nil {
		return "", err
	}
	return sourcesBlock.FindString(messages[len(messages)-1].Text), nil
}
