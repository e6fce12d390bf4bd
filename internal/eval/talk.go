package eval

import (
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Reaction is what a bot does, or should do, with a message of a talk set.
type Reaction string

// A message is answered, asked back about or declined; it gets a short social reply or
// none at all; or the open question that it ends is dropped.
const (
	ReactAnswer  Reaction = "answer"
	ReactAsk     Reaction = "ask"
	ReactAbstain Reaction = "abstain"
	ReactTalk    Reaction = "talk"
	ReactQuiet   Reaction = "quiet"
	ReactDrop    Reaction = "drop"
)

// reactions are all of them, in the order of a report.
var reactions = []Reaction{ReactAnswer, ReactAsk, ReactAbstain, ReactTalk, ReactQuiet, ReactDrop}

// TalkItem is one message of a talk set, with the conversation that it comes in.
type TalkItem struct {
	ID       string `json:"id"`
	Kind     string `json:"kind"`     // "definition", "thread", …; groups the report
	Lang     string `json:"lang"`     // of the message; "" is English
	Question string `json:"question"` // the message
	History  []Turn `json:"history"`  // the bot's own conversation before it, oldest first
	// Thread is what people said before the bot was mentioned, Forwarded what the message
	// passes on, OpenQuestion what the bot has asked and nobody has answered yet.
	Thread       []Said        `json:"thread"`
	Forwarded    *Said         `json:"forwarded"`
	OpenQuestion *OpenQuestion `json:"open_question"`

	Expect Reaction   `json:"expect"`
	Also   []Reaction `json:"also"` // as good as Expect
	// Gold, Facts, MustNot and Readings are as in Question.
	Gold     []Gold   `json:"gold"`
	Facts    []string `json:"facts"`
	MustNot  []string `json:"must_not"`
	Readings []string `json:"readings"`
}

// Said is what a person wrote.
type Said struct {
	Author string `json:"author"`
	Text   string `json:"text"`
}

// OpenQuestion is a question that the bot has asked, with the choices that it offered.
type OpenQuestion struct {
	Text    string   `json:"text"`
	Choices []string `json:"choices"`
}

// TalkAnswer is what a bot did with a message: one line of an answers file.
type TalkAnswer struct {
	ID      string  `json:"id"`
	Outcome Outcome `json:"outcome"`
	Answer  string  `json:"answer"` // the whole text that the person is shown
	// Choices are those that it offered where it asked back.
	Choices   []string `json:"choices"`
	Sources   []Source `json:"sources"`
	LatencyMS *float64 `json:"latency_ms,omitempty"`
}

// Outcome is a reaction as answers files name it.
type Outcome string

// The outcomes, in the order of reactions.
const (
	OutcomeAnswered  Outcome = "answered"
	OutcomeAsked     Outcome = "asked"
	OutcomeAbstained Outcome = "abstained"
	OutcomeTalked    Outcome = "talked"
	OutcomeSilent    Outcome = "silent"
	OutcomeDropped   Outcome = "dropped"
)

// outcomeMissing stands for a message without an answer.
const outcomeMissing Outcome = "missing"

var outcomes = []Outcome{OutcomeAnswered, OutcomeAsked, OutcomeAbstained, OutcomeTalked, OutcomeSilent, OutcomeDropped}

// reaction is what an outcome is as a Reaction, "" for none that is known.
func (o Outcome) reaction() Reaction {
	if at := slices.Index(outcomes, o); at >= 0 {
		return reactions[at]
	}
	return ""
}

// LoadTalk reads the items of a talk set, the file talk.jsonl of dir.
func LoadTalk(dir string) ([]TalkItem, error) {
	return loadFile(filepath.Join(dir, talkFile), readTalk)
}

// LoadTalkAnswers reads an answers file of a talk set.
func LoadTalkAnswers(path string) ([]TalkAnswer, error) {
	return loadFile(path, func(name string, r io.Reader) ([]TalkAnswer, error) {
		var answers []TalkAnswer
		seen := make(map[string]bool)
		for rec, err := range readRecords[TalkAnswer](name, r) {
			if err != nil {
				return nil, err
			}
			if err := newID(seen, rec.value.ID, "id"); err != nil {
				return nil, fmt.Errorf("%s:%d: %w", name, rec.line, err)
			}
			answers = append(answers, rec.value)
		}
		return answers, nil
	})
}

func readTalk(name string, r io.Reader) ([]TalkItem, error) {
	var items []TalkItem
	seen := make(map[string]bool)
	for rec, err := range readRecords[TalkItem](name, r) {
		if err != nil {
			return nil, err
		}
		err := newID(seen, rec.value.ID, "id")
		if err == nil {
			err = rec.value.check()
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, rec.line, err)
		}
		items = append(items, rec.value)
	}
	if len(items) == 0 {
		return nil, fmt.Errorf("%s holds no message", name)
	}
	return items, nil
}

