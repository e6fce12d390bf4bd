package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/adapters/terminal"
	"github.com/cairn-bot/cairn/internal/app"
	"github.com/cairn-bot/cairn/internal/config"
	"github.com/cairn-bot/cairn/internal/eval"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/graph/flows/answer"
	"github.com/cairn-bot/cairn/internal/graph/flows/answer/quoting"
	"github.com/cairn-bot/cairn/internal/knowledge/connect"
	"github.com/cairn-bot/cairn/internal/knowledge/connect/files"
)

type evalCommand struct {
	Set      string `arg:"" name:"SET" help:"Folder of a question set: questions.jsonl or talk.jsonl beside its documents, or tasks.jsonl. Or a folder of such sets. The word routing: the messages in this program, and which flow each is for. The word talk, before the folder of a talk set. The word replies, before the folder of replies.jsonl."`
	Folder   string `arg:"" name:"FOLDER" optional:"" help:"Behind the word talk or replies: the folder of the set."`
	Answers  string `placeholder:"FILE" help:"Also write every answer, a JSON object a line."`
	ByKind   bool   `help:"Also measure each kind of question alone."`
	JSON     bool   `help:"Print data instead of a table."`
	Postgres bool   `help:"Measure in the database of postgres.url, which must hold no other documents: it is emptied for each set."`
	Split    bool   `help:"Also measure each half of a talk set alone; both have the same kinds and languages."`
	// FitQuotes is how internal/graph/flows/answer/quoting/weights.json is made.
	FitQuotes string            `placeholder:"FILE" help:"Fit the weights by which quotes are chosen on the sets with questions.jsonl or talk.jsonl, print how they do on each half when fitted on the other, and write them to a file."`
	examples  []quoting.Example // for FitQuotes
	// The judgement decides when to ask back and when to decline.
	Fit       string `placeholder:"FILE" help:"Fit what decides when to ask back and when to decline on these sets, print how it does on each half when fitted on the other, and write it; what a half was left out of goes beside it."`
	Judgement string `placeholder:"FILE" help:"Decide by what --fit wrote."`

	FitOrder  string `placeholder:"FILE" help:"Fit the weights by which evidence is put in order on these sets, print how they do on each half when fitted on the other, and write them to a file."`
	Documents string `placeholder:"FOLDER" help:"The pages that replies cite."`
	Outcomes  string `placeholder:"FILE" help:"Also write what became of each unit of the replies, a JSON object a line."`
	Verifier  string `enum:"honest,full,none" placeholder:"honest|full|none" default:"honest" help:"Verify replies by their labels, by a model that says that all is supported, or by words alone."`
	// FitSupport is how internal/knowledge/support/weights.json is made.
	FitSupport string `placeholder:"FILE" help:"Fit the check by words whether a source supports a statement, on the replies and the claims of --claims, print how it does on each tenth of the documents where it was fitted on the others, and write it."`
	Context    bool   `help:"Measure what a model is shown for the first messages of sets with facts: the tokens of an answer's prompt, and the part of the facts that stand in its sources, beside those of the twelve best passages as they stand."`
	Claims     string `placeholder:"FOLDER" help:"The folder of claims.jsonl, for --fit-support."`
	// Also are folders of replies by those of the pages which they cite.
	Also map[string]string `placeholder:"PAGES=FOLDER" help:"Fit the check by words on the replies of these folders as well, which cite pages of other projects."`

	judged  []judgedQuestion  // of all sets so far
	ordered []orderedQuestion // the same
}

// evalOutput is what --json prints for one set.
type evalOutput struct {
	Set string `json:"set"`
	eval.Report
}

