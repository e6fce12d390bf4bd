package eval

import (
	"bytes"
	"strings"
	"testing"
)

func FuzzReadQuestions(f *testing.F) {
	f.Add([]byte(`{"id":"a","question":"x","gold":[{"path":"p","anchor":"b","alt":[{"path":"q"}]}],"facts":["` + "`y|z`" + `"]}`))
	f.Add([]byte(`{"id":"b","question":"x","expect":"ask","readings":["` + "`y`" + `"],"history":[{"role":"user","text":""}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		questions, err := readQuestions("questions", bytes.NewReader(data))
		if err != nil {
			return
		}
		// What loads can be scored, with every share between 0 and 1.
		answers := []Answer{{ID: questions[0].ID, Answer: string(data), Sources: []Source{{Place: Place{Path: "p"}}}}}
		scores, err := Score(questions, answers, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, group := range scores.Report(true).Groups {
			for _, row := range group.Rows {
				if !(row.Value >= 0 && row.Value <= 1) {
					t.Errorf("%s: %s is %v", group.Name, row.Name, row.Value)
				}
			}
		}
	})
}

func FuzzReadAnswers(f *testing.F) {
	f.Add([]byte(`{"id":"a","answer":"x","asked":true,"latency_ms":3,"sources":[{"path":"p","anchor":null,"rank":1}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		answers, err := readAnswers("answers", bytes.NewReader(data))
		if err != nil {
			return
		}
		var file bytes.Buffer
		for _, answer := range answers {
			if err := WriteAnswer(&file, answer); err != nil {
				t.Fatal(err)
			}
		}
		again, err := readAnswers("again", &file)
		if err != nil || len(again) != len(answers) {
			t.Errorf("%d answers read back as %d: %v", len(answers), len(again), err)
		}
	})
}

func FuzzReadDocuments(f *testing.F) {
	f.Add([]byte(`{"_id":"a","title":"t","text":"x"}` + "\n\n" + `{"_id":"b"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		seen := make(map[string]bool)
		for document, err := range readDocuments("corpus", bytes.NewReader(data)) {
			if err != nil {
				return
			}
			if document.ID == "" || seen[document.ID] {
				t.Errorf("id %q is empty or repeated", document.ID)
			}
			seen[document.ID] = true
		}
	})
}

func FuzzReadJudgements(f *testing.F) {
	f.Add([]byte(qrelsHeader + "\nq\td\t1\r\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		judged, err := readJudgements("qrels", bytes.NewReader(data))
		if err != nil {
			return
		}
		for _, j := range judged {
			if j.query == "" || j.document == "" || j.line < 2 {
				t.Errorf("judgement %+v", j)
			}
		}
	})
}

func FuzzCutSections(f *testing.F) {
	f.Add("---\ntitle: x\n---\n# a\r\n```\n# b\n```\n## _c_ d_e")
	f.Fuzz(func(t *testing.T, page string) {
		sections := cutSections(page)
		if len(sections) == 0 {
			t.Fatal("no section at all")
		}
		kept := 0
		for _, s := range sections {
			kept += len(s.text)
			if len(s.path) == 0 || s.path[len(s.path)-1] != canon(s.anchor) {
				t.Errorf("section %q has the path %q", s.anchor, s.path)
			}
			if strings.ContainsAny(s.anchor, " `*") {
				t.Errorf("anchor %q", s.anchor)
			}
		}
		if kept > len(page) {
			t.Errorf("%d bytes of text from a page of %d", kept, len(page))
		}
	})
}
