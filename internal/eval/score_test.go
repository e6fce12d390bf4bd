package eval

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// reference is what the scorer that question sets are published with makes of the
// same questions, answers and pages. Its numbers are written down in testdata.
type reference struct {
	Groups    []Group
	Questions map[string]map[string]float64
	Missing   []string
	Stray     []string
}

func readGolden[T any](t *testing.T, name string) T {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	var value T
	if err := json.Unmarshal(data, &value); err != nil {
		t.Fatal(err)
	}
	return value
}

func loadSample(t *testing.T) ([]Question, []Answer, *Pages) {
	t.Helper()
	questions, err := LoadQuestions("testdata/answers")
	if err != nil {
		t.Fatal(err)
	}
	answers, err := LoadAnswers("testdata/answers.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	root, err := FindPages("testdata/answers", questions)
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join("testdata", "answers", "pages"); root != want {
		t.Fatalf("FindPages = %q, want %q", root, want)
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
	return questions, answers, pages
}

func TestScoreEqualsReference(t *testing.T) {
	questions, answers, pages := loadSample(t)
	golden := readGolden[map[string]reference](t, "scores.golden.json")
	for name, pages := range map[string]*Pages{"with pages": pages, "without pages": nil} {
		t.Run(name, func(t *testing.T) {
			want := golden[name]
			scores, err := Score(questions, answers, pages)
			if err != nil {
				t.Fatal(err)
			}
			for _, score := range scores.Questions {
				compareMeasures(t, score.Question.ID, score.Measures, want.Questions[score.Question.ID])
			}
			report := scores.Report(true)
			if !slices.Equal(report.Missing, want.Missing) || !slices.Equal(report.Stray, want.Stray) {
				t.Errorf("missing %q stray %q, want %q and %q", report.Missing, report.Stray, want.Missing, want.Stray)
			}
			if len(report.Groups) != len(want.Groups) {
				t.Fatalf("%d groups, want %d", len(report.Groups), len(want.Groups))
			}
			for i, group := range report.Groups {
				compareGroup(t, group, want.Groups[i])
			}
		})
	}
}

func compareMeasures(t *testing.T, id string, got, want map[string]float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d measures, want %d\n got %v\nwant %v", id, len(got), len(want), got, want)
	}
	for name, value := range want {
		if v, ok := got[name]; !ok || math.Abs(v-value) > 1e-9 {
			t.Errorf("%s: %s = %v (present: %v), want %v", id, name, v, ok, value)
		}
	}
}

func compareGroup(t *testing.T, got, want Group) {
	t.Helper()
	if got.Name != want.Name || len(got.Rows) != len(want.Rows) {
		t.Errorf("group %q of %d rows, want %q of %d", got.Name, len(got.Rows), want.Name, len(want.Rows))
		return
	}
	for i, row := range got.Rows {
		w := want.Rows[i]
		if row.Name != w.Name || row.Count != w.Count || math.Abs(row.Value-w.Value) > 1e-9 {
			t.Errorf("%s: %+v, want %+v", got.Name, row, w)
		}
	}
}

func TestSectionsEqualReference(t *testing.T) {
	type wire struct {
		Anchor, Heading, Text string
		Level                 int
		Path                  []string
	}
	for name, want := range readGolden[map[string][]wire](t, "sections.golden.json") {
		data, err := os.ReadFile(filepath.Join("testdata/answers/pages", name+".md"))
		if err != nil {
			t.Fatal(err)
		}
		var got []wire
		for _, s := range cutSections(string(data)) {
			got = append(got, wire{Anchor: s.anchor, Heading: s.heading, Text: s.text, Level: s.level, Path: s.path})
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n got %+v\nwant %+v", name, got, want)
		}
	}
}

func TestDecisions(t *testing.T) {
	questions, answers, pages := loadSample(t)
	scores, err := Score(questions, answers, pages)
	if err != nil {
		t.Fatal(err)
	}
	got := scores.Report(false).Decisions
	want := &Decisions{
		Rows: []DecisionRow{
			{Expected: DecisionAnswer, Answered: 4, Asked: 1, Abstained: 1, Missing: 1},
			{Expected: DecisionAsk, Asked: 1, Abstained: 1},
			{Expected: DecisionAbstain, Answered: 1, Abstained: 1},
		},
		AskedThoughAnswerable:     1,
		AbstainedThoughAnswerable: 1,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("decisions %+v, want %+v", got, want)
	}
}

func TestTable(t *testing.T) {
	questions, answers, pages := loadSample(t)
	scores, err := Score(questions, answers, pages)
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("testdata/table.golden.txt")
	if err != nil {
		t.Fatal(err)
	}
	if got := scores.Report(false).Table(); got != string(want) {
		t.Errorf("table:\n%s\nwant:\n%s", got, want)
	}
}

func TestReportJSON(t *testing.T) {
	report := Report{
		Form:      FormAnswers,
		Groups:    []Group{{Name: "all", Rows: []Row{{Name: "decision", Value: 0.5, Count: 2}}}},
		Decisions: &Decisions{Rows: []DecisionRow{{Expected: DecisionAsk, Asked: 1}}, AskedThoughAnswerable: 3},
		Missing:   []string{"a"},
	}
	got, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"form":"answers","groups":[{"name":"all","measures":[{"name":"decision","value":0.5,"n":2}]}],` +
		`"decisions":{"rows":[{"expected":"ask","answered":0,"asked":1,"abstained":0,"missing":0}],` +
		`"asked_though_answerable":3,"abstained_though_answerable":0},"missing":["a"]}`
	if string(got) != want {
		t.Errorf("JSON\n%s\nwant\n%s", got, want)
	}
}

func TestPagesStayInside(t *testing.T) {
	_, _, pages := loadSample(t)
	for _, path := range []string{"../answers/pages/guide.md", "../questions.jsonl", "/etc/hostname", "", ".", "a\x00b", "no/such.md", "guide.md/x", strings.Repeat("x", 5000)} {
		if err := pages.load(path); err != nil {
			t.Errorf("load %q: %v", path, err)
		}
		if pages.find(Place{Path: path}) != nil {
			t.Errorf("%q names a page", path)
		}
	}
}

// TestScorersRejectRepeatedIDs gives each scorer two answers to a question, and a question twice.
func TestScorersRejectRepeatedIDs(t *testing.T) {
	answers, talked := []Answer{{ID: "a"}, {ID: "a"}}, []TalkAnswer{{ID: "a"}, {ID: "a"}}
	_, err := Score(nil, answers, nil)
	wantRepeated(t, "Score", err, `question "a" is answered twice`)
	_, err = (&ClarifySet{}).ScoreDecisions(answers)
	wantRepeated(t, "ScoreDecisions", err, `question "a" is answered twice`)
	_, _, err = ScoreTalk(nil, talked, nil)
	wantRepeated(t, "ScoreTalk", err, `question "a" is answered twice`)
	_, err = Score([]Question{{ID: "b"}, {ID: "b"}}, nil, nil)
	wantRepeated(t, "Score", err, `question id "b" occurs twice`)
	_, _, err = ScoreTalk([]TalkItem{{ID: "b"}, {ID: "b"}}, nil, nil)
	wantRepeated(t, "ScoreTalk", err, `message id "b" occurs twice`)
}

func wantRepeated(t *testing.T, name string, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%s gives %v, want %q", name, err, want)
	}
}

// TestFilesWithRepeatedIDsAreNamed has an id twice in each kind of file of a set: the error
// names the file, the line and the id.
func TestFilesWithRepeatedIDsAreNamed(t *testing.T) {
	const task = `{"id":"a","question":"x","answerability":"UNANSWERABLE","contexts":[{"id":"c","text":"y"}]}`
	retrieval := func(dir string) error {
		set, err := LoadRetrieval(dir)
		if err != nil {
			return err
		}
		for _, err := range set.Documents() {
			if err != nil {
				return err
			}
		}
		return nil
	}
	for _, test := range []struct {
		file, line, field string
		load              func(dir string) error
	}{
		{questionsFile, `{"id":"a","question":"x","expect":"abstain"}`, `id "a"`, func(dir string) error { _, err := LoadQuestions(dir); return err }},
		{talkFile, `{"id":"a","question":"x","expect":"talk"}`, `id "a"`, func(dir string) error { _, err := LoadTalk(dir); return err }},
		{tasksFile, task, `id "a"`, func(dir string) error { _, err := LoadClarify(dir); return err }},
		{claimsFile, `{"id":"a","claim":"x","evidence":["y"],"label":"supported"}`, `id "a"`, func(dir string) error { _, err := LoadClaims(dir); return err }},
		{topicsFile, `{"topic_id":1,"request":"x","facets":[{"id":"a","text":"y"}]}`, `facet id "a"`, func(dir string) error { _, err := LoadTopics(dir); return err }},
		{queriesFile, `{"_id":"a","text":"x"}`, `_id "a"`, retrieval},
		{corpusFile, `{"_id":"a","text":"x"}`, `_id "a"`, retrieval},
		{"answers", `{"id":"a"}`, `id "a"`, func(dir string) error { _, err := LoadAnswers(filepath.Join(dir, "answers")); return err }},
		{"answers", `{"id":"a"}`, `id "a"`, func(dir string) error { _, err := LoadTalkAnswers(filepath.Join(dir, "answers")); return err }},
	} {
		set := retrievalSet()
		set[test.file] = test.line + "\n\n" + test.line + "\n"
		dir := writeFiles(t, set)
		want := filepath.Join(dir, test.file) + ":3: " + test.field + " occurs twice"
		if err := test.load(dir); err == nil || err.Error() != want {
			t.Errorf("%s gives %v, want %q", test.file, err, want)
		}
	}
}

func TestCollect(t *testing.T) {
	questions := []Question{{ID: "q1", Question: "one"}, {ID: "q2", Question: "two"}}
	answers, err := Collect(t.Context(), questions, func(_ context.Context, q Question) (Answer, error) {
		return Answer{Answer: "re " + q.Question}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(answers) != 2 || answers[1].ID != "q2" || answers[1].Answer != "re two" || answers[1].LatencyMS == nil {
		t.Errorf("answers %+v", answers)
	}
	broken := errors.New("broken")
	_, err = Collect(t.Context(), questions, func(context.Context, Question) (Answer, error) { return Answer{}, broken })
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), `"q1"`) {
		t.Errorf("error %v", err)
	}
}

func TestWriteAnswerIsReadBack(t *testing.T) {
	want := []Answer{
		{ID: "a", Answer: "<b> & more", LatencyMS: new(1.5), Sources: []Source{{Place: Place{Path: "p.md", Anchor: "x"}, Rank: 1}}},
		{ID: "b", Abstained: true, Sources: []Source{}},
	}
	var file bytes.Buffer
	for _, answer := range want {
		if err := WriteAnswer(&file, answer); err != nil {
			t.Fatal(err)
		}
	}
	got, err := readAnswers("answers", &file)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("read back %+v, want %+v", got, want)
	}
}

func TestOccursInWholeTokens(t *testing.T) {
	for _, test := range []struct {
		fact, text string
		want       bool
	}{
		{"`10`", "100 files", false},
		{"`10`", "110 or 10", true},
		{"`sync`", "async", false},
		{"`--x`", "use `--x=1`", true},
		{"both `a|b` and `c`", "B. C", true},
		{"both `a|b` and `c`", "b", false},
		{"`my file`", "“My\u00a0 file”", true},
	} {
		if got := holds(test.fact, norm(test.text)); got != test.want {
			t.Errorf("holds(%q, %q) = %v", test.fact, test.text, got)
		}
	}
}
