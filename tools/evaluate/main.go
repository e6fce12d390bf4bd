// Command evaluate measures parts of Cairn on public sets that say nothing of a team's own
// documents; those are measured by cairn eval.
//
//	go run ./evaluate [FLAGS] retrieval|facets|claims|corrections FOLDER
//
// retrieval measures the search alone, on a set in BEIR's form (corpus.jsonl, queries.jsonl and
// qrels.tsv). facets acts a person who is asked back, on requests with facets (qulac.jsonl). claims
// measures the check whether sentences support a claim (claims.jsonl). corrections measures what messages
// correct in documents (facts.json).
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/cairn-bot/cairn/internal/app"
	"github.com/cairn-bot/cairn/internal/config"
	"github.com/cairn-bot/cairn/internal/eval"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/connect"
	"github.com/cairn-bot/cairn/internal/knowledge/support"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "evaluate:", err)
		os.Exit(1)
	}
}

// evaluation is one set that is measured.
type evaluation struct {
	folder   string
	side     string // fused, words or meaning
	postgres bool
	config   config.Config
	stderr   io.Writer
}

// run reads the arguments, measures the set that they name and prints the report.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("evaluate", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprintln(stderr, "usage: evaluate [FLAGS] retrieval|facets|claims|corrections FOLDER")
		flags.PrintDefaults()
	}
	file := flags.String("config", "", "configuration `file` of cairn")
	data := flags.String("data", "", "data `directory`, which keeps the indexes of sets; default: the configuration's")
	side := flags.String("side", "fused", "search by `fused`, words or meaning (retrieval)")
	postgres := flags.Bool("postgres", false, "measure in the database of postgres.url, which must hold no other documents: it is emptied")
	part := flags.String("part", "", "even or odd: every second fact alone (corrections)")
	given := flags.Bool("given", false, "look in the fact's document alone, not in all that the answer cites (corrections)")
	asJSON := flags.Bool("json", false, "print data instead of a table")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 2 {
		return fmt.Errorf("%d arguments, want what to measure and the folder of a set: see evaluate -help", flags.NArg())
	}
	configured, err := config.Load(*file)
	if err != nil {
		return err
	}
	if *data != "" {
		configured.DataDir = *data
	}
	folder, err := filepath.Abs(flags.Arg(1))
	if err != nil {
		return err
	}
	configured.DataDir = filepath.Join(configured.DataDir, "eval", filepath.Base(folder))
	if flags.Arg(0) == "corrections" {
		report, err := evaluateCorrections(folder, *part, *given, stderr)
		if err != nil {
			return fmt.Errorf("measure %s: %w", folder, err)
		}
		return json.NewEncoder(stdout).Encode(report)
	}
	e := &evaluation{folder: folder, side: *side, postgres: *postgres, config: configured, stderr: stderr}
	report, err := e.measure(knowledge.WithViewers(ctx, knowledge.Unrestricted()), flags.Arg(0))
	if err != nil {
		return fmt.Errorf("measure %s: %w", folder, err)
	}
	if *asJSON {
		return json.NewEncoder(stdout).Encode(report)
	}
	_, err = fmt.Fprintln(stdout, report.Table())
	return err
}

func (e *evaluation) measure(ctx context.Context, what string) (eval.Report, error) {
	switch what {
	case "retrieval":
		return e.measureRetrieval(ctx)
	case "facets":
		return e.measureFacets(ctx)
	case "claims":
		return e.measureClaims()
	}
	return eval.Report{}, fmt.Errorf("%q can't be measured: want retrieval, facets, claims or corrections", what)
}

// measureClaims checks claims as an answer's sentences are checked against what they cite.
func (e *evaluation) measureClaims() (eval.Report, error) {
	claims, err := eval.LoadClaims(e.folder)
	if err != nil {
		return eval.Report{}, err
	}
	return eval.ScoreClaims(claims, func(claim string, evidence []string) (float64, string) {
		verdict := support.Check(claim, evidence)
		return verdict.Score, string(verdict.Label)
	})
}

// openLibrary opens the index that the set is measured on: one of its own in the data directory,
// or the configured database, if no documents but those of sets are in it.
func (e *evaluation) openLibrary(ctx context.Context) (*app.Library, error) {
	configured := e.config
	if !e.postgres {
		configured.Postgres.Address = config.Address{}
		return app.OpenLibrary(ctx, app.NewSetup(configured, e.stderr), app.WriteIndex)
	}
	if configured.Postgres.URL.IsZero() {
		return nil, errors.New("-postgres: postgres.url names no database")
	}
	library, err := app.OpenLibrary(ctx, app.NewSetup(configured, e.stderr), app.WriteIndex)
	if err != nil {
		return nil, err
	}
	for document, err := range library.Index.Documents(ctx, "") {
		if err == nil && document.Source != eval.CorpusSource {
			err = fmt.Errorf("-postgres: the database holds documents of the source %s: create one for measuring alone", document.Source)
		}
		if err != nil {
			return nil, errors.Join(err, library.Close())
		}
	}
	if err := library.Close(); err != nil {
		return nil, err
	}
	return app.OpenLibrary(ctx, app.NewSetup(configured, e.stderr), app.RebuildIndex)
}

// syncDocuments reads a set's documents; one that can't be read would make every number wrong.
func syncDocuments(ctx context.Context, library *app.Library, connector connect.Connector) error {
	report, err := library.Ingester(nil).Sync(ctx, connector)
	if err == nil && len(report.Failures) > 0 {
		err = fmt.Errorf("%s: %w", report.Failures[0].Path, report.Failures[0].Reason)
	}
	return err
}
