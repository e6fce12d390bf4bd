package answer

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/graph/flows/answer/words"
	"github.com/cairn-bot/cairn/internal/knowledge/lexical"
	"github.com/cairn-bot/cairn/internal/knowledge/retrieve"
	"github.com/cairn-bot/cairn/internal/knowledge/sentence"
	"github.com/cairn-bot/cairn/internal/knowledge/support"
)

const (
	bridgePassages = 3 // in which the name of what a question describes is looked for
	bridgeNames    = 2 // searched for at most
	// mostTold of a description's words must stand in the sentence that gives the name.
	mostTold = 0.7
)

// nextByRules gives the search that follows from what was found, with no model: where
// the question describes what it asks about ("the cluster that billing runs on"), the
// sentence that tells most of the description names it, and the name takes its place.
func (q *queryUnderstander) nextByRules(ctx context.Context, request analysisRequest) (understanding, error) {
	hop, described := words.FirstHop(request.Question)
	if !described || len(request.Searched) > 1 {
		return understanding{}, nil
	}
	told := describing(hop, request.Found)
	names, err := q.rarest(ctx, namesIn(told, request.Question))
	if err != nil || len(names) == 0 {
		return understanding{}, err
	}
	named := strings.Join(names, " ")
	return understanding{
		Next:    strings.TrimSpace(hop.Before + hop.Thing + " " + named + hop.After),
		Remarks: []string{fmt.Sprintf("the %s that %s: %s", hop.Thing, strings.TrimSpace(hop.Clause), named)},
	}, nil
}

// describing gives the sentence that holds most of a description, "" where none holds
// enough of it.
func describing(hop words.Hop, found []retrieve.Evidence) string {
	var wanted []string
	for _, term := range lexical.Analyze(hop.Thing + " " + hop.Clause) {
		if !lexical.IsFiller(term) {
			wanted = append(wanted, term)
		}
	}
	best, most := "", 0
	for _, e := range found[:min(len(found), bridgePassages)] {
		for _, part := range sentence.Split(e.Passage.Text) {
			set := support.Of(part.Text)
			held := 0
			for _, term := range wanted {
				if set.Has(term) {
					held++
				}
			}
			if held > most && float64(held) >= mostTold*float64(len(wanted)) {
				best, most = part.Text, held
			}
		}
	}
	return best
}

// names are what a sentence calls things by: code, and words with a capital.
var names = regexp.MustCompile("`([^`\n]{2,60})`|\\b([A-Z][\\w-]*(?:[ -][A-Z][\\w-]*){0,3})")

// namesIn gives the names of a sentence that the question does not hold.
func namesIn(text, question string) []string {
	asked := support.Of(question)
	var found []string
	for _, match := range names.FindAllStringSubmatch(text, -1) {
		name := match[1] + match[2]
		analyzed := lexical.Analyze(name)
		isNew := slices.ContainsFunc(analyzed, func(term string) bool {
			return !asked.Has(term) && !lexical.IsFiller(term) && !lexical.IsStop(term)
		})
		if isNew && !slices.Contains(found, name) {
			found = append(found, name)
		}
	}
	return found
}

// rarest gives the names that the fewest passages hold.
func (q *queryUnderstander) rarest(ctx context.Context, found []string) ([]string, error) {
	passages := make(map[string]int, len(found))
	for _, name := range found {
		stats, err := q.index.Terms(ctx, lexical.Analyze(name))
		if err != nil {
			return nil, fmt.Errorf("look up a name: %w", err)
		}
		for i, s := range stats {
			if i == 0 || s.Passages < passages[name] {
				passages[name] = s.Passages
			}
		}
	}
	slices.SortStableFunc(found, func(a, b string) int { return cmp.Compare(passages[a], passages[b]) })
	return found[:min(len(found), bridgeNames)], nil
}
