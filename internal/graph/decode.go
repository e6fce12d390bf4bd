package graph

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"
)

// document is a checkpoint that was read.
type document struct {
	Run      string
	Seq      int64 // of the last event
	Answered []Answer
	Graph    *frameDoc
}

// frameDoc is the position of one graph.
type frameDoc struct {
	Name    string
	Version int
	Steps   int
	Done    bool
	State   []storedValue
	Tasks   []taskDoc
	Joins   []joinDoc
	Visits  []visitDoc
}

// storedValue is a field's value in the state or in a change.
type storedValue struct {
	field string
	raw   json.RawMessage
}

// taskDoc is one node of the step that runs.
type taskDoc struct {
	Node     string
	Visit    int
	Done     bool
	Changes  [][]storedValue
	Question *Question
	Answers  []answerDoc
	Sub      *frameDoc
}

// answerDoc tells which of the run's answers a node has had, under which key.
type answerDoc struct{ Key, Question string }

// joinDoc is a join with the nodes that have come to it.
type joinDoc struct {
	Node string
	From []string
}

type visitDoc struct {
	Node  string
	Count int
}

// decodeDocument reads a checkpoint of any format that there was. The document refers
// to the checkpoint's bytes.
func decodeDocument(run string, checkpoint []byte) (*document, error) {
	if !json.Valid(checkpoint) {
		// Unmarshal says where.
		return nil, &CheckpointError{Run: run, Err: json.Unmarshal(checkpoint, new(json.RawMessage))}
	}
	format, err := formatOf(checkpoint)
	if err != nil {
		return nil, &CheckpointError{Run: run, Err: err}
	}
	var doc *document
	switch format {
	case formatVersion:
		doc, err = decodeFormat2(checkpoint)
	case 1:
		doc, err = decodeFormat1(checkpoint)
	default:
		return nil, &SchemaError{Run: run, Got: format, Want: formatVersion}
	}
	if err == nil {
		err = doc.check(run)
	}
	if err != nil {
		return nil, &CheckpointError{Run: run, Err: err}
	}
	return doc, nil
}

func (d *document) check(run string) error {
	switch {
	case d.Run != run:
		return fmt.Errorf("it belongs to run %q", d.Run)
	case d.Graph == nil:
		return errors.New("it has no graph")
	case d.Seq < 0:
		return fmt.Errorf("it has the event number %d", d.Seq)
	}
	return nil
}

// formatOf reads the version alone: the rest of another format may be anything.
func formatOf(checkpoint []byte) (format int, err error) {
	r := &reader{text: checkpoint}
	r.object(func(name string) {
		if name != "format" {
			r.value()
			return
		}
		format = r.count()
		r.at = len(r.text) // no need to look further
	})
	return format, r.err
}

func decodeFormat2(checkpoint []byte) (*document, error) {
	r, doc := &reader{text: checkpoint}, &document{}
	r.object(func(name string) {
		switch name {
		case "format":
			r.value()
		case "run":
			doc.Run = r.string()
		case "seq":
			doc.Seq = r.number()
		case "answered":
			r.array(func() { doc.Answered = append(doc.Answered, r.reply()) })
		case "graph":
			doc.Graph = r.frame()
		default:
			r.unknown(name)
		}
	})
	return doc, r.err
}

func (r *reader) frame() *frameDoc {
	doc := &frameDoc{}
	r.object(func(name string) {
		switch name {
		case "name":
			doc.Name = r.string()
		case "version":
			doc.Version = r.count()
		case "steps":
			doc.Steps = r.count()
		case "done":
			doc.Done = r.flag()
		case "state":
			doc.State = r.values(doc.State)
		case "tasks":
			r.array(func() { doc.Tasks = append(doc.Tasks, r.task()) })
		case "joins":
			r.object(func(node string) { doc.Joins = append(doc.Joins, r.join(node)) })
		case "visits":
			r.object(func(node string) { doc.Visits = append(doc.Visits, visitDoc{node, r.count()}) })
		default:
			r.unknown(name)
		}
	})
	return doc
}

func (r *reader) task() (doc taskDoc) {
	r.object(func(name string) {
		switch name {
		case "node":
			doc.Node = r.string()
		case "visit":
			doc.Visit = r.count()
		case "done":
			doc.Done = r.flag()
		case "changes":
			r.array(func() { doc.Changes = append(doc.Changes, r.values(nil)) })
		case "question":
			doc.Question = r.question()
		case "answers":
			r.array(func() { doc.Answers = append(doc.Answers, r.answer()) })
		case "sub":
			doc.Sub = r.frame()
		default:
			r.unknown(name)
		}
	})
	return doc
}

func (r *reader) question() *Question {
	q := &Question{}
	r.object(func(name string) {
		switch name {
		case "key":
			q.Key = r.string()
		case "id":
			q.ID = r.string()
		case "text":
			q.Text = r.string()
		case "choices":
			r.array(func() { q.Choices = append(q.Choices, r.choice()) })
		case "free_text":
			q.FreeText = r.flag()
		case "who":
			q.Who = Who(r.string())
		case "deadline_ns":
			q.Deadline = time.Duration(r.number())
		default:
			r.unknown(name)
		}
	})
	return q
}

