package eval

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func writeFiles(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// retrievalSet has two queries with a relevant document and one without.
func retrievalSet() map[string]string {
	return map[string]string{
		corpusFile: `{"_id":"d1","title":"One","text":"first"}` + "\n\n" + `{"_id":"d2","text":"second"}` + "\r\n" +
			`{"_id":"d3","title":"","text":"third"}`,
		queriesFile: `{"_id":"q1","text":"who"}` + "\n" + `{"_id":"q2","text":"what"}` + "\n" + `{"_id":"q3","text":"why"}` + "\n",
		qrelsFile:   qrelsHeader + "\nq1\td1\t1\nq1\td3\t1\r\nq2\td2\t2\nq3\td1\t0\n",
	}
}

func TestMeasureRetrieval(t *testing.T) {
	set, err := LoadRetrieval(writeFiles(t, retrievalSet()))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string][]string{
		"who":  {"x", "d1", "x", "a", "b", "c", "d3"}, // ranks 2 and 6, the second x takes none
		"what": {},
	}
	scores, err := set.Measure(t.Context(), func(_ context.Context, query string) ([]string, error) {
		return found[query], nil
	})
	if err != nil {
		t.Fatal(err)
	}
	ndcg := (1/math.Log2(3) + 1/math.Log2(7)) / (1 + 1/math.Log2(3))
	for _, measure := range []struct {
		name      string
		got, want float64
	}{
		{"queries", float64(scores.Queries), 2},
		{"recall@5", scores.Recall5, 0.25},
		{"recall@10", scores.Recall10, 0.5},
		{"recall@100", scores.Recall100, 0.5},
		{"MRR@10", scores.MRR10, 0.25},
		{"nDCG@10", scores.NDCG10, ndcg / 2},
	} {
		if math.Abs(measure.got-measure.want) > 1e-12 {
			t.Errorf("%s = %v, want %v", measure.name, measure.got, measure.want)
		}
	}
	if table := scores.Report().Table(); !strings.Contains(table, "  MRR@10                        0.250     2\n") {
		t.Errorf("table:\n%s", table)
	}
}

func TestMeasureRetrievalDepths(t *testing.T) {
	relevant := map[string]bool{"a": true, "b": true, "c": true, "d": true}
	found := make([]string, 101)
	for i := range found {
		found[i] = string(rune(0x4e00 + i))
	}
	found[10], found[99], found[100] = "a", "b", "c" // ranks 11, 100 and 101
	var scores RetrievalScores
	scores.add(found, relevant)
	if want := (RetrievalScores{Recall100: 0.5}); !reflect.DeepEqual(scores, want) {
		t.Errorf("scores %+v, want %+v", scores, want)
	}
}

func TestMeasureRetrievalStopsAtError(t *testing.T) {
	set, err := LoadRetrieval(writeFiles(t, retrievalSet()))
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	_, err = set.Measure(t.Context(), func(context.Context, string) ([]string, error) { return nil, broken })
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), `"q1"`) {
		t.Errorf("error %v", err)
	}
}

func TestDocuments(t *testing.T) {
	set, err := LoadRetrieval(writeFiles(t, retrievalSet()))
	if err != nil {
		t.Fatal(err)
	}
	var got []Document
	for document, err := range set.Documents() {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, document)
		if len(got) == 2 {
			break
		}
	}
	want := []Document{{ID: "d1", Title: "One", Text: "first"}, {ID: "d2", Text: "second"}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("documents %+v, want %+v", got, want)
	}
}