// Run measures each set on an index of its own, which is kept in the data directory
// so that a second run need not embed again.
func (c *evalCommand) Run(ctx context.Context, in *invocation) error {
	if c.Set == routingSet {
		return c.evalRouting(ctx, in.std.Out)
	}
	if c.Set == repliesSet {
		return c.evalReplies(ctx, in.std.Out)
	}
	configured, err := in.configuration()
	if err != nil {
		return err
	}
	sets, err := c.findSets()
	if err != nil {
		return err
	}
	var outputs []evalOutput
	for _, set := range sets {
		report, err := c.measure(ctx, in, configured, set)
		if err != nil {
			return fmt.Errorf("evaluate %s: %w", set.dir, err)
		}
		outputs = append(outputs, evalOutput{Set: filepath.Base(set.dir), Report: report})
		if !c.JSON {
			fmt.Fprintf(in.std.Out, "%s\n%s\n", filepath.Base(set.dir), report.Table())
		}
	}
	if c.FitQuotes != "" {
		if err := c.fitQuotes(in.std.Out); err != nil {
			return err
		}
	}
	if c.FitOrder != "" {
		if err := c.fitOrder(in.std.Out); err != nil {
			return err
		}
	}
	if c.Fit != "" {
		return c.fit(in.std.Out)
	}
	if !c.JSON {
		return nil
	}
	encoder := json.NewEncoder(in.std.Out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(outputs)
}

type questionSet struct {
	dir  string
	form eval.Form
}

// findSets gives the sets that the arguments name.
func (c *evalCommand) findSets() ([]questionSet, error) {
	switch {
	case c.Folder == "":
		return findSets(c.Set)
	case c.Set != talkSet:
		return nil, fmt.Errorf("unexpected argument %q: only the word %s stands before a folder", c.Folder, talkSet)
	}
	sets, err := findSets(c.Folder)
	if err != nil {
		return nil, err
	}
	for _, set := range sets {
		if set.form != eval.FormTalk {
			return nil, fmt.Errorf("%s is no talk set: name a folder that holds talk.jsonl beside a folder of documents", set.dir)
		}
	}
	return sets, nil
}

// findSets gives the set in a folder, or those in the folders below it.
func findSets(dir string) ([]questionSet, error) {
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	form, detectErr := eval.Detect(absolute)
	if detectErr == nil {
		return []questionSet{{absolute, form}}, nil
	}
	entries, err := os.ReadDir(absolute)
	if err != nil {
		return nil, detectErr
	}
	var sets []questionSet
	for _, entry := range entries {
		below := filepath.Join(absolute, entry.Name())
		if form, err := eval.Detect(below); entry.IsDir() && err == nil {
			sets = append(sets, questionSet{below, form})
		}
	}
	if len(sets) == 0 {
		return nil, detectErr
	}
	return sets, nil
}

func (c *evalCommand) measure(ctx context.Context, in *invocation, configured config.Config, set questionSet) (report eval.Report, err error) {
	if c.Context {
		return c.measureContext(ctx, in, configured, set)
	}
	ctx = asOperator(ctx)
	configured.DataDir = filepath.Join(configured.DataDir, "eval", filepath.Base(set.dir))
	a, err := c.open(ctx, in, configured)
	if err != nil {
		return eval.Report{}, err
	}
	defer func() { err = closeAfter(err, a) }()
	switch set.form {
	case eval.FormClarify:
		return c.measureDecisions(ctx, in, a, set)
	case eval.FormTalk:
		return c.measureTalk(ctx, in, a, set)
	default:
		return c.measureAnswers(ctx, in, a, set)
	}
}

// measuredLibrary is the index that a set is measured on.
type measuredLibrary struct {
	*app.Library
	tuning app.Tuning // of the flow that is measured
}

// newAnswers makes the flow that is measured, with the configured models.
func (l *measuredLibrary) newAnswers() (*answer.Flow, error) {
	models, err := app.NewModels(l.Setup)
	if err != nil {
		return nil, err
	}
	return app.NewAnswers(l.Library, models.Models, l.tuning)
}

// openMeasured opens an index that a set is measured on.
func openMeasured(ctx context.Context, configured config.Config, std stdio, mode app.IndexMode) (*measuredLibrary, error) {
	library, err := app.OpenLibrary(ctx, app.NewSetup(configured, std.Err), mode)
	if err != nil {
		return nil, err
	}
	return &measuredLibrary{Library: library}, nil
}

// open opens the index that a set is measured on: one of its own in the data directory,
// or the configured database, if no documents but those of sets are in it.
func (c *evalCommand) open(ctx context.Context, in *invocation, configured config.Config) (*measuredLibrary, error) {
	if !c.Postgres {
		configured.Postgres.Address = config.Address{}
		return openMeasured(ctx, configured, in.std, app.WriteIndex)
	}
	if configured.Postgres.URL.IsZero() {
		return nil, errors.New("--postgres: postgres.url names no database")
	}
	a, err := openMeasured(ctx, configured, in.std, app.WriteIndex)
	if err != nil {
		return nil, err
	}
	for document, err := range a.Index.Documents(ctx, "") {
		if err == nil && document.Source != eval.CorpusSource && document.Source != pagesSource {
			err = fmt.Errorf("--postgres: the database holds documents of the source %s: create one for measuring alone", document.Source)
		}
		if err != nil {
			return nil, closeAfter(err, a)
		}
	}
	if err := a.Close(); err != nil {
		return nil, err
	}
	return openMeasured(ctx, configured, in.std, app.RebuildIndex)
}

// sync reads a set's documents; one that can't be read would make every number wrong.
func (c *evalCommand) sync(ctx context.Context, in *invocation, a *measuredLibrary, connector connect.Connector) error {
	bar := newBar(in.std.Err, string(connector.Source()), terminal.IsTerminal(in.std.Err))
	report, err := a.Ingester(bar.observe).Sync(ctx, connector)
	bar.finish()
	if err == nil && len(report.Failures) > 0 {
		err = fmt.Errorf("%s: %w", report.Failures[0].Path, report.Failures[0].Reason)
	}
	return err
}

// pagesSource is the source of the pages beside a set.
const pagesSource = "pages"

func (c *evalCommand) measureAnswers(ctx context.Context, in *invocation, a *measuredLibrary, set questionSet) (eval.Report, error) {
	questions, err := eval.LoadQuestions(set.dir)
	if err != nil {
		return eval.Report{}, err
	}
	root, err := eval.FindPages(set.dir, questions)
	if err != nil {
		return eval.Report{}, err
	}
	source := files.New(files.Options{Root: root, Source: pagesSource, Include: topFolders(questions)})
	if err := c.sync(ctx, in, a, source); err != nil {
		return eval.Report{}, err
	}
	observed := c.observeOrder(a)
	answers, err := c.collect(ctx, a, filepath.Base(set.dir), questions)
	if err != nil {
		return eval.Report{}, err
	}
	pages, err := eval.OpenPages(root)
	if err != nil {
		return eval.Report{}, err
	}
	halves := eval.HalvesOfQuestions(questions)
	for _, q := range questions {
		if err := c.keepOrdered(orderedQuestion{set: filepath.Base(set.dir), half: halves[q.ID]}, observed.of(evalRun(q)), q.Gold, pages); err != nil {
			return eval.Report{}, errors.Join(err, pages.Close())
		}
	}
	scores, err := eval.Score(questions, answers, pages)
	return scores.Report(c.ByKind), errors.Join(err, pages.Close())
}

// measureDecisions runs the conversations of a clarify set over an index of all their
// passages.
func (c *evalCommand) measureDecisions(ctx context.Context, in *invocation, a *measuredLibrary, set questionSet) (eval.Report, error) {
	loaded, err := eval.LoadClarify(set.dir)
	if err != nil {
		return eval.Report{}, err
	}
	if err := c.sync(ctx, in, a, &eval.Corpus{Documents: loaded.Documents()}); err != nil {
		return eval.Report{}, err
	}
	answers, err := c.collect(ctx, a, filepath.Base(set.dir), loaded.Questions)
	if err != nil {
		return eval.Report{}, err
	}
	return loaded.ScoreDecisions(answers)
}

// collect asks the flow every question, and keeps the answers if that was asked for.
func (c *evalCommand) collect(ctx context.Context, a *measuredLibrary, set string, questions []eval.Question) (answers []eval.Answer, err error) {
	halves := eval.HalvesOfQuestions(questions)
	examples := &quoteExamples{set: set, halves: halves}
	a.tuning.Quoting = examples.observe
	if a.tuning.Judgement, err = c.readJudgement(); err != nil {
		return nil, err
	}
	flow, err := a.newAnswers()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, app.CloseAnswers(ctx, flow)) }()
	defer func() { c.examples = append(c.examples, examples.collected()...) }()
	answers, err = eval.Collect(ctx, questions, func(ctx context.Context, q eval.Question) (eval.Answer, error) {
		examples.expect(q)
		answered, inputs, err := askFlow(ctx, flow, q)
		c.keepJudged(judgedQuestion{set: set, half: halves[q.ID], expect: eval.Reaction(q.Expect)}, inputs)
		return answered, err
	})
	if err != nil {
		return nil, err
	}
	return answers, c.writeAnswers(answers)
}

