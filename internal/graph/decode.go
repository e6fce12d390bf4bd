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
		err = doc.checkHeader(run)
	}
	if err != nil {
		return nil, &CheckpointError{Run: run, Err: err}
	}
	return doc, nil
}

func (d *document) checkHeader(run string) error {
	switch {
	case d.Run != run:
		return fmt.Errorf("the checkpoint belongs to run %q", d.Run)
	case d.Graph == nil:
		return errors.New("missing graph")
	case d.Seq < 0:
		return fmt.Errorf("invalid event number %d", d.Seq)
	}
	return nil
}

// formatOf reads the version alone: the rest of another format may be anything.
func formatOf(checkpoint []byte) (format int, err error) {
	r := &reader{text: checkpoint}
	r.readObject(func(name string) {
		if name != "format" {
			r.readValue()
			return
		}
		format = r.readCount()
		r.at = len(r.text) // no need to look further
	})
	return format, r.err
}

func decodeFormat2(checkpoint []byte) (*document, error) {
	r, doc := &reader{text: checkpoint}, &document{}
	r.readObject(func(name string) {
		switch name {
		case "format":
			r.readValue()
		case "run":
			doc.Run = r.readString()
		case "seq":
			doc.Seq = r.readInt()
		case "answered":
			r.readArray(func() { doc.Answered = append(doc.Answered, r.readAnswer()) })
		case "graph":
			doc.Graph = r.readFrame()
		default:
			r.rejectMember(name)
		}
	})
	return doc, r.err
}

func (r *reader) readFrame() *frameDoc {
	doc := &frameDoc{}
	r.readObject(func(name string) {
		switch name {
		case "name":
			doc.Name = r.readString()
		case "version":
			doc.Version = r.readCount()
		case "steps":
			doc.Steps = r.readCount()
		case "done":
			doc.Done = r.readBool()
		case "state":
			doc.State = r.readValues(doc.State)
		case "tasks":
			r.readArray(func() { doc.Tasks = append(doc.Tasks, r.readTask()) })
		case "joins":
			r.readObject(func(node string) { doc.Joins = append(doc.Joins, r.readJoin(node)) })
		case "visits":
			r.readObject(func(node string) { doc.Visits = append(doc.Visits, visitDoc{node, r.readCount()}) })
		default:
			r.rejectMember(name)
		}
	})
	return doc
}

func (r *reader) readTask() (doc taskDoc) {
	r.readObject(func(name string) {
		switch name {
		case "node":
			doc.Node = r.readString()
		case "visit":
			doc.Visit = r.readCount()
		case "done":
			doc.Done = r.readBool()
		case "changes":
			r.readArray(func() { doc.Changes = append(doc.Changes, r.readValues(nil)) })
		case "question":
			doc.Question = r.readQuestion()
		case "answers":
			r.readArray(func() { doc.Answers = append(doc.Answers, r.readAnswerRef()) })
		case "sub":
			doc.Sub = r.readFrame()
		default:
			r.rejectMember(name)
		}
	})
	return doc
}

func (r *reader) readQuestion() *Question {
	q := &Question{}
	r.readObject(func(name string) {
		switch name {
		case "key":
			q.Key = r.readString()
		case "id":
			q.ID = r.readString()
		case "text":
			q.Text = r.readString()
		case "choices":
			r.readArray(func() { q.Choices = append(q.Choices, r.readChoice()) })
		case "free_text":
			q.FreeText = r.readBool()
		case "who":
			q.Who = Who(r.readString())
		case "deadline_ns":
			q.Deadline = time.Duration(r.readInt())
		default:
			r.rejectMember(name)
		}
	})
	return q
}

func (r *reader) readChoice() (choice Choice) {
	r.readObject(func(name string) {
		switch name {
		case "id":
			choice.ID = r.readString()
		case "label":
			choice.Label = r.readString()
		case "detail":
			choice.Detail = r.readString()
		default:
			r.rejectMember(name)
		}
	})
	return choice
}

