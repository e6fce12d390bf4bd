package repo_test

import (
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/graph/flows/repo"
)

const (
	a = repo.StructureTool
	b = repo.SourcesTool
	c = repo.DependenciesTool
	d = repo.ArchitectureTool
)

// TestEvaluate walks over every boundary of the rubric.
func TestEvaluate(t *testing.T) {
	text := func(length int) string { return strings.Repeat("ü", length) }
	for name, test := range map[string]struct {
		process repo.Process
		want    repo.Scores
	}{
		"nothing":            {repo.Process{Iterations: 1}, repo.Scores{}},
		"within iterations":  {repo.Process{Iterations: 10, MaxIterations: 10}, repo.Scores{TaskCompletion: 20, Overall: 7}},
		"past iterations":    {repo.Process{Iterations: 11, MaxIterations: 10}, repo.Scores{}},
		"complete":           {repo.Process{Complete: true, Iterations: 1}, repo.Scores{TaskCompletion: 30, Overall: 10.5}},
		"output of 1":        {repo.Process{Output: text(1), Iterations: 1}, repo.Scores{TaskCompletion: 50, OutputQuality: 40, Overall: 23.5}},
		"output of 49":       {repo.Process{Output: text(49), Iterations: 1}, repo.Scores{TaskCompletion: 50, OutputQuality: 40, Overall: 23.5}},
		"output of 50":       {repo.Process{Output: text(50), Iterations: 1}, repo.Scores{TaskCompletion: 50, OutputQuality: 50, Overall: 25}},
		"output of 99":       {repo.Process{Output: text(99), Iterations: 1}, repo.Scores{TaskCompletion: 50, OutputQuality: 50, Overall: 25}},
		"output of 100":      {repo.Process{Output: text(100), Iterations: 1}, repo.Scores{TaskCompletion: 50, OutputQuality: 60, Overall: 26.5}},
		"output of 199":      {repo.Process{Output: text(199), Iterations: 1}, repo.Scores{TaskCompletion: 50, OutputQuality: 60, Overall: 26.5}},
		"output of 200":      {repo.Process{Output: text(200), Iterations: 1}, repo.Scores{TaskCompletion: 50, OutputQuality: 70, Overall: 28}},
		"a heading":          {repo.Process{Output: "# A", Iterations: 1}, repo.Scores{TaskCompletion: 50, OutputQuality: 70, Overall: 28}},
		"a list":             {repo.Process{Output: "x\n- a", Iterations: 1}, repo.Scores{TaskCompletion: 50, OutputQuality: 70, Overall: 28}},
		"no heading":         {repo.Process{Output: "#1 is a-b", Iterations: 1}, repo.Scores{TaskCompletion: 50, OutputQuality: 40, Overall: 23.5}},
		"one step":           {repo.Process{Reasoning: 1, Iterations: 1}, repo.Scores{ReasoningQuality: 60, Overall: 15}},
		"two steps":          {repo.Process{Reasoning: 2, Iterations: 1}, repo.Scores{ReasoningQuality: 60, Overall: 15}},
		"three steps":        {repo.Process{Reasoning: 3, Iterations: 1}, repo.Scores{ReasoningQuality: 70, Overall: 17.5}},
		"four steps":         {repo.Process{Reasoning: 4, Iterations: 1}, repo.Scores{ReasoningQuality: 70, Overall: 17.5}},
		"five steps":         {repo.Process{Reasoning: 5, Iterations: 1}, repo.Scores{ReasoningQuality: 80, Overall: 20}},
		"one reflection":     {repo.Process{Reflections: 1, Iterations: 1}, repo.Scores{ReasoningQuality: 20, ReflectionQuality: 80, Overall: 13}},
		"two reflections":    {repo.Process{Reflections: 2, Iterations: 1}, repo.Scores{ReasoningQuality: 20, ReflectionQuality: 90, Overall: 14}},
		"three reflections":  {repo.Process{Reflections: 3, Iterations: 1}, repo.Scores{ReasoningQuality: 20, ReflectionQuality: 100, Overall: 15}},
		"one tool":           {repo.Process{Tools: []repo.Tool{a}, Iterations: 1}, repo.Scores{ToolEffectiveness: 60, Overall: 9}},
		"one tool twice":     {repo.Process{Tools: []repo.Tool{a, a}, Iterations: 1}, repo.Scores{ToolEffectiveness: 60, Overall: 9}},
		"two tools":          {repo.Process{Tools: []repo.Tool{a, b}, Iterations: 1}, repo.Scores{ToolEffectiveness: 70, Overall: 10.5}},
		"three tools":        {repo.Process{Tools: []repo.Tool{a, b, c}, Iterations: 1}, repo.Scores{ToolEffectiveness: 80, Overall: 12}},
		"tools with results": {repo.Process{Tools: []repo.Tool{a, b, c, d}, Results: true, Iterations: 1}, repo.Scores{ToolEffectiveness: 100, Overall: 15}},
		"all": {
			repo.Process{Output: "# A\n" + text(200), Complete: true, Iterations: 1, MaxIterations: 10, Reasoning: 5, Reflections: 3, Tools: []repo.Tool{a, b, c}, Results: true},
			repo.Scores{TaskCompletion: 100, ReasoningQuality: 100, ToolEffectiveness: 100, ReflectionQuality: 100, OutputQuality: 100, Overall: 100},
		},
	} {
		if got := repo.Evaluate(test.process); got != test.want {
			t.Errorf("%s:\n got %+v\nwant %+v", name, got, test.want)
		}
	}
}

func TestScoresAreFolded(t *testing.T) {
	text := repo.Scores{TaskCompletion: 80, Overall: 28}.Folded()
	for _, want := range []string{"<details>", "<summary>Evaluation of this run: 28 of 100</summary>", "measure the process, not the truth", "| Task completion | 80 | 35 % |", "</details>"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}
