package bot

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/session"
)

// maxShownScores is of how many runs the scores are shown.
const maxShownScores = 3

// overallScore is the name of the score that stands for all.
const overallScore = "overall_score"

// describeScores tells how the last runs of a thread did by their flows' own rubrics, "" where
// none has one.
func describeScores(evaluations []session.Evaluation) string {
	var lines []string
	for _, evaluation := range slices.Backward(evaluations) {
		if len(lines) == maxShownScores {
			break
		}
		var names []string
		for name := range evaluation.Scores {
			if name != overallScore {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		for i, name := range names {
			names[i] = fmt.Sprintf("%s %.0f", strings.ReplaceAll(name, "_", " "), evaluation.Scores[name])
		}
		line := fmt.Sprintf("- run `%s`: %.0f of 100", evaluation.Run, evaluation.Scores[overallScore])
		if len(names) > 0 {
			line += " (" + strings.Join(names, ", ") + ")"
		}
		lines = append(lines, line)
	}
	if len(lines) == 0 {
		return ""
	}
	return "How the last runs that score themselves did, which tells of the process and not of the truth:\n\n" + strings.Join(lines, "\n")
}
