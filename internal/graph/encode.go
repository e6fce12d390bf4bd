package graph

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// formatVersion is the version of the checkpoint's layout; see the package comment.
const formatVersion = 2

// encoder is what a checkpoint is made of. The engine writes its own layout itself, and
// leaves values to encoding/json: each is encoded once and its text kept until it
// changes, so that a save costs what the step changed.
type encoder interface {
	// appendTo adds the JSON text of it to buf. The session's mu is held.
	appendTo(buf []byte) ([]byte, error)
	// isDone reports whether there is no more to do. The session's mu is held.
	isDone() bool
}

// runHead, graphHead and nodeHead are how the text of a run, of a graph's position and
// of a visit of a node begin: what stays the same is made once.
func runHead(run string) []byte {
	buf := strconv.AppendInt([]byte(`{"format":`), formatVersion, 10)
	return append(appendString(append(buf, `,"run":`...), run), `,"seq":`...)
}

func graphHead(name string, version int) []byte {
	buf := appendString([]byte(`{"name":`), name)
	return append(strconv.AppendInt(append(buf, `,"version":`...), int64(version), 10), `,"steps":`...)
}

func nodeHead(name string) []byte {
	return append(appendString([]byte(`{"node":`), name), `,"visit":`...)
}

// encodeKey returns the beginning of an object's member.
func encodeKey(name string) []byte { return append(appendString(nil, name), ':') }

// appendTo adds the checkpoint of the whole run.
func (x *session) appendTo(buf []byte) (_ []byte, err error) {
	x.observing.Lock()
	buf = strconv.AppendInt(append(buf, x.head...), x.seq, 10)
	x.observing.Unlock()
	if len(x.answered) > 0 {
		if buf, err = x.appendAnswered(append(buf, `,"answered":`...)); err != nil {
			return buf, err
		}
	}
	buf, err = x.root.appendTo(append(buf, `,"graph":`...))
	return append(buf, '}'), err
}

func (x *session) appendAnswered(buf []byte) (_ []byte, err error) {
	if x.replies == nil {
		replies := []byte{'['}
		for i, answer := range x.answered {
			if replies, err = answer.appendTo(appendComma(replies, i)); err != nil {
				return buf, fmt.Errorf("answer to question %q: %w", answer.QuestionID, err)
			}
		}
		replies = append(replies, ']')
		x.replies = replies
	}
	return append(buf, x.replies...), nil
}

func (a *Answer) appendTo(buf []byte) (_ []byte, err error) {
	buf = appendString(append(buf, `{"question_id":`...), a.QuestionID)
	buf = appendMember(buf, "choice", a.Choice)
	buf = appendMember(buf, "text", a.Text)
	buf = appendMember(buf, "by", a.By)
	buf, err = a.At.AppendText(append(buf, `,"at":"`...))
	return append(buf, `"}`...), err
}

func (f *frame[S]) isDone() bool { return f.done }

// appendTo adds the position of the graph.
func (f *frame[S]) appendTo(buf []byte) (_ []byte, err error) {
	buf = strconv.AppendInt(append(buf, f.graph.head...), int64(f.steps), 10)
	if f.done {
		buf = append(buf, `,"done":true`...)
	}
	if buf, err = f.appendState(buf); err != nil {
		return buf, err
	}
	if len(f.tasks) > 0 {
		buf = append(buf, `,"tasks":[`...)
		for i := range f.tasks {
			if buf, err = f.tasks[i].appendTo(appendComma(buf, i)); err != nil {
				return buf, err
			}
		}
		buf = append(buf, ']')
	}
	buf = f.appendVisits(f.appendJoins(buf))
	return append(buf, '}'), nil
}

func (f *frame[S]) appendState(buf []byte) (_ []byte, err error) {
	buf = append(buf, `,"state":{`...)
	for i, field := range f.graph.fields {
		if f.encoded[i] == nil {
			if f.encoded[i], err = field.encode(&f.state); err != nil {
				return buf, err
			}
		}
		buf = append(append(appendComma(buf, i), f.graph.fieldKeys[i]...), f.encoded[i]...)
	}
	return append(buf, '}'), nil
}

func (f *frame[S]) appendJoins(buf []byte) []byte {
	joins := 0
	for i := range f.arrived {
		if f.arrived[i].count == 0 {
			continue
		}
		if joins == 0 {
			buf = append(buf, `,"joins":{`...)
		}
		j := f.graph.joins[i]
		buf = append(append(appendComma(buf, joins), j.node.key...), '[')
		joins++
		come := 0
		for place, here := range f.arrived[i].here {
			if here {
				buf = appendString(appendComma(buf, come), j.from[place].name)
				come++
			}
		}
		buf = append(buf, ']')
	}
	if joins > 0 {
		buf = append(buf, '}')
	}
	return buf
}

