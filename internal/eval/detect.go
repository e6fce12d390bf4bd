package eval

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Form is the layout of a question set.
type Form string

// The forms of sets: one measures a search alone, one whole answers, one the decision
// to answer, to ask or to abstain, one the check of claims against their evidence, and one
// what a bot makes of all kinds of messages in a conversation.
const (
	FormRetrieval Form = "retrieval"
	FormAnswers   Form = "answers"
	FormClarify   Form = "clarify"
	FormGrounding Form = "grounding"
	FormTalk      Form = "talk"
)

// The files by which a set's form is known.
const (
	corpusFile    = "corpus.jsonl"
	queriesFile   = "queries.jsonl"
	qrelsFile     = "qrels.tsv"
	questionsFile = "questions.jsonl"
	tasksFile     = "tasks.jsonl"
	claimsFile    = "claims.jsonl"
	topicsFile    = "qulac.jsonl"
	talkFile      = "talk.jsonl"
)

// Detect says which form of question set for whole answers a folder holds.
func Detect(dir string) (Form, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("no folder %s: name one that holds a question set", dir)
	}
	if err != nil {
		return "", fmt.Errorf("read question set %s: %w", dir, err)
	}
	has := make(map[string]bool)
	for _, entry := range entries {
		has[entry.Name()] = !entry.IsDir()
	}
	switch {
	case has[questionsFile]:
		return FormAnswers, nil
	case has[tasksFile]:
		return FormClarify, nil
	case has[talkFile]:
		return FormTalk, nil
	}
	return "", fmt.Errorf("%s holds no question set: it needs %s or %s beside a folder of documents, or %s",
		filepath.Clean(dir), questionsFile, talkFile, tasksFile)
}