func (r *reader) choice() (choice Choice) {
	r.object(func(name string) {
		switch name {
		case "id":
			choice.ID = r.string()
		case "label":
			choice.Label = r.string()
		case "detail":
			choice.Detail = r.string()
		default:
			r.unknown(name)
		}
	})
	return choice
}

// reply reads an answer of the run, answer a node's reference to one.
func (r *reader) reply() (answer Answer) {
	r.object(func(name string) {
		switch name {
		case "question_id":
			answer.QuestionID = r.string()
		case "choice":
			answer.Choice = r.string()
		case "text":
			answer.Text = r.string()
		case "by":
			answer.By = r.string()
		case "at":
			if err := answer.At.UnmarshalText([]byte(r.string())); err != nil {
				r.fail(fmt.Errorf("time of an answer: %w", err))
			}
		default:
			r.unknown(name)
		}
	})
	return answer
}

func (r *reader) answer() (doc answerDoc) {
	r.object(func(name string) {
		switch name {
		case "key":
			doc.Key = r.string()
		case "question":
			doc.Question = r.string()
		default:
			r.unknown(name)
		}
	})
	return doc
}

func (r *reader) join(node string) joinDoc {
	doc := joinDoc{Node: node}
	r.array(func() { doc.From = append(doc.From, r.string()) })
	return doc
}

func (r *reader) values(values []storedValue) []storedValue {
	r.object(func(field string) { values = append(values, storedValue{field, r.value()}) })
	return values
}

// reader walks a text that is valid JSON. After its first error everything reads as
// empty, so that only the end needs to look at err.
type reader struct {
	text []byte
	at   int
	err  error
}

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
	r.at = len(r.text)
}

func (r *reader) unknown(name string) { r.fail(fmt.Errorf("it has an unknown part %q", name)) }

// next gives the byte at which the next value or sign begins, 0 at the end.
func (r *reader) next() byte {
	for r.at < len(r.text) {
		switch c := r.text[r.at]; c {
		case ' ', '\t', '\n', '\r', ',', ':':
			r.at++
		default:
			return c
		}
	}
	return 0
}

// enter steps into an object or array.
func (r *reader) enter(open byte, what string) {
	if r.next() != open {
		r.fail(fmt.Errorf("%s is needed, not %.20q", what, r.value()))
	}
	r.at++
}

// object calls member at the value of each member of an object.
func (r *reader) object(member func(name string)) {
	for r.enter('{', "an object"); r.next() != 0; {
		if r.text[r.at] == '}' {
			r.at++
			return
		}
		member(r.string())
	}
}

// array calls element at each value of an array.
func (r *reader) array(element func()) {
	for r.enter('[', "a list"); r.next() != 0; {
		if r.text[r.at] == ']' {
			r.at++
			return
		}
		element()
	}
}

func (r *reader) string() string {
	if r.next() != '"' {
		r.fail(fmt.Errorf("a string is needed, not %.20q", r.value()))
		return ""
	}
	raw := r.value()
	if plain := raw[1 : len(raw)-1]; bytes.IndexByte(plain, '\\') < 0 && utf8.Valid(plain) {
		return string(plain)
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		r.fail(err)
	}
	return text
}

func (r *reader) number() int64 {
	raw := r.value()
	number, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil {
		r.fail(fmt.Errorf("a whole number is needed, not %.20q", raw))
	}
	return number
}

// maxCount bounds the counters of a checkpoint, far above what a run can reach.
const maxCount = 1 << 30

// count reads a number from 0 to maxCount.
func (r *reader) count() int {
	number := r.number()
	if number < 0 || number > maxCount {
		r.fail(fmt.Errorf("it has a count of %d", number))
		return 0
	}
	return int(number)
}

func (r *reader) flag() bool {
	raw := r.value()
	if !bytes.Equal(raw, []byte("true")) && !bytes.Equal(raw, []byte("false")) {
		r.fail(fmt.Errorf("true or false is needed, not %.20q", raw))
	}
	return len(raw) == len("true")
}

// value gives the text of the next value and steps over it.
func (r *reader) value() json.RawMessage {
	c := r.next()
	from := r.at
	switch c {
	case 0:
		return nil
	case '"':
		r.skipString()
	case '{', '[':
		r.skipNested()
	default:
		r.skipWord()
	}
	return r.text[from:r.at:r.at]
}

// skipWord steps over a number, true, false or null; skipString over a string;
// skipNested over an object or array.
func (r *reader) skipWord() {
	for r.at++; r.at < len(r.text); r.at++ {
		switch r.text[r.at] {
		case ' ', '\t', '\n', '\r', ',', ']', '}':
			return
		}
	}
}

func (r *reader) skipString() {
	for r.at++; r.at < len(r.text) && r.text[r.at] != '"'; r.at++ {
		if r.text[r.at] == '\\' {
			r.at++
		}
	}
	r.at++
}

func (r *reader) skipNested() {
	for depth := 0; r.at < len(r.text); {
		switch r.text[r.at] {
		case '"':
			r.skipString()
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		if r.at++; depth == 0 {
			return
		}
	}
}
