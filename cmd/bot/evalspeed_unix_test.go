//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"cairn/internal/app"
	"cairn/internal/config"
	"cairn/internal/eval"
	"cairn/internal/knowledge/connect/files"
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
