package graph

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// documentV1 is a checkpoint of format 1, which kept a node's answers beside those of
// the run and its questions with the place where they were asked.
type documentV1 struct {
	Run      string            `json:"run"`
	Seq      int64             `json:"seq"`
	Answered map[string]Answer `json:"answered"`
	Graph    *frameV1          `json:"graph"`
}

type frameV1 struct {
	Name    string                     `json:"name"`
	Version int                        `json:"version"`
	Steps   int                        `json:"steps"`
	Done    bool                       `json:"done"`
	State   map[string]json.RawMessage `json:"state"`
	Tasks   []taskV1                   `json:"tasks"`
	Joins   map[string][]string        `json:"joins"`
	Visits  map[string]int             `json:"visits"`
}

type taskV1 struct {
	Node     string                       `json:"node"`
	Visit    int                          `json:"visit"`
	Done     bool                         `json:"done"`
	Changes  []map[string]json.RawMessage `json:"changes"`
	Question *Question                    `json:"question"`
	Answers  []answerV1                   `json:"answers"`
	Sub      *frameV1                     `json:"sub"`
}

type answerV1 struct {
	Key    string `json:"key"`
	Answer Answer `json:"answer"`
}

// decodeFormat1 reads a checkpoint of format 1 as the document of today.
func decodeFormat1(checkpoint []byte) (*document, error) {
	var old documentV1
	if err := json.Unmarshal(checkpoint, &old); err != nil {
		return nil, err
	}
	doc := &document{Run: old.Run, Seq: old.Seq}
	for _, id := range slices.Sorted(maps.Keys(old.Answered)) {
		answer := old.Answered[id]
		answer.QuestionID = id
		doc.Answered = append(doc.Answered, answer)
	}
	if old.Graph == nil {
		return doc, nil
	}
	var err error
	doc.Graph, err = old.Graph.toDocument()
	return doc, err
}

func (f *frameV1) toDocument() (*frameDoc, error) {
	doc := &frameDoc{Name: f.Name, Version: f.Version, Steps: f.Steps, Done: f.Done, State: sortedValues(f.State)}
	counts := []int{f.Steps}
	for _, t := range f.Tasks {
		task, err := t.toDocument()
		if err != nil {
			return nil, err
		}
		counts = append(counts, t.Visit)
		doc.Tasks = append(doc.Tasks, task)
	}
	for _, node := range slices.Sorted(maps.Keys(f.Joins)) {
		doc.Joins = append(doc.Joins, joinDoc{node, f.Joins[node]})
	}
	for _, node := range slices.Sorted(maps.Keys(f.Visits)) {
		counts = append(counts, f.Visits[node])
		doc.Visits = append(doc.Visits, visitDoc{node, f.Visits[node]})
	}
	for _, count := range counts {
		if count < 0 || count > maxCount {
			return nil, fmt.Errorf("count %d is out of range", count)
		}
	}
	return doc, nil
}

func (t *taskV1) toDocument() (doc taskDoc, err error) {
	doc = taskDoc{Node: t.Node, Visit: t.Visit, Done: t.Done, Question: t.Question}
	for _, change := range t.Changes {
		doc.Changes = append(doc.Changes, sortedValues(change))
	}
	for _, a := range t.Answers {
		doc.Answers = append(doc.Answers, answerDoc{a.Key, a.Answer.QuestionID})
	}
	if t.Sub != nil {
		doc.Sub, err = t.Sub.toDocument()
	}
	return doc, err
}

func sortedValues(fields map[string]json.RawMessage) []storedValue {
	values := make([]storedValue, 0, len(fields))
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		values = append(values, storedValue{name, fields[name]})
	}
	return values
}