// check sees to it that every measure has what it needs.
func (i TalkItem) check() error {
	if !slices.Contains(reactions, i.Expect) {
		return fmt.Errorf("message %q: expect %q, want one of %q", i.ID, i.Expect, reactions)
	}
	return i.AsQuestion().check()
}

// AsQuestion gives the item as a question of an answer set: one whose message asks for
// nothing is not answered.
func (i TalkItem) AsQuestion() Question {
	question := Question{
		ID: i.ID, Kind: i.Kind, Question: i.Question, History: i.History, Expect: DecisionAbstain,
		Gold: i.Gold, Facts: i.Facts, MustNot: i.MustNot,
	}
	switch i.Expect {
	case ReactAnswer, ReactAsk:
		question.Expect = Decision(i.Expect)
	case ReactAbstain, ReactTalk, ReactQuiet, ReactDrop:
	}
	return question
}

// FindTalkPages gives the one folder of documents beside the items, to which their paths
// are relative.
func FindTalkPages(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", fmt.Errorf("find the documents of a talk set: %w", err)
	}
	var folders []string
	for _, entry := range entries {
		if entry.IsDir() && !strings.HasPrefix(entry.Name(), ".") {
			folders = append(folders, entry.Name())
		}
	}
	if len(folders) != 1 {
		return "", fmt.Errorf("talk set %s holds %d folders %q: put the documents into one folder beside %s", filepath.Clean(dir), len(folders), folders, talkFile)
	}
	return filepath.Join(dir, folders[0]), nil
}

// Halves gives each item its half of the set, 0 or 1. Items are divided in the order of
// their ids' hashes within each kind and language, so that both halves have as many of
// each, or one more.
func Halves(items []TalkItem) map[string]int {
	strata := make(map[[2]string][]string)
	for _, item := range items {
		stratum := [2]string{item.Kind, item.Lang}
		strata[stratum] = append(strata[stratum], item.ID)
	}
	halves := make(map[string]int, len(items))
	for stratum, ids := range strata {
		slices.SortFunc(ids, compareHashes)
		first := int(hashOf(stratum[0]+"/"+stratum[1]) % 2)
		for at, id := range ids {
			halves[id] = (first + at) % 2
		}
	}
	return halves
}

// HalvesOfQuestions gives each question of another set its half, as Halves does.
func HalvesOfQuestions(questions []Question) map[string]int {
	items := make([]TalkItem, len(questions))
	for i, question := range questions {
		items[i] = TalkItem{ID: question.ID, Kind: question.Kind}
	}
	return Halves(items)
}

func compareHashes(a, b string) int {
	if first, second := hashOf(a), hashOf(b); first != second {
		if first < second {
			return -1
		}
		return 1
	}
	return strings.Compare(a, b)
}

func hashOf(text string) uint32 {
	hash := fnv.New32a()
	hash.Write([]byte(text))
	return hash.Sum32()
}
