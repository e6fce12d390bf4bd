package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/knowledge/correction"
)

// toldFact is a fact of a document that changed, as a person tells it in a thread; chatter has no
// file, and corrects nothing.
type toldFact struct {
	Base     string   `json:"base"` // folder of the documents
	File     string   `json:"file"`
	Question string   `json:"question"`
	Message  string   `json:"message"`
	Old      string   `json:"old"`
	New      string   `json:"new"`
	At       string   `json:"at"`    // in the line that is meant; "" for any that has Old
	Cited    []string `json:"cited"` // documents that the thread's answer cites
}

type toldFacts struct {
	Facts   []toldFact `json:"facts"`
	Chatter []toldFact `json:"chatter"`
}

// correctionsReport counts proposals. Precision is of proposals, recall of facts.
type correctionsReport struct {
	Facts     int     `json:"facts"`
	Found     int     `json:"found"`
	Proposed  int     `json:"proposed"`
	Right     int     `json:"right"`
	Undone    int     `json:"undone"` // proposals that were taken back to the same bytes
	Precision float64 `json:"precision"`
	Recall    float64 `json:"recall"`
}

// evaluateCorrections measures the rules that find corrections, on the facts of a folder
// (facts.json). part is "" for all, "even" or "odd" for every second.
func evaluateCorrections(folder, part string, given bool, out io.Writer) (correctionsReport, error) {
	var report correctionsReport
	data, err := os.ReadFile(filepath.Join(folder, "facts.json"))
	if err != nil {
		return report, fmt.Errorf("read the facts: %w", err)
	}
	var told toldFacts
	if err := json.Unmarshal(data, &told); err != nil {
		return report, fmt.Errorf("read the facts: %w", err)
	}
	all := append(slices.Clone(told.Facts), told.Chatter...)
	for i, fact := range all {
		if part == "even" && i%2 != 0 || part == "odd" && i%2 != 1 {
			continue
		}
		if err := report.add(folder, fact, given, out); err != nil {
			return report, err
		}
	}
	report.Precision = float64(report.Right) / float64(max(report.Proposed, 1))
	report.Recall = float64(report.Found) / float64(max(report.Facts, 1))
	return report, nil
}

func (r *correctionsReport) add(folder string, fact toldFact, given bool, out io.Writer) error {
	files := fact.Cited
	if fact.File != "" {
		r.Facts++
		if given {
			files = []string{fact.File}
		}
	}
	var documents [][]string
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(folder, fact.Base, filepath.FromSlash(file)))
		if err != nil {
			return fmt.Errorf("read a document: %w", err)
		}
		documents = append(documents, correction.SplitLines(string(text)))
	}
	found := false
	for i, corrections := range correction.FindBest([]correction.Message{{Text: fact.Message, Objects: true}}, fact.Question, documents) {
		for _, made := range corrections {
			r.Proposed++
			r.Undone += undoes(documents[i], made)
			right := fact.isRight(documents[i], made)
			if right {
				r.Right++
			}
			found = found || right && files[i] == fact.File
			fmt.Fprintf(out, "%-5v %s: %q → %q: %s\n", right, files[i], made.Old, made.New, fact.Message)
		}
	}
	if found {
		r.Found++
	} else if fact.File != "" {
		fmt.Fprintf(out, "MISS  %s: %s → %s: %s\n", fact.File, fact.Old, fact.New, fact.Message)
	}
	return nil
}

// undoes is 1 where the edits of a correction, turned around, give the same lines again.
func undoes(lines []string, made correction.Correction) int {
	edits := slices.Clone(made.Edits)
	slices.SortFunc(edits, func(a, b correction.Edit) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Start, b.Start))
	})
	back := slices.Clone(edits)
	shift := 0
	for i, edit := range edits {
		if i == 0 || edits[i-1].Line != edit.Line {
			shift = 0
		}
		back[i] = correction.Edit{Line: edit.Line, Start: edit.Start + shift, End: edit.Start + shift + len(edit.New), New: lines[edit.Line][edit.Start:edit.End]}
		shift += len(edit.New) - (edit.End - edit.Start)
	}
	if slices.Equal(correction.Apply(correction.Apply(lines, edits), back), lines) {
		return 1
	}
	return 0
}

// isRight tells whether all that a correction changes is the fact, and the line that is meant is
// among it.
func (f toldFact) isRight(lines []string, made correction.Correction) bool {
	if f.File == "" {
		return false
	}
	changed := correction.Apply(lines, made.Edits)
	meant := false
	for i := range lines {
		if lines[i] == changed[i] {
			continue
		}
		if strings.ReplaceAll(lines[i], f.Old, f.New) != changed[i] && strings.Replace(lines[i], f.Old, f.New, 1) != changed[i] {
			return false
		}
		meant = meant || strings.Contains(lines[i], f.At)
	}
	return meant
}
