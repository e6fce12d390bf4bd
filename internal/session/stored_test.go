package session

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/runs"
)

var noted = time.Date(2026, 11, 20, 9, 30, 0, 123456789, time.UTC)

// conversation is the session of testdata/session1.json.
func conversation() Session {
	question := chat.Question{
		ID: "clarify", Run: "run-K7QX4MPLTZ2D9W01", Text: "Which cluster do you mean?", FreeText: true, Asker: "ann",
		Choices: []chat.Choice{{ID: "1", Label: "Heron", Detail: "clusters/heron.md"}, {ID: "2", Label: "Magpie"}},
	}
	section := chat.Section{Number: 1, Heading: "Where it runs", Anchor: "where-it-runs", URL: "file:///services/billing.md#where-it-runs"}
	source := chat.Source{
		Numbers: []int{1}, Title: "Billing", Path: "services/billing.md", Owner: "platform", Modified: noted.Add(-time.Hour), State: "live",
		Sections: []chat.Section{section},
	}
	reply := chat.Reply{
		Run: "run-K7QX4MPLTZ2D9W00", Outcome: chat.Answered, Text: "On the Heron cluster [1].", Note: "I quote.",
		Sources: []chat.SourceGroup{{Category: "Documentation", Sources: []chat.Source{source}}},
	}
	later := noted.Add(time.Minute)
	return Session{
		Thread: "web:K7Q", Flow: "answer", Title: "where does the billing service run?", People: []chat.UserID{"ann", "bob"},
		Turns: []chat.Turn{
			{Role: chat.Person, Author: "ann", Message: "m1", At: noted, Text: "where does the billing service run?"},
			{Role: chat.Bot, Message: "m1", At: noted.Add(time.Second), Posted: "p1", Reply: &reply},
			{Role: chat.Person, Author: "ann", Message: "m2", At: later, Text: "how do I restart the cluster?"},
			{Role: chat.Bot, Message: "m2", At: later, Question: &question, Posted: "p2"},
			{Role: chat.Person, Author: "bob", Message: "m3", At: noted.Add(2 * time.Minute), Text: "stop"},
		},
		Waiting: &Waiting{Run: question.Run, Flow: "answer", Question: question, Request: "how do I restart the cluster?", Key: "KEY"},
		Work: &Work{
			Event: "e3", Came: noted, Key: "KEY", Message: "m2", Run: question.Run,
			Answer: &graph.Answer{QuestionID: "clarify", Choice: "1", By: "ann", At: noted},
			Note:   "The earlier question is closed.", Closed: []string{"older"}, Over: true,
			Result: runs.Result{Next: runs.Again, After: time.Second, Reason: "r", Over: question.Run},
		},
		Halt: &runs.Stop{By: "ann", At: noted},
	}
}

// TestSessionsStoredBeforeAreRead reads what programs of their time have written:
// session1.json was stored before there were topics, session1-topics.json before replies
// had documents.
func TestSessionsStoredBeforeAreRead(t *testing.T) {
	withTopics := conversation()
	withTopics.Earlier = []Topic{{Message: "m0", By: "ann", Asked: "who owns billing?", Answered: "The platform team [1].", Documents: []string{"Billing"}}}
	withDocuments := conversation()
	withDocuments.Turns[1].Reply.Documents = []chat.Document{
		{Name: "risks_analysis.md", MediaType: "text/markdown; charset=utf-8", Size: 8, Content: []byte("# Risks\n")},
		{Name: "context.md", MediaType: "text/markdown; charset=utf-8", Size: 70_000},
	}
	for name, want := range map[string]Session{
		"session1.json": conversation(), "session1-topics.json": withTopics, "session1-documents.json": withDocuments,
	} {
		body, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Decode("web:K7Q", body); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s gives %+v, %v, want %+v", name, got, err, want)
		}
	}
}

func TestWhatIsStoredComesBackWhole(t *testing.T) {
	var want Session
	fill(t, reflect.ValueOf(&want).Elem(), 1)
	want.Updated = time.Time{} // it stands beside it
	for i := range want.Turns {
		want.Turns[i].Reply.Trace = chat.Trace{} // the run's record has it
	}
	body, err := Encode(want)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := Decode(want.Thread, body); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
}

// fill gives all fields of a value, and of those in it, a value that is not zero.
func fill(t *testing.T, value reflect.Value, seed int) {
	t.Helper()
	if value.Type() == reflect.TypeFor[time.Time]() {
		value.Set(reflect.ValueOf(noted.Add(time.Duration(seed))))
		return
	}
	switch value.Kind() {
	case reflect.String:
		value.SetString(strings.Repeat("x", seed))
	case reflect.Bool:
		value.SetBool(true)
	case reflect.Int, reflect.Int64:
		value.SetInt(int64(seed))
	case reflect.Uint8:
		value.SetUint(uint64(seed))
	case reflect.Float64:
		value.SetFloat(float64(seed))
	case reflect.Slice:
		value.Set(reflect.MakeSlice(value.Type(), 2, 2))
		for i := range value.Len() {
			fill(t, value.Index(i), seed+i)
		}
	case reflect.Map:
		name, held := reflect.New(value.Type().Key()).Elem(), reflect.New(value.Type().Elem()).Elem()
		fill(t, name, seed)
		fill(t, held, seed)
		value.Set(reflect.MakeMap(value.Type()))
		value.SetMapIndex(name, held)
	case reflect.Pointer:
		value.Set(reflect.New(value.Type().Elem()))
		fill(t, value.Elem(), seed)
	case reflect.Struct:
		for i := range value.NumField() {
			fill(t, value.Field(i), seed+i)
		}
	default:
		t.Fatalf("no way to fill a %s", value.Type())
	}
}

func TestAVersionToComeIsRefused(t *testing.T) {
	got, err := Decode("web:1", []byte(`{"version":99,"flow":"answer"}`))
	if !errors.Is(err, runs.ErrNewer) || !strings.Contains(err.Error(), "version 99") || !reflect.DeepEqual(got, Session{Thread: "web:1"}) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func FuzzDecode(f *testing.F) {
	whole, err := Encode(conversation())
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{string(whole), `{"version":1,"turns":[{"Role":"bot","Reply":{}}]}`, `{"version":1,"work":{}}`, "null", "{"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		read, err := Decode("web:1", body)
		if err != nil {
			return
		}
		again, err := Encode(read)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Decode("web:1", again); err != nil || len(got.Turns) != len(read.Turns) {
			t.Errorf("%q became %q: %v", body, again, err)
		}
		read.Topics()
		read.Recall("back to that one")
		read.Forget("ann")
	})
}
