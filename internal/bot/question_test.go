package bot_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/bot"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/knowledge"
)

// by hands a message of somebody else over.
func (o *office) by(author chat.UserID, message chat.Message) (*heard, error) {
	filled := o.next(message.Text)
	filled.Author, filled.Answers = author, message.Answers
	said := &heard{}
	return said, o.bot.Handle(o.t.Context(), filled, said)
}

func TestAQuestionIsForItsAsker(t *testing.T) {
	o := newOffice(t)
	asked := o.text("paint the wall").questions[0]
	for _, message := range []chat.Message{
		{Answers: &chat.Press{Question: asked.ID, Choice: "r"}}, {Text: "red"}, {Text: "never mind"},
	} {
		said, err := o.by("eve", message)
		if !errors.Is(err, chat.ErrForbidden) || len(said.replies)+len(said.questions) > 0 {
			t.Errorf("%+v got %v, %+v", message, err, said)
		}
	}
	if turns := o.transcript(); len(turns) != 2 {
		t.Errorf("what was refused is remembered: %+v", turns)
	}
	// Somebody else's own request leaves the question open.
	if said, err := o.by("eve", chat.Message{Text: "echo hello"}); err != nil || said.replies[0].Text != "hello" || said.replies[0].Note != "" {
		t.Errorf("%v, %+v", err, said.replies)
	}
	if said := o.text("red"); said.replies[0].Text != "painted r" {
		t.Errorf("replied %+v", said.replies)
	}
}

func TestAQuestionForTheThreadIsForAnyone(t *testing.T) {
	o := newOffice(t)
	asked := o.text("paint for anyone").questions[0]
	if asked.Asker != "" {
		t.Errorf("asked %q alone", asked.Asker)
	}
	said, err := o.by("bob", chat.Message{Text: "red"})
	if err != nil || said.replies[0].Text != "painted r" {
		t.Errorf("%v, %+v", err, said.replies)
	}
	if turn := o.transcript()[1]; turn.Answer != "Red" || turn.AnsweredBy != "bob" {
		t.Errorf("the question shows %q by %q", turn.Answer, turn.AnsweredBy)
	}
	record, _ := o.record(asked.Run)
	if record.Author != "ann" {
		t.Errorf("the run is %s's now", record.Author)
	}
}

func TestANewQuestionTakesThePlaceOfAnothers(t *testing.T) {
	o := newOffice(t)
	old := o.text("paint the wall").questions[0]
	said, err := o.by("bob", chat.Message{Text: "where is the coffee machine downstairs?"})
	if err != nil || len(said.questions) != 1 || said.questions[0].Asker != "bob" {
		t.Fatalf("%v, %+v", err, said)
	}
	if record, statuses := o.record(old.Run); statuses != "queued running waiting cancelled" {
		t.Errorf("the old run was %s: %+v", statuses, record)
	}
	if turn := o.transcript()[1]; turn.Answer != "left open" {
		t.Errorf("the old question shows %q", turn.Answer)
	}
}

func TestWhatIsNotOfferedLeavesTheQuestionOpen(t *testing.T) {
	o := newOffice(t)
	asked := o.text("paint from the choices").questions[0]
	for _, message := range []chat.Message{
		{Answers: &chat.Press{Question: asked.ID, Choice: "purple"}}, {Text: "a dark green"},
	} {
		if said := o.say(message); len(said.replies) != 1 || !strings.Contains(said.replies[0].Text, "none of the choices") {
			t.Errorf("%+v got %+v", message, said)
		}
	}
	if said := o.text("blue"); said.replies[0].Text != "painted b" {
		t.Errorf("replied %+v", said.replies)
	}
}

func TestAQuestionOfAForgottenRunIsClosed(t *testing.T) {
	before := newOffice(t)
	asked := before.text("paint the wall").questions[0]
	waits, err := before.store.Load(t.Context(), "test:1")
	if err != nil {
		t.Fatal(err)
	}
	before.close()
	o := newOffice(t) // the records are gone
	if err := o.store.Save(t.Context(), waits); err != nil {
		t.Fatal(err)
	}
	late := o.say(chat.Message{Answers: &chat.Press{Question: asked.ID, Choice: "r"}})
	if len(late.replies) != 1 || !strings.Contains(late.replies[0].Text, "no longer open") {
		t.Errorf("the press got %+v", late.replies)
	}
}

func TestFlowsAreToldWhatStands(t *testing.T) {
	person := func(id chat.MessageID, text string) chat.Turn {
		return chat.Turn{Role: chat.Person, Message: id, Text: text}
	}
	reply := func(id chat.MessageID, outcome chat.Outcome, text string) chat.Turn {
		return chat.Turn{Role: chat.Bot, Message: id, Reply: &chat.Reply{Outcome: outcome, Text: text}}
	}
	asked := func(id chat.MessageID, answer string) chat.Turn {
		return chat.Turn{Role: chat.Bot, Message: id, Question: &chat.Question{Text: "which?"}, Answer: answer}
	}
	got := bot.History([]chat.Turn{
		person("1", "dropped"), asked("1", "cancelled"),
		person("2", "never mind"), reply("2", chat.Dropped, "All right, I leave it there."),
		person("3", "answered"), asked("3", "This"), person("4", "This"), reply("4", chat.Answered, "so"),
		person("5", "failed"), reply("5", chat.Failure, "Something went wrong"),
		person("6", "asked again"), asked("6", "cancelled"), asked("6", "That"), reply("6", chat.Failure, "Something went wrong"),
		person("7", " "), reply("7", chat.Answered, "Ask me"),
		person("8", "pressed"), asked("8", "Those"), person("9", ""), reply("9", chat.Answered, "well"),
	})
	var said []string
	for _, turn := range got {
		said = append(said, turn.Role+" "+turn.Text)
	}
	const want = "user answered, assistant which?, user This, assistant so, user failed, user asked again, assistant which?, assistant which?, user pressed, assistant which?, assistant well"
	if strings.Join(said, ", ") != want {
		t.Errorf("flows are told %s", strings.Join(said, ", "))
	}
}

// TestFlowsAreToldWhatAReplyCited in the order of the numbers; near sources without one, and files
// that came with a message, are left out.
func TestFlowsAreToldWhatAReplyCited(t *testing.T) {
	got := bot.History([]chat.Turn{
		{Role: chat.Person, Message: "1", Text: "where?"},
		{Role: chat.Bot, Message: "1", Reply: &chat.Reply{Outcome: chat.Answered, Text: "Here [1]. There [2].", Sources: []chat.SourceGroup{
			{Sources: []chat.Source{{Document: "docs:b", Sections: []chat.Section{{Number: 2, Passage: "7-aa"}, {Passage: "8-bb"}, {Number: 4}}}}},
			{Sources: []chat.Source{{Document: "docs:a", Sections: []chat.Section{{Number: 1, Passage: "0-cc"}}}, {Sections: []chat.Section{{Number: 3, Passage: "0-dd"}}}}},
		}}},
	})
	if len(got) != 2 || got[0].Cited != nil || !slices.Equal(got[1].Cited, []knowledge.PassageID{"docs:a#0", "docs:b#7"}) {
		t.Errorf("flows are told %+v", got)
	}
}