// readAnswer reads an answer of the run, readAnswerRef a node's reference to one.
func (r *reader) readAnswer() (answer Answer) {
	r.readObject(func(name string) {
		switch name {
		case "question_id":
			answer.QuestionID = r.readString()
		case "choice":
			answer.Choice = r.readString()
		case "text":
			answer.Text = r.readString()
		case "by":
			answer.By = r.readString()
		case "at":
			if err := answer.At.UnmarshalText([]byte(r.readString())); err != nil {
				r.setError(fmt.Errorf("time of an answer: %w", err))
			}
		default:
			r.rejectMember(name)
		}
	})
	return answer
}

func (r *reader) readAnswerRef() (doc answerDoc) {
	r.readObject(func(name string) {
		switch name {
		case "key":
			doc.Key = r.readString()
		case "question":
			doc.Question = r.readString()
		default:
			r.rejectMember(name)
		}
	})
	return doc
}

func (r *reader) readJoin(node string) joinDoc {
	doc := joinDoc{Node: node}
	r.readArray(func() { doc.From = append(doc.From, r.readString()) })
	return doc
}

func (r *reader) readValues(values []storedValue) []storedValue {
	r.readObject(func(field string) { values = append(values, storedValue{field, r.readValue()}) })
	return values
}

// reader walks a text that is valid JSON. After its first error everything reads as
// empty, so that only the end needs to look at err.
type reader struct {
	text []byte
	at   int
	err  error
}

func (r *reader) setError(err error) {
	if r.err == nil {
		r.err = err
	}
	r.at = len(r.text)
}

func (r *reader) rejectMember(name string) { r.setError(fmt.Errorf("unknown member %q", name)) }

// peekByte returns the byte at which the next value or sign begins, 0 at the end.
func (r *reader) peekByte() byte {
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

// enterContainer steps into an object or array.
func (r *reader) enterContainer(open byte, what string) {
	if r.peekByte() != open {
		r.setError(fmt.Errorf("want %s, got %.20q", what, r.readValue()))
	}
	r.at++
}

// readObject calls member at the value of each member of an object.
func (r *reader) readObject(member func(name string)) {
	for r.enterContainer('{', "an object"); r.peekByte() != 0; {
		if r.text[r.at] == '}' {
			r.at++
			return
		}
		member(r.readString())
	}
}

// readArray calls element at each value of an array.
func (r *reader) readArray(element func()) {
	for r.enterContainer('[', "a list"); r.peekByte() != 0; {
		if r.text[r.at] == ']' {
			r.at++
			return
		}
		element()
	}
}

func (r *reader) readString() string {
	if r.peekByte() != '"' {
		r.setError(fmt.Errorf("want a string, got %.20q", r.readValue()))
		return ""
	}
	raw := r.readValue()
	if plain := raw[1 : len(raw)-1]; bytes.IndexByte(plain, '\\') < 0 && utf8.Valid(plain) {
		return string(plain)
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		r.setError(err)
	}
	return text
}

func (r *reader) readInt() int64 {
	raw := r.readValue()
	number, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil {
		r.setError(fmt.Errorf("want a whole number, got %.20q", raw))
	}
	return number
}

// maxCount bounds the counters of a checkpoint, far above what a run can reach.
const maxCount = 1 << 30

// readCount reads a number from 0 to maxCount.
func (r *reader) readCount() int {
	number := r.readInt()
	if number < 0 || number > maxCount {
		r.setError(fmt.Errorf("count %d is out of range", number))
		return 0
	}
	return int(number)
}

func (r *reader) readBool() bool {
	raw := r.readValue()
	if !bytes.Equal(raw, []byte("true")) && !bytes.Equal(raw, []byte("false")) {
		r.setError(fmt.Errorf("want true or false, got %.20q", raw))
	}
	return len(raw) == len("true")
}

// readValue returns the text of the next value and steps over it.
func (r *reader) readValue() json.RawMessage {
	c := r.peekByte()
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