func (f *frame[S]) appendVisits(buf []byte) []byte {
	buf = append(buf, `,"visits":{`...)
	visited := 0
	for i, n := range f.graph.nodes {
		if f.visits[i] > 0 {
			buf = strconv.AppendInt(append(appendComma(buf, visited), n.key...), int64(f.visits[i]), 10)
			visited++
		}
	}
	return append(buf, '}')
}

// appendTo adds one node of the step that runs.
func (t *task[S]) appendTo(buf []byte) (_ []byte, err error) {
	buf = strconv.AppendInt(append(buf, t.kind.head...), int64(t.visit), 10)
	if t.done {
		buf = append(buf, `,"done":true`...)
	}
	if t.done && len(t.result.patch) > 0 {
		if t.encoded == nil {
			if t.encoded, err = t.result.patch.appendTo(nil); err != nil {
				return buf, fmt.Errorf("changes of node %q: %w", t.nodePath(), err)
			}
		}
		buf = append(append(buf, `,"changes":`...), t.encoded...)
	}
	if t.question != nil {
		if t.encoded == nil {
			t.encoded = t.question.appendTo(nil)
		}
		buf = append(append(buf, `,"question":`...), t.encoded...)
	}
	buf = t.appendAnswers(buf)
	if t.sub != nil {
		buf, err = t.sub.appendTo(append(buf, `,"sub":`...))
	}
	return append(buf, '}'), err
}

// appendAnswers adds which questions of the node were answered. The answers themselves
// are those of the run.
func (t *taskCore) appendAnswers(buf []byte) []byte {
	for i, a := range t.answers {
		if i == 0 {
			buf = append(buf, `,"answers":[`...)
		}
		buf = appendString(append(appendComma(buf, i), `{"key":`...), a.key)
		buf = append(appendString(append(buf, `,"question":`...), a.answer.QuestionID), '}')
	}
	if len(t.answers) > 0 {
		buf = append(buf, ']')
	}
	return buf
}

// appendTo adds the question. Where it was asked is left out: it is kept with its node.
func (q *Question) appendTo(buf []byte) []byte {
	buf = appendString(append(buf, `{"key":`...), q.Key)
	buf = appendMember(buf, "id", q.ID)
	buf = appendMember(buf, "text", q.Text)
	for i, choice := range q.Choices {
		if i == 0 {
			buf = append(buf, `,"choices":[`...)
		}
		buf = appendString(append(appendComma(buf, i), `{"id":`...), choice.ID)
		buf = appendMember(buf, "label", choice.Label)
		buf = append(appendMember(buf, "detail", choice.Detail), '}')
	}
	if len(q.Choices) > 0 {
		buf = append(buf, ']')
	}
	if q.FreeText {
		buf = append(buf, `,"free_text":true`...)
	}
	buf = appendMember(buf, "who", string(q.Who))
	if q.Deadline != 0 {
		buf = strconv.AppendInt(append(buf, `,"deadline_ns":`...), int64(q.Deadline), 10)
	}
	return append(buf, '}')
}

// appendTo adds the changes in their order: [{field: value}, …].
func (p Patch[S]) appendTo(buf []byte) ([]byte, error) {
	buf = append(buf, '[')
	for i, change := range p {
		raw, err := change.encode()
		if err != nil {
			return nil, err
		}
		buf = appendString(append(appendComma(buf, i), '{'), change.Field())
		buf = append(append(append(buf, ':'), raw...), '}')
	}
	return append(buf, ']'), nil
}

// appendComma parts the item at an index from the one before it.
func appendComma(buf []byte, index int) []byte {
	if index > 0 {
		return append(buf, ',')
	}
	return buf
}

// appendMember adds a string member after another, unless it is empty.
func appendMember(buf []byte, name, value string) []byte {
	if value == "" {
		return buf
	}
	return appendString(append(append(append(buf, `,"`...), name...), `":`...), value)
}

// appendString adds a JSON string. Broken UTF-8 is replaced: a checkpoint is text.
func appendString(buf []byte, s string) []byte {
	const hex = "0123456789abcdef"
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, string(utf8.RuneError))
	}
	buf = append(buf, '"')
	plain := 0 // where what is not yet added begins
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		buf = append(append(buf, s[plain:i]...), '\\')
		if c < ' ' {
			buf = append(buf, 'u', '0', '0', hex[c>>4], hex[c&15])
		} else {
			buf = append(buf, c)
		}
		plain = i + 1
	}
	return append(append(buf, s[plain:]...), '"')
}
