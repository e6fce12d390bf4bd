package eval

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"strings"
)

// Answerability is what the documents of a clarify set hold for a conversation's last
// question.
type Answerability string

// A question that is partly answered by the documents is to be answered.
const (
	Answerable     Answerability = "ANSWERABLE"
	Partial        Answerability = "PARTIAL"
	Unanswerable   Answerability = "UNANSWERABLE"
	Underspecified Answerability = "UNDERSPECIFIED"
)

// expected is what a good reply to a question of each kind does.
var expected = map[Answerability]Decision{
	Answerable: DecisionAnswer, Partial: DecisionAnswer, Unanswerable: DecisionAbstain, Underspecified: DecisionAsk,
}

// ClarifySet is conversations whose last question is to be answered, asked back about
// or declined, over an index of the passages of all of them.
type ClarifySet struct {
	// Questions have the answerability as their kind, what is expected, the turns
	// before, and as gold the passages that an answer rests on.
	Questions []Question
	passages  []Document
}

// LoadClarify reads the conversations of a clarify set, the file tasks.jsonl of dir.
func LoadClarify(dir string) (*ClarifySet, error) {
	return loadFile(filepath.Join(dir, tasksFile), readTasks)
}

// Documents yields the passages of all conversations, each once, in the order of the
// file. It never yields an error.
func (s *ClarifySet) Documents() iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		for _, passage := range s.passages {
			if !yield(passage, nil) {
				return
			}
		}
	}
}

// task is one line of a clarify set.
type task struct {
	ID            string        `json:"id"`
	History       []Turn        `json:"history"`
	Question      string        `json:"question"`
	Answerability Answerability `json:"answerability"`
	Contexts      []struct {
		ID    string `json:"id"`
		Title string `json:"title"`
		Text  string `json:"text"`
	} `json:"contexts"`
}

func readTasks(name string, r io.Reader) (*ClarifySet, error) {
	set := &ClarifySet{}
	seen := make(map[string]bool)
	have := make(map[string]Document)
	for rec, err := range readRecords[task](name, r) {
		if err != nil {
			return nil, err
		}
		if err := errors.Join(newID(seen, rec.value.ID, "id"), set.add(rec.value, have)); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, rec.line, err)
		}
	}
	if len(set.Questions) == 0 || len(set.passages) == 0 {
		return nil, fmt.Errorf("%s holds no conversation with a context", name)
	}
	return set, nil
}

// add takes a conversation and those of its passages that are new.
func (s *ClarifySet) add(t task, have map[string]Document) error {
	decision, known := expected[t.Answerability]
	if !known {
		return fmt.Errorf("conversation %q: answerability %q, want %s, %s, %s or %s",
			t.ID, t.Answerability, Answerable, Partial, Unanswerable, Underspecified)
	}
	if strings.TrimSpace(t.Question) == "" {
		return fmt.Errorf("conversation %q has no question", t.ID)
	}
	question := Question{ID: t.ID, Kind: string(t.Answerability), Question: t.Question, History: t.History, Expect: decision}
	if err := question.checkHistory(); err != nil {
		return err
	}
	for _, passage := range t.Contexts {
		if passage.ID == "" {
			return fmt.Errorf("conversation %q has a context without an id", t.ID)
		}
		question.Gold = append(question.Gold, Gold{Place: Place{Path: passage.ID}})
		known, ok := have[passage.ID]
		if ok && known != Document(passage) {
			return fmt.Errorf("conversation %q: context %q has another text than before", t.ID, passage.ID)
		}
		if !ok {
			have[passage.ID] = Document(passage)
			s.passages = append(s.passages, Document(passage))
		}
	}
	s.Questions = append(s.Questions, question)
	return nil
}