// topFolders gives the globs of the folders that the questions' pages are in, so that
// what lies beside them is not read.
func topFolders(questions []eval.Question) []string {
	var globs []string
	for _, q := range questions {
		for _, gold := range q.Gold {
			glob := gold.Path
			if top, _, nested := strings.Cut(gold.Path, "/"); nested {
				glob = path.Join(top, "**")
			}
			if !slices.Contains(globs, glob) {
				globs = append(globs, glob)
			}
		}
	}
	return globs
}

// maxSources is how many passages of the retriever's order an answers file holds.
const maxSources = 10

func evalRun(q eval.Question) string { return "eval-" + q.ID }

// askFlow runs one question of a set through the flow. It also gives what asking and
// abstaining were decided from.
func askFlow(ctx context.Context, flow flows.Flow, q eval.Question) (eval.Answer, []flows.Input, error) {
	request := flows.Request{Run: evalRun(q), Text: q.Question, Depth: flows.Detailed}
	for _, turn := range q.History {
		request.History = append(request.History, flows.Turn{Role: turn.Role, Text: turn.Text})
	}
	outcome, err := flow.Start(ctx, request, flows.Runtime{})
	if err != nil {
		return eval.Answer{}, nil, err
	}
	answered := eval.Answer{
		ID: q.ID, Answer: outcome.Text,
		Asked: outcome.Kind == flows.Asked, Abstained: outcome.Kind == flows.Abstained,
	}
	for _, candidate := range outcome.Trace.Evidence[:min(len(outcome.Trace.Evidence), maxSources)] {
		answered.Sources = append(answered.Sources, eval.Source{
			Place: eval.Place{Path: candidate.Path, Anchor: candidate.Anchor}, Rank: len(answered.Sources) + 1,
		})
	}
	return answered, outcome.Trace.Inputs, nil
}

func (c *evalCommand) writeAnswers(answers []eval.Answer) error {
	return c.writeFile(func(w io.Writer) error { return writeLines(w, answers) })
}

// writeFile writes the file of answers, if one was asked for.
func (c *evalCommand) writeFile(write func(io.Writer) error) (err error) {
	if c.Answers == "" {
		return nil
	}
	file, err := os.Create(c.Answers)
	if err != nil {
		return fmt.Errorf("write the answers: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return write(file)
}

func writeLines(w io.Writer, answers []eval.Answer) error {
	for _, answered := range answers {
		if err := eval.WriteAnswer(w, answered); err != nil {
			return err
		}
	}
	return nil
}
