package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/eval"
)

// TestSetsAreMeasured measures a small set of each kind, all of which Cairn gets right.
func TestSetsAreMeasured(t *testing.T) {
	for what, want := range map[string]struct {
		group, row string
		n          int
	}{
		"retrieval": {"all", "nDCG@10", 2},
		"facets":    {"requests with facets", "facet first after reply", 3},
		"claims":    {"all", "2 labels accuracy", 3},
	} {
		t.Run(what, func(t *testing.T) {
			t.Setenv("CAIRN_DATA_DIR", t.TempDir())
			var out, logged bytes.Buffer
			if err := run(t.Context(), []string{"-json", what, filepath.Join("testdata", what)}, &out, &logged); err != nil {
				t.Fatalf("%v\n%s", err, &logged)
			}
			var report eval.Report
			if err := json.Unmarshal(out.Bytes(), &report); err != nil {
				t.Fatal(err)
			}
			for _, group := range report.Groups {
				for _, row := range group.Rows {
					if group.Name == want.group && row.Name == want.row {
						if row.Value != 1 || row.Count != want.n {
							t.Errorf("%s of %s: %v over %d, want 1 over %d", row.Name, group.Name, row.Value, row.Count, want.n)
						}
						return
					}
				}
			}
			t.Errorf("no %q in %s", want.row, &out)
		})
	}
}

func TestWrongUseIsExplained(t *testing.T) {
	t.Setenv("CAIRN_DATA_DIR", t.TempDir())
	for args, want := range map[string]string{
		"":                                       "0 arguments, want what to measure",
		"colour testdata/claims":                 `"colour" can't be measured: want retrieval, facets, claims or corrections`,
		"-side up retrieval testdata/retrieval":  "-side up: want fused, words or meaning",
		"facets testdata/claims":                 "qulac.jsonl",
		"-postgres retrieval testdata/retrieval": "postgres.url names no database",
	} {
		var out, logged bytes.Buffer
		if err := run(t.Context(), strings.Fields(args), &out, &logged); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", args, err, want)
		}
	}
}
