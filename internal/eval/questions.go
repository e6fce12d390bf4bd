package eval

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Decision is what a bot does with a question.
type Decision string

// A question is answered, asked back about because it can mean several things, or
// declined because the documents do not tell.
const (
	DecisionAnswer  Decision = "answer"
	DecisionAsk     Decision = "ask"
	DecisionAbstain Decision = "abstain"
)

// Question is one question of an answer set.
type Question struct {
	ID       string   `json:"id"`
	Kind     string   `json:"kind"`     // "lookup", "how-to", …; groups the report
	Question string   `json:"question"` // what the person types
	History  []Turn   `json:"history"`  // the turns before it, oldest first
	Expect   Decision `json:"expect"`   // DecisionAnswer where the file says nothing
	// Gold are the sections that hold the answer; all of them are needed.
	Gold []Gold `json:"gold"`
	// Facts are what a right answer states, MustNot what would be wrong, Readings
	// what an ambiguous question can mean. Parts in back quotes are matched, spellings
	// separated by "|"; the rest is for people.
	Facts    []string `json:"facts"`
	MustNot  []string `json:"must_not"`
	Readings []string `json:"readings"`
}

// Turn is what was said before a follow-up question. Role is "user" or "assistant".
type Turn struct {
	Role string `json:"role"`
	Text string `json:"text"`
}

// Place is a section of a page. Anchor is the heading's slug, "" for what stands
// before the first heading.
type Place struct {
	Path   string `json:"path"`
	Anchor string `json:"anchor"`
}

// Gold is a section that holds the answer, or one of those that serve in its place.
type Gold struct {
	Place
	Alt []Place `json:"alt"`
}

// places are the section itself and those that serve as well.
func (g Gold) places() []Place { return append([]Place{g.Place}, g.Alt...) }

// Answer is what a bot made of a question: one line of an answers file.
type Answer struct {
	ID        string `json:"id"`
	Answer    string `json:"answer"` // when asked, the question that it asks back
	Asked     bool   `json:"asked"`
	Abstained bool   `json:"abstained"`
	// LatencyMS is nil where it was not measured.
	LatencyMS *float64 `json:"latency_ms,omitempty"`
	Sources   []Source `json:"sources"`
}

// Source is a passage that an answer rests on. Rank counts from 1; a source without
// one comes last.
type Source struct {
	Place
	Rank int `json:"rank"`
}

// decision is what the answer amounts to.
func (a Answer) decision() Decision {
	switch {
	case a.Asked:
		return DecisionAsk
	case a.Abstained:
		return DecisionAbstain
	}
	return DecisionAnswer
}

// LoadQuestions reads the questions of an answer set, the file questions.jsonl of dir.
func LoadQuestions(dir string) ([]Question, error) {
	return loadFile(filepath.Join(dir, questionsFile), readQuestions)
}

// LoadAnswers reads a file that WriteAnswer wrote line by line.
func LoadAnswers(path string) ([]Answer, error) {
	return loadFile(path, readAnswers)
}

// WriteAnswer writes one line of an answers file.
func WriteAnswer(w io.Writer, answer Answer) error {
	if answer.Sources == nil {
		answer.Sources = []Source{}
	}
	if err := json.NewEncoder(w).Encode(answer); err != nil {
		return fmt.Errorf("write answer %q: %w", answer.ID, err)
	}
	return nil
}

// FindPages gives the folder that the questions' paths are relative to: dir itself or
// one of the folders in it, whichever holds every page that the questions name.
func FindPages(dir string, questions []Question) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", fmt.Errorf("find the documents of a question set: %w", err)
	}
	candidates := []string{dir}
	for _, entry := range entries {
		if entry.IsDir() {
			candidates = append(candidates, filepath.Join(dir, entry.Name()))
		}
	}
	var missing string
	for _, candidate := range candidates {
		path, err := firstMissing(candidate, questions)
		if err != nil {
			return "", err
		}
		if path == "" {
			return candidate, nil
		}
		missing = path
	}
	return "", fmt.Errorf("neither %s nor a folder in it holds every page that %s names (%s is not there)",
		filepath.Clean(dir), questionsFile, missing)
}

// firstMissing is the first page named by the questions that root does not hold, or "".
func firstMissing(root string, questions []Question) (string, error) {
	tree, err := os.OpenRoot(root)
	if err != nil {
		return "", fmt.Errorf("open documents: %w", err)
	}
	defer tree.Close()
	for _, question := range questions {
		for _, gold := range question.Gold {
			for _, place := range gold.places() {
				exists, err := isRegular(tree, place.Path)
				if err != nil {
					return "", fmt.Errorf("look for page %s: %w", place.Path, err)
				}
				if !exists {
					return place.Path, nil
				}
			}
		}
	}
	return "", nil
}

func readQuestions(name string, r io.Reader) ([]Question, error) {
	var questions []Question
	seen := make(map[string]bool)
	for rec, err := range readRecords[Question](name, r) {
		if err != nil {
			return nil, err
		}
		question := rec.value
		if question.Expect == "" {
			question.Expect = DecisionAnswer
		}
		err := newID(seen, question.ID, "id")
		if err == nil {
			err = question.check()
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, rec.line, err)
		}
		questions = append(questions, question)
	}
	if len(questions) == 0 {
		return nil, fmt.Errorf("%s holds no question", name)
	}
	return questions, nil
}

// check sees to it that every measure has what it needs.
func (q Question) check() error {
	if strings.TrimSpace(q.Question) == "" {
		return fmt.Errorf("question %q has no text", q.ID)
	}
	if err := q.checkHistory(); err != nil {
		return err
	}
	switch q.Expect {
	case DecisionAsk, DecisionAbstain:
		return nil
	case DecisionAnswer:
	default:
		return fmt.Errorf("question %q: expect %q, want answer, ask or abstain", q.ID, q.Expect)
	}
	if len(q.Gold) == 0 || len(q.Facts) == 0 {
		return fmt.Errorf("question %q is to be answered and needs gold and facts", q.ID)
	}
	for _, gold := range q.Gold {
		for _, place := range gold.places() {
			if place.Path == "" {
				return fmt.Errorf("question %q: a gold section without a path", q.ID)
			}
		}
	}
	for _, fact := range slices.Concat(q.Facts, q.MustNot) {
		if len(literals(fact)) == 0 {
			return fmt.Errorf("question %q: %q has nothing in back quotes to match", q.ID, fact)
		}
	}
	return nil
}

func (q Question) checkHistory() error {
	for _, turn := range q.History {
		if turn.Role != "user" && turn.Role != "assistant" {
			return fmt.Errorf("question %q: role %q in history, want user or assistant", q.ID, turn.Role)
		}
	}
	return nil
}

func readAnswers(name string, r io.Reader) ([]Answer, error) {
	var answers []Answer
	seen := make(map[string]bool)
	for rec, err := range readRecords[Answer](name, r) {
		if err != nil {
			return nil, err
		}
		if err := newID(seen, rec.value.ID, "id"); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, rec.line, err)
		}
		for _, source := range rec.value.Sources {
			if source.Rank < 0 {
				return nil, fmt.Errorf("%s:%d: rank %d, want 1 or more", name, rec.line, source.Rank)
			}
		}
		answers = append(answers, rec.value)
	}
	return answers, nil
}
