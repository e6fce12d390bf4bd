package eval

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// publishedTalk is what the scorer that talk sets are published with makes of the sample:
// its output for --json, as it stands.
type publishedTalk struct {
	Table map[string]map[string]struct {
		Value float64 `json:"value"`
		N     int     `json:"n"`
	} `json:"table"`
	Confusion map[Reaction]map[Outcome]int `json:"confusion"`
	Fragments map[string]int               `json:"fragments"`
}

func scoreTalkSample(t *testing.T) ([]TalkScore, []string) {
	t.Helper()
	items, err := LoadTalk("testdata/talk")
	if err != nil {
		t.Fatal(err)
	}
	answers, err := LoadTalkAnswers("testdata/talk.answers.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	root, err := FindTalkPages("testdata/talk")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := OpenPages(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := pages.Close(); err != nil {
			t.Error(err)
		}
	})
	scores, stray, err := ScoreTalk(items, answers, pages)
	if err != nil {
		t.Fatal(err)
	}
	return scores, stray
}

func TestTalkScoresEqualThePublishedScorers(t *testing.T) {
	scores, stray := scoreTalkSample(t)
	if !slices.Equal(stray, []string{"t99"}) {
		t.Errorf("stray answers %q", stray)
	}
	data, err := os.ReadFile("testdata/talk.golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var want publishedTalk
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	report := ReportTalk(scores, stray, TalkOptions{ByKind: true})
	compared := 0
	for _, group := range report.Groups {
		if strings.HasPrefix(group.Name, "language ") {
			continue
		}
		compared++
		if len(group.Rows) != len(want.Table[group.Name]) {
			t.Errorf("%s: %d lines, want %d", group.Name, len(group.Rows), len(want.Table[group.Name]))
		}
		for _, row := range group.Rows {
			line, ok := want.Table[group.Name][row.Name]
			if !ok || math.Abs(line.Value-row.Value) > 1e-9 || line.N != row.Count {
				t.Errorf("%s: %s is %v of %d, want %v of %d", group.Name, row.Name, row.Value, row.Count, line.Value, line.N)
			}
		}
	}
	if compared != len(want.Table) {
		t.Errorf("%d groups, want %d", compared, len(want.Table))
	}
	for at, expected := range report.Reactions.Expected {
		for column, outcome := range report.Reactions.Outcomes {
			if got := report.Reactions.Counts[at][column]; got != want.Confusion[expected][outcome] {
				t.Errorf("%s met with %s %d times, want %d", expected, outcome, got, want.Confusion[expected][outcome])
			}
		}
	}
	if !reflect.DeepEqual(report.Reactions.Fragments, want.Fragments) {
		t.Errorf("fragments %v, want %v", report.Reactions.Fragments, want.Fragments)
	}
}

func TestHalvesHoldAsManyOfEachKindAndLanguage(t *testing.T) {
	var items []TalkItem
	for at := range 101 {
		items = append(items, TalkItem{ID: fmt.Sprint(at), Kind: []string{"a", "b", "c"}[at%3], Lang: []string{"", "de"}[at%2]})
	}
	halves := Halves(items)
	counts := make(map[[2]string][2]int)
	for _, item := range items {
		stratum := [2]string{item.Kind, item.Lang}
		both := counts[stratum]
		both[halves[item.ID]]++
		counts[stratum] = both
	}
	for stratum, both := range counts {
		if diff := both[0] - both[1]; diff < -1 || diff > 1 {
			t.Errorf("%q is divided into %d and %d", stratum, both[0], both[1])
		}
	}
	slices.Reverse(items)
	if !reflect.DeepEqual(Halves(items), halves) {
		t.Error("the halves depend on the order of the items")
	}
}

func TestTalkSetsAreChecked(t *testing.T) {
	for name, test := range map[string]struct{ line, want string }{
		"reaction": {`{"id":"a","question":"x","expect":"sing"}`, `expect "sing"`},
		"no gold":  {`{"id":"a","question":"x","expect":"answer"}`, "needs gold and facts"},
		"no text":  {`{"id":"a","question":" ","expect":"talk"}`, "has no text"},
		"twice":    {"{\"id\":\"a\",\"question\":\"x\",\"expect\":\"talk\"}\n{\"id\":\"a\",\"question\":\"x\",\"expect\":\"talk\"}", "twice"},
		"empty":    {"\n", "holds no message"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, talkFile), []byte(test.line), 0o600); err != nil {
				t.Fatal(err)
			}
			if form, err := Detect(dir); err != nil || form != FormTalk {
				t.Errorf("form %q, error %v", form, err)
			}
			if _, err := LoadTalk(dir); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q in it", err, test.want)
			}
			if _, err := FindTalkPages(dir); err == nil || !strings.Contains(err.Error(), "0 folders") {
				t.Errorf("pages without a folder: %v", err)
			}
		})
	}
}
