package bot_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/cairn-bot/cairn/internal/bot"
	"github.com/cairn-bot/cairn/internal/chat"
)

// cupboard keeps the files of the threads of an adapter that is no poster.
type cupboard struct {
	files     []chat.File
	forgotten []string
}

func (c *cupboard) Fetch(_ context.Context, _ chat.ThreadID, file chat.File, limit int64) ([]byte, error) {
	return []byte("text of " + file.Name)[:min(limit, int64(len("text of "+file.Name)))], nil
}

func (c *cupboard) Files(context.Context, chat.ThreadID, bool) ([]chat.File, error) {
	return c.files, nil
}

func (c *cupboard) ForgetFiles(_ context.Context, thread chat.ThreadID, by chat.UserID) error {
	c.forgotten = append(c.forgotten, fmt.Sprint(thread, " ", by))
	return nil
}

// TestFilesOfAnAdapterThatPostsNothing follows files of the web page: a question about one, a file
// without a word, a later question, and the end of the thread.
func TestFilesOfAnAdapterThatPostsNothing(t *testing.T) {
	kept := &cupboard{files: []chat.File{{ID: "1", Name: "bill.txt", Size: 16}}}
	answers, analyses := newClerk(t, "answer"), newClerk(t, "analyze")
	o := openWith(t, t.TempDir(), func(options *bot.Options) {
		options.Files, options.ReadFile = map[string]chat.Fetcher{"test": kept}, readText
	}, answers, analyses)
	hand := func(text string, files ...chat.File) *heard {
		t.Helper()
		message, said := o.next(text), &heard{}
		message.Files = files
		if err := o.bot.Handle(t.Context(), message, said); err != nil {
			t.Fatal(err)
		}
		return said
	}
	if said := hand("what is the total?", kept.files...); len(said.replies) != 1 || !slices.Equal(answers.attached(), []string{"bill.txt"}) {
		t.Fatalf("said is %+v, given %v", said, answers.attached())
	}
	if hand("who has to pay this file?"); !slices.Equal(answers.attached(), []string{"bill.txt"}) {
		t.Errorf("the next question was given %v", answers.attached())
	}
	asked := hand("", kept.files...)
	if len(asked.questions) != 1 || len(asked.questions[0].Choices) != 3 || asked.questions[0].Text != "What should I do with it?" {
		t.Fatalf("a file without a word: %+v", asked)
	}
	if again := hand("", kept.files...); len(again.questions) != 1 || again.questions[0].ID == asked.questions[0].ID {
		t.Fatalf("another one, while that question waits: %+v", again)
	} else {
		asked = again
	}
	chosen := o.next("")
	chosen.Answers = &chat.Press{Question: asked.questions[0].ID, Choice: "file-summarize"}
	if err := o.bot.Handle(t.Context(), chosen, &heard{}); err != nil {
		t.Fatal(err)
	}
	if got := analyses.attached(); !slices.Equal(got, []string{"bill.txt"}) {
		t.Errorf("what summarizes was given %v", got)
	}
	if err := bot.NewManager(o.bot).DeleteThread(t.Context(), "test:1", "ann"); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(kept.forgotten, []string{"test:1 ann"}) {
		t.Errorf("with the thread were removed the files of %q", kept.forgotten)
	}
}
