//go:build unix

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/app"
	"github.com/cairn-bot/cairn/internal/config"
	"github.com/cairn-bot/cairn/internal/eval"
	"github.com/cairn-bot/cairn/internal/knowledge/connect/files"
)

// BenchmarkAnswers measures, with no model, what the flow needs for each question of the talk
// or answer set in the folder CAIRN_QUESTIONS, one after the other:
//
//	CAIRN_QUESTIONS=… go test -run '^$' -bench Answers -benchtime 600x ./cmd/bot
//
// The index is that of `cairn --data DIR eval` where CAIRN_EVAL_DATA names DIR, else it is made
// anew.
func BenchmarkAnswers(b *testing.B) {
	dir := os.Getenv("CAIRN_QUESTIONS")
	form, err := eval.Detect(dir)
	if err != nil {
		b.Fatalf("CAIRN_QUESTIONS must name the folder of a question set: %v", err)
	}
	questions, root := loadAsked(b, dir, form)
	host, err := config.ThisHost()
	if err != nil {
		b.Fatal(err)
	}
	configured := config.Defaults(host)
	if configured.DataDir = b.TempDir(); os.Getenv("CAIRN_EVAL_DATA") != "" {
		configured.DataDir = filepath.Join(os.Getenv("CAIRN_EVAL_DATA"), "eval", filepath.Base(dir))
	}
	ctx := asOperator(b.Context())
	a, err := openMeasured(ctx, configured, stdio{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, app.WriteIndex)
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := a.Close(); err != nil {
			b.Error(err)
		}
	}()
	if _, err := a.Ingester(nil).Sync(ctx, files.New(files.Options{Root: root, Source: pagesSource, Include: topFolders(questions)})); err != nil {
		b.Fatal(err)
	}
	flow, err := a.newAnswers()
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := app.CloseAnswers(ctx, flow); err != nil {
			b.Error(err)
		}
	}()
	var took []time.Duration
	before := processorTime(b)
	for b.Loop() {
		q := questions[len(took)%len(questions)]
		begun := time.Now()
		if _, _, err := askFlow(ctx, flow, q); err != nil {
			b.Fatal(fmt.Errorf("question %s: %w", q.ID, err))
		}
		took = append(took, time.Since(begun))
	}
	used := processorTime(b) - before
	slices.Sort(took)
	b.ReportMetric(milliseconds(used)/float64(len(took)), "cpu-ms/op")
	b.ReportMetric(milliseconds(took[len(took)/2]), "p50-ms")
	b.ReportMetric(milliseconds(took[len(took)*95/100]), "p95-ms")
}

// BenchmarkAnswersWhileIngesting measures the same in a process that reads the index while another one
// reads the folder CAIRN_INGESTED into it, again and again, each time as if it were new:
//
//	CAIRN_QUESTIONS=… CAIRN_INGESTED=… go test -run '^$' -bench AnswersWhile -benchtime 600x ./cmd/bot
func BenchmarkAnswersWhileIngesting(b *testing.B) {
	dir, ingested := os.Getenv("CAIRN_QUESTIONS"), os.Getenv("CAIRN_INGESTED")
	form, err := eval.Detect(dir)
	if err != nil {
		b.Fatalf("CAIRN_QUESTIONS must name the folder of a question set: %v", err)
	}
	questions, root := loadAsked(b, dir, form)
	file, err := buildPlain()
	if err != nil {
		b.Fatal(err)
	}
	data := b.TempDir()
	if err := runIngest(b.Context(), file, data, "asked", root); err != nil {
		b.Fatal(err)
	}
	host, err := config.ThisHost()
	if err != nil {
		b.Fatal(err)
	}
	configured := config.Defaults(host)
	configured.DataDir = data
	ctx := asOperator(b.Context())
	a, err := openMeasured(ctx, configured, stdio{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, app.ReadIndex)
	if err != nil {
		b.Fatal(err)
	}
	defer a.Close()
	flow, err := a.newAnswers()
	if err != nil {
		b.Fatal(err)
	}
	defer app.CloseAnswers(ctx, flow) //nolint:errcheck // nothing was written
	ingesting, stop := context.WithCancel(b.Context())
	var reading sync.WaitGroup
	reading.Go(func() {
		for round := 0; ingesting.Err() == nil; round++ {
			if err := runIngest(ingesting, file, data, fmt.Sprintf("round%d", round), ingested); err != nil {
				b.Error(err)
				return
			}
		}
	})
	var took []time.Duration
	for b.Loop() {
		q := questions[len(took)%len(questions)]
		begun := time.Now()
		if _, _, err := askFlow(ctx, flow, q); err != nil {
			b.Fatal(fmt.Errorf("question %s: %w", q.ID, err))
		}
		took = append(took, time.Since(begun))
	}
	stop()
	reading.Wait()
	slices.Sort(took)
	for share, unit := range map[int]string{50: "p50-ms", 95: "p95-ms", 99: "p99-ms"} {
		b.ReportMetric(milliseconds(took[len(took)*share/100]), unit)
	}
}

// runIngest has a build of Cairn read a folder into the index of a data directory, as a source of a name.
func runIngest(ctx context.Context, file, data, name, folder string) error {
	command := exec.CommandContext(ctx, file, "ingest", "-q", "--name", name, folder)
	command.Env = append(os.Environ(), "CAIRN_DATA_DIR="+data)
	if out, err := command.CombinedOutput(); err != nil && ctx.Err() == nil {
		return fmt.Errorf("ingest %s: %w\n%s", folder, err, out)
	}
	return nil
}

// loadAsked gives the questions of a set that its documents answer, and the documents' folder.
func loadAsked(b *testing.B, dir string, form eval.Form) (questions []eval.Question, root string) {
	b.Helper()
	if form != eval.FormTalk {
		questions, err := eval.LoadQuestions(dir)
		if err != nil {
			b.Fatal(err)
		}
		if root, err = eval.FindPages(dir, questions); err != nil {
			b.Fatal(err)
		}
		return questions, root
	}
	items, err := eval.LoadTalk(dir)
	if err != nil {
		b.Fatal(err)
	}
	for _, item := range items {
		if len(item.Gold) > 0 && len(item.Thread) == 0 && item.Forwarded == nil && item.OpenQuestion == nil {
			questions = append(questions, item.AsQuestion())
		}
	}
	if root, err = eval.FindTalkPages(dir); err != nil {
		b.Fatal(err)
	}
	return questions, root
}

// processorTime is what this process has used of the processors so far.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
