package bot_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/cairn-bot/cairn/internal/bot"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/knowledge"
)

// catalog is a chat.Catalog.
type catalog struct {
	known []chat.Collection
	err   error
}

func (c catalog) Collections(context.Context) ([]chat.Collection, error) { return c.known, c.err }

// TestCommands says what each command is answered with, as it is typed behind a slash and
// behind a mention. What is none goes to the flow of plain messages.
func TestCommands(t *testing.T) {
	for _, test := range []struct{ text, says string }{
		{"help", "Ask me about the documents I know, in your own words. "},
		{"/cairn help", "Ask me about the documents"},
		{"Help!", "Ask me about the documents"},
		{"/help", "Ask me about the documents"},
		{"/cairn", "Ask me"},
		{"/cairn ask", "Ask me"},
		{"/cairn ask paint the wall", "Which color?"},
		{"/ask paint the wall", "Which color?"},
		{"/cairn paint the wall", "Which color?"},
		{"paint the wall", "Which color?"},
		{"ask the painter", "Which color?"},
		{"/cairn echo one two", "one two"},
		{"echo: one", "one"},
		{"Echo one", "one"},
		{"/cairn status", "Nothing works or waits"},
		{"status", "Nothing works or waits"},
		{"status of the wall", "Which color?"},
		{"/cairn sources", "`handbook`: 12 documents, brought up to date"},
		{"sources", "I know these collections:"},
		{"sources?", "Which color?"},
		{"/cairn stop", "There is nothing to stop."},
		{"stop", "There is nothing to stop."},
		{"/cairn foo", "There is no command `foo`.\n\nCommands, behind"},
		{"/cairn `foo\u202e", "There is no command `foo`."},
		{"/cairn why?", "Which color?"},
		{"foo", "Which color?"},
		{"/foo", "Which color?"},
		{"cairn foo", "Which color?"},
	} {
		t.Run(test.text, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStreet(t)
				s.catalog = catalog{known: []chat.Collection{{Name: "handbook", Documents: 12, Updated: time.Now().Add(-time.Hour)}, {Name: "a`b"}}}
				defer s.works(newFate(0, false))()
				for _, adapter := range []string{"platform", "test"} {
					f := s.front(adapter, "1")
					f.say(test.text)
					if len(f.asked) != 1 || !strings.HasPrefix(f.asked[0], test.says) && !strings.Contains(f.asked[0], "\n- "+test.says) {
						t.Errorf("%s: it is answered with %q", adapter, f.asked)
					}
					if posted := s.platform.Posted(f.thread); adapter == "platform" && len(posted) != 1 {
						t.Errorf("posted are %+v", posted)
					}
				}
			})
		})
	}
}

// TestStatusTellsWhatWorksWhileItWorks asks for the status behind a run that works, and
// while a question waits.
func TestStatusTellsWhatWorksWhileItWorks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJob(t)
		begun := j.blocks()
		s := newStreet(t, j)
		defer s.works(newFate(0, false))()
		defer s.works(newFate(0, false))()
		f := s.front("platform", "1")
		f.tell("dig")
		<-begun
		f.tell("echo one")
		pass(3 * time.Minute)
		run := string(s.platform.Drafts(f.thread)[0].Work.Run)
		f.say("status")
		if said := f.asked[0]; !strings.Contains(said, "Run `"+run+"` works, since") || !strings.Contains(said, "(3 minutes ago)") ||
			!strings.Contains(said, "Messages behind that: 1.") {
			t.Errorf("the status is %q", said)
		}
		f.stop()
		f.quiet()
		if turns, err := f.bot.Transcript(t.Context(), f.thread); err != nil || len(turns) != 4 {
			t.Errorf("the status is part of what was said: %+v, %v", turns, err)
		}
		if listed, err := f.bot.Threads(t.Context(), "platform", "ann", 10); err != nil || len(listed) != 1 {
			t.Errorf("the threads are %+v, %v", listed, err)
		}
	})
}

func TestAMessageIsAnsweredFromItsCollections(t *testing.T) {
	o, j := works(t)
	j.succeeds()
	message := o.next("dig")
	message.Collections = []string{"handbook", "wiki"}
	if err := o.bot.Handle(t.Context(), message, &heard{}); err != nil {
		t.Fatal(err)
	}
	if got := j.requests[0].Filter.Sources; len(j.requests) != 1 || !slices.Equal(got, []knowledge.SourceID{"handbook", "wiki"}) {
		t.Errorf("it may read %q", got)
	}
}

