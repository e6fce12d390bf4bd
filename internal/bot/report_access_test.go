package bot_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/document"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/graph/flows/analyze"
	"github.com/cairn-bot/cairn/internal/graph/flows/buildcontext"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
)

// reportsOn gives the flows that write reports on the collections of an index.
func reportsOn(t *testing.T) []func(index.Spelling) flows.Flow {
	reader := func(read index.Spelling) *document.Reader {
		return document.NewReader(document.Options{Index: read, Collections: func(context.Context) ([]knowledge.SourceID, error) {
			return []knowledge.SourceID{"docs"}, nil
		}})
	}
	return []func(index.Spelling) flows.Flow{
		func(read index.Spelling) flows.Flow {
			flow, err := analyze.New(analyze.Options{Reader: reader(read)})
			if err != nil {
				t.Fatal(err)
			}
			return flow
		},
		func(read index.Spelling) flows.Flow {
			flow, err := buildcontext.New(buildcontext.Options{Reader: reader(read)})
			if err != nil {
				t.Fatal(err)
			}
			return flow
		},
	}
}

// drafts are the questions in a thread, and the files.
func (f *front) drafts() (questions, files []string) {
	for _, posted := range f.platform.Posted(f.thread) {
		if posted.Post.Question != nil {
			questions = append(questions, posted.Post.Question.Text)
		}
		if posted.Post.Reply != nil {
			for _, file := range posted.Post.Reply.Documents {
				files = append(files, string(file.Content))
			}
		}
	}
	return questions, files
}

// TestADraftIsMadeAnewOfWhatAllMayStillRead approves a draft of which something was lost
// since it was shown.
func TestADraftIsMadeAnewOfWhatAllMayStillRead(t *testing.T) {
	for name, lose := range map[string]func(o *agency){
		"deleted": func(o *agency) { o.delete("closed") },
		"closed":  func(o *agency) { o.put("closed", "The salary must be a secret of forty.", "user:eve@example.com") },
		"joined":  func(o *agency) { o.rooms.enter("ann", "bob") },
		"nothing": func(*agency) {},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := newAgency(t, reportsOn(t)...)
				o.put("open", "The salary must be paid by the twelfth.", "")
				o.put("closed", "The salary must be a secret of forty.", "user:ann@example.com")
				defer o.works(newFate(0, false))()
				o.rooms.enter("ann")
				room := o.front("platform", "1")
				room.tell("analyze: @docs salary")
				room.quiet()
				questions, _ := room.drafts()
				if len(questions) != 1 || !strings.Contains(questions[0], "forty") || !strings.Contains(questions[0], "twelfth") {
					t.Fatalf("the draft is %q, %q", questions, room.replies())
				}
				lose(o)
				room.tell("approve")
				room.quiet()
				if name != "nothing" {
					questions, files := room.drafts()
					if last := questions[len(questions)-1]; len(questions) != 2 || len(files) > 0 || strings.Contains(last, "forty") || !strings.Contains(last, "made it anew") {
						t.Fatalf("after the loss: %q, files %q", questions, files)
					}
					room.tell("approve")
					room.quiet()
				}
				_, files := room.drafts()
				if len(files) != 1 || strings.Contains(files[0], "forty") != (name == "nothing") || !strings.Contains(files[0], "twelfth") {
					questions, _ := room.drafts()
					t.Errorf("the report is %q after %q, replies %q", files, questions, room.replies())
				}
			})
		})
	}
}

// TestAnOverviewNamesWhatItRestsOn has its evidence in the trace, and takes it back with what
// it rests on.
func TestAnOverviewNamesWhatItRestsOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newAgency(t, reportsOn(t)...)
		o.put("closed", "The payroll service is responsible for the salary of forty people.", "user:ann@example.com")
		defer o.works(newFate(0, false))()
		o.rooms.enter("ann")
		room := o.front("platform", "1")
		room.tell("build_context: @docs payroll service")
		room.quiet()
		_, files := room.drafts()
		if len(files) != 1 || !strings.Contains(files[0], "forty") {
			t.Fatalf("the overview is %q, %q", files, room.replies())
		}
		var run chat.RunID
		for _, posted := range o.platform.Posted(room.thread) {
			if posted.Post.Reply != nil && posted.Post.Reply.Run != "" {
				run = posted.Post.Reply.Run
			}
		}
		trace, err := room.bot.Explain(t.Context(), run)
		if err != nil || len(trace.Evidence) == 0 || trace.Evidence[0].Access != "user:ann@example.com" {
			t.Fatalf("the trace shows %+v, %v", trace.Evidence, err)
		}
		o.delete("closed")
		if err := room.bot.WithdrawLost(t.Context(), settled); err != nil {
			t.Fatal(err)
		}
		room.quiet()
		wantReply(t, room.replies(), []string{"took this answer back"}, "forty")
	})
}