func TestLoadRetrievalErrors(t *testing.T) {
	for _, test := range []struct{ name, file, text, want string }{
		{"broken JSON", queriesFile, "{\"_id\":\"q1\",\"text\":\"x\"}\n{\"_id\":", "queries.jsonl:2: unexpected end of JSON input"},
		{"no object", corpusFile, "[]", "corpus.jsonl:1: not a JSON object"},
		{"no id", corpusFile, `{"text":"x"}`, "corpus.jsonl:1: no _id"},
		{"id of another type", corpusFile, `{"_id":3}`, "corpus.jsonl:1: json: cannot unmarshal number"},
		{"id twice", queriesFile, "{\"_id\":\"q\",\"text\":\"x\"}\n\n{\"_id\":\"q\",\"text\":\"y\"}", `queries.jsonl:3: _id "q" occurs twice`},
		{"no text", queriesFile, `{"_id":"q"}`, `queries.jsonl:1: query "q" has no text`},
		{"no header", qrelsFile, "q1\td1\t1\n", "qrels.tsv:1: the first line must be the header"},
		{"empty", qrelsFile, "", "qrels.tsv is empty"},
		{"fields", qrelsFile, qrelsHeader + "\nq1 d1 1\n", "qrels.tsv:2: 1 fields separated by tabs, want 3"},
		{"score", qrelsFile, qrelsHeader + "\nq1\td1\tyes\n", `qrels.tsv:2: score "yes" is not a whole number`},
		{"empty id", qrelsFile, qrelsHeader + "\nq1\t\t1\n", "qrels.tsv:2: an id is empty"},
		{"unknown query", qrelsFile, qrelsHeader + "\nq9\td1\t1\n", `qrels.tsv:2: query "q9" is not in queries.jsonl`},
		{"unknown document", qrelsFile, qrelsHeader + "\nq1\td9\t1\n", `qrels.tsv:2: document "d9" is not in corpus.jsonl`},
		{"nothing relevant", qrelsFile, qrelsHeader + "\nq1\td1\t0\n", "no query has a relevant document"},
		{"long line", queriesFile, strings.Repeat(" ", maxLine+1), "queries.jsonl:1: line is longer than"},
	} {
		t.Run(test.name, func(t *testing.T) {
			files := retrievalSet()
			files[test.file] = test.text
			_, err := LoadRetrieval(writeFiles(t, files))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}

func TestLoadQuestionsErrors(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"empty", "\n", "questions.jsonl holds no question"},
		{"no id", `{"question":"x"}`, "questions.jsonl:1: no id"},
		{"no text", `{"id":"a","question":" "}`, `questions.jsonl:1: question "a" has no text`},
		{"expectation", `{"id":"a","question":"x","expect":"guess"}`, `questions.jsonl:1: question "a": expect "guess", want answer, ask or abstain`},
		{"no gold", `{"id":"a","question":"x","facts":["` + "`y`" + `"]}`, `question "a" is to be answered and needs gold and facts`},
		{"fact without literal", `{"id":"a","question":"x","gold":[{"path":"p"}],"facts":["y"]}`, `question "a": "y" has nothing in back quotes to match`},
		{"gold without path", `{"id":"a","question":"x","gold":[{"path":"p","alt":[{}]}],"facts":["` + "`y`" + `"]}`, "a gold section without a path"},
		{"role", `{"id":"a","question":"x","expect":"abstain","history":[{"role":"bot"}]}`, `role "bot" in history, want user or assistant`},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := LoadQuestions(writeFiles(t, map[string]string{questionsFile: test.text}))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}

func TestFindPagesNamesWhatIsMissing(t *testing.T) {
	dir := writeFiles(t, map[string]string{"a/one.md": "1", "b/two.md": "2"})
	questions := []Question{{Gold: []Gold{{Place: Place{Path: "one.md"}}, {Place: Place{Path: "two.md"}}}}}
	_, err := FindPages(dir, questions)
	if err == nil || !strings.Contains(err.Error(), "(one.md is not there)") {
		t.Errorf("error %v", err)
	}
}

func TestDetect(t *testing.T) {
	for _, test := range []struct {
		name  string
		files map[string]string
		form  Form
		want  string
	}{
		{"answers", map[string]string{questionsFile: "", "docs/a.md": ""}, FormAnswers, ""},
		{"clarify", map[string]string{tasksFile: "", "qulac.jsonl": ""}, FormClarify, ""},
		{"neither", map[string]string{"readme.md": ""}, "", "holds no question set: it needs questions.jsonl or talk.jsonl beside"},
	} {
		t.Run(test.name, func(t *testing.T) {
			form, err := Detect(writeFiles(t, test.files))
			if form != test.form {
				t.Errorf("form %q, want %q", form, test.form)
			}
			if (err == nil) != (test.want == "") || (err != nil && !strings.Contains(err.Error(), test.want)) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
	if _, err := Detect(filepath.Join(t.TempDir(), "nowhere")); err == nil || !strings.Contains(err.Error(), "no folder") {
		t.Errorf("error %v", err)
	}
}
