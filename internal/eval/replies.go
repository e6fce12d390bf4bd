package eval

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
)

const repliesFile = "replies.jsonl"

// UnitKind is what a labelled unit of a reply is.
type UnitKind string

// The kinds of units. Headers and leads are always right: they tell whether the form survives.
const (
	UnitSentence     UnitKind = "sentence"
	UnitItem         UnitKind = "item"
	UnitRow          UnitKind = "row"
	UnitHeader       UnitKind = "header"
	UnitLead         UnitKind = "lead"
	UnitCode         UnitKind = "code"
	UnitAboutSources UnitKind = "about-sources"
)

// Verdict is what became of a unit of a reply.
type Verdict string

// A kept unit is shown as checked, a marked one with a remark, a removed one not at all.
const (
	UnitKept    Verdict = "kept"
	UnitMarked  Verdict = "marked"
	UnitRemoved Verdict = "removed"
)

// Reply is a reply of a model to a question, with labelled units.
type Reply struct {
	ID       string            `json:"id"`
	Lang     string            `json:"lang"`
	Question string            `json:"question"`
	Text     string            `json:"reply"`     // cites "[[path#anchor]]"
	Raw      string            `json:"reply_raw"` // the same with numbered citations; "" for none
	Numbers  map[string]string `json:"numbers"`   // what the numbers of Raw mean
	Sources  []string          `json:"sources"`   // "path#anchor"
	Units    []ReplyUnit       `json:"units"`
}

// ReplyUnit is a sentence, an item, a row or a code block of a reply.
type ReplyUnit struct {
	Text     string   `json:"text"`
	Kind     UnitKind `json:"kind"`
	Label    string   `json:"label"` // "right" or "wrong"
	Cites    []string `json:"cites"`
	Cited    string   `json:"cited"` // "own", "inherited" or "none"
	Hardness string   `json:"hardness"`
}

// Wrong says whether the cited sections don't state the unit.
func (u ReplyUnit) Wrong() bool { return u.Label == "wrong" }

// isForm says whether a unit states nothing.
func (u ReplyUnit) isForm() bool { return u.Kind == UnitHeader || u.Kind == UnitLead }

// ReplyOutcome is what checking and rendering made of a reply.
type ReplyOutcome struct {
	ID      string            `json:"id"`
	Units   []UnitOutcome     `json:"units"`
	Text    string            `json:"text"`    // the final Markdown
	Sources map[string]string `json:"sources"` // number → "path#anchor"
}

// UnitOutcome is the verdict on a unit.
type UnitOutcome struct {
	Text    string  `json:"text"`
	Verdict Verdict `json:"verdict"`
}

// LoadReplies reads the replies of a set, the file replies.jsonl of dir.
func LoadReplies(dir string) ([]Reply, error) {
	return loadFile(filepath.Join(dir, repliesFile), readReplies)
}

func readReplies(name string, r io.Reader) ([]Reply, error) {
	var replies []Reply
	seen := make(map[string]bool)
	for rec, err := range readRecords[Reply](name, r) {
		if err != nil {
			return nil, err
		}
		if err := newID(seen, rec.value.ID, "id"); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, rec.line, err)
		}
		replies = append(replies, rec.value)
	}
	if len(replies) == 0 {
		return nil, fmt.Errorf("%s holds no reply", name)
	}
	return replies, nil
}

// HalvesOfReplies gives each question, with all replies to it, to one of two halves, in turn.
func HalvesOfReplies(replies []Reply) map[string]int {
	var questions []string
	halves := make(map[string]int)
	for _, r := range replies {
		position := slices.Index(questions, r.Question)
		if position < 0 {
			position = len(questions)
			questions = append(questions, r.Question)
		}
		halves[r.ID] = position % 2
	}
	return halves
}

// WriteReplyOutcomes writes outcomes, a JSON object a line, as the scorer of the set reads them.
func WriteReplyOutcomes(path string, outcomes []ReplyOutcome) (err error) {
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("write the outcomes of replies: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	encoder := json.NewEncoder(file)
	encoder.SetEscapeHTML(false)
	for _, outcome := range outcomes {
		if err := encoder.Encode(outcome); err != nil {
			return fmt.Errorf("write the outcomes of replies: %w", err)
		}
	}
	return nil
}

var (
	sectionMark  = regexp.MustCompile(`[ \t]*\[\[[^\s\[\]]*#[^\s\[\]]*\]\]`)
	sectionCited = regexp.MustCompile(`\[\[([^\s\[\]]*#[^\s\[\]]*)\]\]`)
)

// Numbered gives the reply as a model writes it, with numbered citations, and what the
// numbers mean.
func (r Reply) Numbered() (text string, numbers map[string]string) {
	if r.Raw != "" {
		return r.Raw, r.Numbers
	}
	numbers = make(map[string]string, len(r.Sources))
	for i, source := range r.Sources {
		numbers[fmt.Sprint(i+1)] = source
	}
	text = sectionCited.ReplaceAllStringFunc(r.Text, func(mark string) string {
		cited := sectionCited.FindStringSubmatch(mark)[1]
		return fmt.Sprintf("[%d]", slices.Index(r.Sources, cited)+1)
	})
	return text, numbers
}

// plain is the reply without its citations.
func (r Reply) plain() string { return sectionMark.ReplaceAllString(r.Text, "") }