func TestHowARunDidIsKept(t *testing.T) {
	o, j := works(t)
	j.succeeds()
	j.scores = map[string]float64{"overall_score": 98.4, "task_completion": 100, "output_quality": 70}
	run := o.text("dig").replies[0].Run
	kept, err := o.store.Load(t.Context(), "test:1")
	if err != nil || len(kept.Evaluations) != 1 || kept.Evaluations[0].Run != run || kept.Evaluations[0].Scores["overall_score"] != 98.4 {
		t.Errorf("kept are %+v, %v", kept.Evaluations, err)
	}
	said := o.text("/cairn status").replies
	if want := "- run `" + string(run) + "`: 98 of 100 (output quality 70, task completion 100)"; len(said) != 1 || !strings.Contains(said[0].Text, want) || !strings.Contains(said[0].Text, "not of the truth") {
		t.Errorf("the status is %+v, want %s", said, want)
	}
}

func TestStatusTellsWhatWaits(t *testing.T) {
	o := newOffice(t)
	asked := o.text("paint the wall").questions[0]
	if said := o.text("/cairn status").replies; len(said) != 1 || !strings.Contains(said[0].Text, "Run `"+string(asked.Run)+"` waits for an answer, since") {
		t.Errorf("the status is %+v", said)
	}
	if said := o.text("red").replies; len(said) != 1 || said[0].Text != "painted r" {
		t.Errorf("the question is closed: %+v", said)
	}
}

// TestAChoiceIsNoCommand offers the word of a command as a choice.
func TestAChoiceIsNoCommand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := open(t, t.TempDir(), offer{offering(t, "Status")})
		o.text("which page?")
		if said := o.text("status").replies; len(said) != 1 || said[0].Text != "painted s" {
			t.Errorf("the choice got %+v", said)
		}
	})
}

// offer is a flow of another name.
type offer struct{ *asking }

func (offer) Name() string { return "offer" }

// offering is a flow that offers one choice.
func offering(t *testing.T, label string) *asking {
	g := graph.New("offer", 1, text, color)
	g.Node("ask", func(_ context.Context, step graph.Step[state]) (graph.Result[state], error) {
		if answer, answered := step.Answer("page"); answered {
			return graph.Update(color.Set(answer.Choice)), nil
		}
		return graph.Ask[state](graph.Question{Key: "page", Text: "Which?", FreeText: true, Choices: []graph.Choice{{ID: "s", Label: label}}}), nil
	}, graph.Policy{Asks: true})
	g.Start("ask")
	g.Edge("ask", graph.End)
	compiled, err := g.Compile()
	if err != nil {
		t.Fatal(err)
	}
	return &asking{graph: compiled}
}

func TestSourcesThatCanNotBeListed(t *testing.T) {
	for _, test := range []struct {
		catalog chat.Catalog
		says    string
	}{
		{nil, "There is no list"},
		{catalog{}, "I know no documents yet."},
		{catalog{err: errors.New("the index at 10.0.0.7 is down")}, "can't be listed at the moment"},
		{catalog{known: make([]chat.Collection, 60)}, "and 10 more"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newStreet(t)
			s.catalog = test.catalog
			defer s.works(newFate(0, false))()
			f := s.front("test", "1")
			f.say("sources")
			if !strings.Contains(f.asked[0], test.says) || strings.Contains(f.asked[0], "10.0.0.7") {
				t.Errorf("it is answered with %q, want %q", f.asked[0], test.says)
			}
		})
	}
}

func FuzzCommand(f *testing.F) {
	for _, text := range []string{"", "/", "/cairn", "/cairn ask: how?", "cairn:status", "echo\u00a0x", "\xff /CAIRN \x00"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		word, rest := bot.Command(text)
		if strings.ContainsAny(word, " :\t\n\r\u00a0") || !strings.HasSuffix(strings.TrimSpace(text), rest) || rest == "" && len(word) > 3*len(text) {
			t.Errorf("%q is read as %q, %q", text, word, rest)
		}
	})
}

func FuzzShownName(f *testing.F) {
	for _, name := range []string{"", "a.pdf", "`x` [y](http://z) @everyone", "a\nb\u202e", "\xff", strings.Repeat("é", 200)} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		shown := bot.ShownName(name)
		if shown == "a file without a name" {
			return
		}
		inner := strings.TrimSuffix(strings.TrimPrefix(shown, "`"), "`")
		if len(shown) != len(inner)+2 || strings.ContainsAny(inner, "`\n\r") || utf8.RuneCountInString(inner) > 80 {
			t.Errorf("%q is shown as %q", name, shown)
		}
	})
}
