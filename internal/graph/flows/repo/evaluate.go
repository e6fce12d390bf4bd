package repo

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Process is what a run is evaluated by.
type Process struct {
	Output        string // Markdown
	Complete      bool
	Iterations    int
	MaxIterations int
	Reasoning     int    // steps
	Reflections   int    // notes
	Tools         []Tool // that were used, as often as they were
	Results       bool   // one tool at least gave something
}

// Scores are the evaluation of a run, each of 0 to 100.
type Scores struct {
	TaskCompletion    int     `json:"task_completion"`
	ReasoningQuality  int     `json:"reasoning_quality"`
	ToolEffectiveness int     `json:"tool_effectiveness"`
	ReflectionQuality int     `json:"reflection_quality"`
	OutputQuality     int     `json:"output_quality"`
	Overall           float64 `json:"overall_score"` // weighted, see the weights
}

// byName gives the scores by their names in checkpoints.
func (s Scores) byName() map[string]float64 {
	return map[string]float64{
		"task_completion": float64(s.TaskCompletion), "reasoning_quality": float64(s.ReasoningQuality),
		"tool_effectiveness": float64(s.ToolEffectiveness), "reflection_quality": float64(s.ReflectionQuality),
		"output_quality": float64(s.OutputQuality), "overall_score": s.Overall,
	}
}

// The weights of the scores in the overall one, in percent.
const (
	taskWeight       = 35
	reasoningWeight  = 25
	toolWeight       = 15
	reflectionWeight = 10
	outputWeight     = 15
)

// Evaluate scores a run by its rubric. It measures the process, not whether what was
// written is true.
func Evaluate(p Process) Scores {
	s := Scores{
		TaskCompletion: pointsIf(p.Output != "", 50) + pointsIf(p.Complete, 30) + pointsIf(p.Iterations <= p.MaxIterations, 20),
		ReasoningQuality: pointsIf(p.Reasoning > 0, 40) + pointsIf(p.Reflections > 0, 20) +
			gradePoints(p.Reasoning, grade{5, 40}, grade{3, 30}, grade{1, 20}),
		ToolEffectiveness: pointsIf(len(p.Tools) > 0, 50) + pointsIf(p.Results, 20) +
			gradePoints(distinctTools(p.Tools), grade{3, 30}, grade{2, 20}, grade{1, 10}),
		ReflectionQuality: pointsIf(p.Reflections > 0, 60) + gradePoints(p.Reflections, grade{3, 40}, grade{2, 30}, grade{1, 20}),
		OutputQuality: pointsIf(p.Output != "", 40) + pointsIf(structured.MatchString(p.Output), 30) +
			gradePoints(utf8.RuneCountInString(p.Output), grade{200, 30}, grade{100, 20}, grade{50, 10}),
	}
	s.Overall = float64(taskWeight*s.TaskCompletion+reasoningWeight*s.ReasoningQuality+toolWeight*s.ToolEffectiveness+
		reflectionWeight*s.ReflectionQuality+outputWeight*s.OutputQuality) / 100
	return s
}

// grade gives points from a count on.
type grade struct{ from, points int }

func pointsIf(earned bool, points int) int {
	if earned {
		return points
	}
	return 0
}

// gradePoints gives the points of the first grade that a count reaches.
func gradePoints(count int, grades ...grade) int {
	for _, g := range grades {
		if count >= g.from {
			return g.points
		}
	}
	return 0
}

func distinctTools(used []Tool) int {
	known := make(map[Tool]bool)
	for _, tool := range used {
		known[tool] = true
	}
	return len(known)
}

// structured is what Markdown has that plain text has not: a heading, a list, a table,
// code, or emphasis.
var structured = regexp.MustCompile("(?m)^#{1,6} |^\\s*(?:[-*+]|\\d+\\.) |^\\||^```|\\*\\*[^*\\n]+\\*\\*")

// renderFolded shows the scores so that they are out of the way until they are asked for.
func (s Scores) renderFolded() string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n<details>\n<summary>Evaluation of this run: %.0f of 100</summary>\n\n", s.Overall)
	b.WriteString("These scores measure the process, not the truth of what is written here.\n\n| Score | Of 100 | Weight |\n|---|---:|---:|\n")
	for _, row := range []struct {
		name          string
		score, weight int
	}{
		{"Task completion", s.TaskCompletion, taskWeight},
		{"Reasoning quality", s.ReasoningQuality, reasoningWeight},
		{"Tool effectiveness", s.ToolEffectiveness, toolWeight},
		{"Reflection quality", s.ReflectionQuality, reflectionWeight},
		{"Output quality", s.OutputQuality, outputWeight},
	} {
		fmt.Fprintf(&b, "| %s | %d | %d %% |\n", row.name, row.score, row.weight)
	}
	b.WriteString("\n</details>\n")
	return b.String()
}
