package eval

import (
	"bytes"
	"context"
	"math"
	"reflect"
	"strings"
	"testing"
)

const tasks = `{"id":"a","history":[{"role":"user","text":"hi"}],"question":"How long?","answerability":"ANSWERABLE","contexts":[{"id":"p1","title":"T","text":"one"},{"id":"p2","text":"two"}]}
{"id":"b","question":"How much?","answerability":"PARTIAL","contexts":[{"id":"p2","text":"two"}]}
{"id":"c","question":"Which?","answerability":"UNDERSPECIFIED","contexts":[]}
{"id":"d","question":"Why?","answerability":"UNANSWERABLE"}
`

func loadTasks(t *testing.T) *ClarifySet {
	t.Helper()
	set, err := LoadClarify(writeFiles(t, map[string]string{tasksFile: tasks}))
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func TestLoadClarify(t *testing.T) {
	set := loadTasks(t)
	var decided []Decision
	for _, question := range set.Questions {
		decided = append(decided, question.Expect)
	}
	if want := []Decision{DecisionAnswer, DecisionAnswer, DecisionAsk, DecisionAbstain}; !reflect.DeepEqual(decided, want) {
		t.Errorf("expects %v, want %v", decided, want)
	}
	var passages []Document
	for passage, err := range set.Documents() {
		if err != nil {
			t.Fatal(err)
		}
		passages = append(passages, passage)
	}
	if want := []Document{{"p1", "T", "one"}, {"p2", "", "two"}}; !reflect.DeepEqual(passages, want) {
		t.Errorf("passages %+v, want %+v", passages, want)
	}
}

func TestLoadClarifyRejects(t *testing.T) {
	for want, file := range map[string]string{
		"holds no conversation":                  "",
		`answerability "MAYBE", want ANSWERABLE`: `{"id":"a","question":"x","answerability":"MAYBE"}`,
		`"a" has no question`:                    `{"id":"a","question":" ","answerability":"PARTIAL"}`,
		`context "p" has another text than before`: `{"id":"x","question":"x","answerability":"PARTIAL","contexts":[{"id":"p","text":"one"}]}` + "\n" +
			`{"id":"y","question":"x","answerability":"PARTIAL","contexts":[{"id":"p","text":"two"}]}`,
		`id "a" occurs twice`:   tasks + `{"id":"a","question":"x","answerability":"PARTIAL"}`,
		`role "bot" in history`: `{"id":"a","question":"x","answerability":"PARTIAL","history":[{"role":"bot"}]}`,
		"context without an id": `{"id":"a","question":"x","answerability":"PARTIAL","contexts":[{"text":"y"}]}`,
	} {
		_, err := LoadClarify(writeFiles(t, map[string]string{tasksFile: file}))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

func rowOf(t *testing.T, report Report, group int, name string) float64 {
	t.Helper()
	for _, row := range report.Groups[group].Rows {
		if row.Name == name {
			return row.Value
		}
	}
	t.Fatalf("no row %q in %+v", name, report.Groups[group])
	return 0
}

func TestScoreDecisions(t *testing.T) {
	set := loadTasks(t)
	answers, err := Collect(t.Context(), set.Questions, func(_ context.Context, q Question) (Answer, error) {
		found := []Source{{Place: Place{Path: "p1"}, Rank: 1}}
		// "b" is abstained from, the others are as they should be.
		return Answer{Asked: q.ID == "c", Abstained: q.ID == "b" || q.ID == "d", Sources: found}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	report, err := set.ScoreDecisions(answers)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]float64{
		"accuracy": 0.75, "macro F1": (2.0/3 + 1 + 2.0/3) / 3, "answer precision": 1, "answer recall": 0.5,
		"ask F1": 1, "abstain precision": 0.5, "abstain recall": 1, "partial answered": 0, "context hit@5": 0.5,
	} {
		if got := rowOf(t, report, 0, name); math.Abs(got-want) > 1e-12 {
			t.Errorf("%s = %v, want %v", name, got, want)
		}
	}
	if got := rowOf(t, report, 1, "accuracy"); got != 0.5 {
		t.Errorf("always answering is right in %v", got)
	}
	if table := report.Table(); !strings.Contains(table, "  abstain ") || !strings.Contains(table, "always answering") {
		t.Errorf("table:\n%s", table)
	}
	if _, err := set.ScoreDecisions(answers[1:]); err == nil || !strings.Contains(err.Error(), `"a" has no answer`) {
		t.Errorf("error %v", err)
	}
}

const claims = `{"id":"a","claim":"x","evidence":["x y"],"supporting":[[0]],"label":"supported"}
{"id":"b","claim":"z","evidence":[],"label":"not_supported"}
{"id":"c","claim":"x z","evidence":["x"],"label":"partially_supported"}
{"id":"d","claim":"y","evidence":["x"],"label":"partially_supported"}
`

func TestScoreClaims(t *testing.T) {
	loaded, err := LoadClaims(writeFiles(t, map[string]string{claimsFile: claims}))
	if err != nil {
		t.Fatal(err)
	}
	scores := map[string]float64{"x": 0.9, "z": 0.1, "x z": 0.5, "y": 0.2}
	report, err := ScoreClaims(loaded, func(claim string, _ []string) (float64, string) {
		return scores[claim], supports[label(scores[claim], 0.3, 0.8)]
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]float64{
		"3 labels accuracy": 0.75, "3 labels macro F1": (2.0/3 + 2.0/3 + 1) / 3,
		"2 labels accuracy": 1, "2 labels macro F1": 1, "supported precision": 1, "supported F1": 1,
	} {
		if got := rowOf(t, report, 0, name); math.Abs(got-want) > 1e-12 {
			t.Errorf("%s = %v, want %v", name, got, want)
		}
	}
	// The thresholds of either half were chosen where only two labels occur.
	if got := rowOf(t, report, 1, "3 labels accuracy"); got != 0.5 {
		t.Errorf("held out %v", got)
	}
	if got := rowOf(t, report, 2, "3 labels accuracy"); got != 0.25 {
		t.Errorf("always supported is right in %v", got)
	}
	_, err = ScoreClaims(loaded, func(string, []string) (float64, string) { return 0, "" })
	if err == nil || !strings.Contains(err.Error(), `label ""`) {
		t.Errorf("error %v", err)
	}
}

func TestLoadClaimsRejects(t *testing.T) {
	for want, file := range map[string]string{
		"holds no claim":               "",
		`label "true", want one of`:    `{"id":"a","claim":"x","label":"true"}`,
		`id "a" occurs twice`:          claims + claims,
		"cannot unmarshal number into": `{"id":"a","claim":1}`,
	} {
		_, err := LoadClaims(writeFiles(t, map[string]string{claimsFile: file}))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

func FuzzReadTasks(f *testing.F) {
	f.Add([]byte(tasks))
	f.Add([]byte(`{"id":"a","question":"x","answerability":"PARTIAL","contexts":[{"id":"p"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		set, err := readTasks("tasks", bytes.NewReader(data))
		if err != nil {
			return
		}
		answers := make([]Answer, len(set.Questions))
		for i, question := range set.Questions {
			answers[i].ID = question.ID
		}
		report, err := set.ScoreDecisions(answers)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := rowOf(t, report, 0, "accuracy"), rowOf(t, report, 1, "accuracy"); got != want {
			t.Errorf("answering everything is right in %v and in %v", got, want)
		}
	})
}

func FuzzReadClaims(f *testing.F) {
	f.Add([]byte(claims))
	f.Fuzz(func(t *testing.T, data []byte) {
		loaded, err := readClaims("claims", bytes.NewReader(data))
		if err != nil {
			return
		}
		for _, claim := range loaded {
			if claim.ID == "" || claim.Label == "" {
				t.Errorf("loaded %+v", claim)
			}
		}
	})
}
