package bot_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/cairn-bot/cairn/internal/access"
	"github.com/cairn-bot/cairn/internal/bot"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/chattest"
	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/knowledge/index/embedded"
	"github.com/cairn-bot/cairn/internal/knowledge/index/indextest"
	"github.com/cairn-bot/cairn/internal/knowledge/retrieve"
)

// agency is a place with rooms: people are in some of them, documents are for some people.
type agency struct {
	*street
	index  *embedded.Index
	reader index.Spelling
	rooms  *rooms
	flow   *lookingUp
}

// rooms is a platform that tells who is where. Its people have addresses at example.com.
type rooms struct {
	*chattest.Platform

	described atomic.Int64 // calls of Place

	mu     sync.Mutex
	inside []chat.UserID
}

func (r *rooms) enter(people ...chat.UserID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.inside = people
}

func (r *rooms) Place(_ context.Context, thread chat.ThreadID) (chat.Place, error) {
	r.described.Add(1)
	if strings.HasSuffix(string(thread), "/private") {
		return chat.Place{}, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return chat.Place{Channel: "room", Members: r.inside, Complete: true}, nil
}

func (r *rooms) Identify(_ context.Context, _ chat.ThreadID, people []chat.UserID) ([]chat.Identity, error) {
	identities := make([]chat.Identity, len(people))
	for i, person := range people {
		identities[i].Email = string(person) + "@example.com"
	}
	return identities, nil
}

func (r *rooms) OpenPrivate(ctx context.Context, _ chat.ThreadID, person chat.UserID, question string) (chat.ThreadID, chat.MessageID, error) {
	thread := chat.NewThreadID("platform", string(person)+"/private")
	opening := chat.Reply{Outcome: chat.Noticed, Text: "You asked: " + question}
	message, err := r.Post(ctx, thread, "PRIVATEPRIVATEPRIVATEPRI", chat.Post{Reply: &opening})
	return thread, message, err
}

// lookingUp is a flow that answers with all passages that have a word of the question, and
// the words of its history.
type lookingUp struct {
	library library
	mu      sync.Mutex
	during  func() // happens once, between reading and answering
	started int
}

func (f *lookingUp) Name() string       { return "answer" }
func (f *lookingUp) Shape() graph.Shape { return graph.Shape{Name: "answer"} }

func (f *lookingUp) Start(ctx context.Context, request flows.Request, _ flows.Runtime) (flows.Outcome, error) {
	if request.Text == "deploy" {
		return flows.Outcome{Kind: flows.Answered, Text: "deployed"}, nil
	}
	found, err := f.library.Search(ctx, retrieve.Query{Text: request.Text})
	if err != nil {
		return flows.Outcome{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.started++
	if f.during != nil {
		f.during()
		f.during = nil
	}
	made := flows.Outcome{Kind: flows.Answered, Groups: []flows.SourceGroup{{Kind: knowledge.KindDocumentation}}}
	for i, e := range found.Evidence {
		made.Text += e.Passage.Text + ". "
		made.Groups[0].Sources = append(made.Groups[0].Sources, flows.Source{
			Document: e.Document.ID, Title: e.Document.Title, Sections: []flows.Section{{Number: i + 1}},
		})
		made.Trace.Evidence = append(made.Trace.Evidence, flows.Candidate{
			Passage: e.Passage.ID, Title: e.Document.Title, Kept: true, Hash: e.Passage.Hash, Audience: e.Document.Audience.OrPublic(),
		})
	}
	for _, turn := range request.History {
		if turn.Role == flows.Assistant {
			made.Text += "Before: " + turn.Text
		}
	}
	return made, nil
}

func (f *lookingUp) Resume(context.Context, string, []graph.Answer, flows.Runtime) (flows.Outcome, error) {
	return flows.Outcome{}, graph.ErrNoCheckpoint
}

type library struct{ index.Spelling }

func (l library) Search(ctx context.Context, query retrieve.Query) (retrieve.Result, error) {
	return (&retrieve.Retriever{Index: l.Spelling}).Search(ctx, query)
}

func newAgency(t *testing.T, more ...func(index.Spelling) flows.Flow) *agency {
	t.Helper()
	opened, err := embedded.Open(t.Context(), embedded.Options{Dir: t.TempDir(), Embedder: indextest.Embedder, Dimension: indextest.Dimension})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := opened.Close(); err != nil {
			t.Error(err)
		}
	})
	o := &agency{index: opened, reader: index.Guard(opened)}
	o.flow = &lookingUp{library: library{o.reader}}
	others := []flows.Flow{o.flow}
	for _, newFlow := range more {
		others = append(others, newFlow(o.reader))
	}
	o.street = newStreet(t, others...)
	o.rooms = &rooms{Platform: o.platform}
	o.poster, o.library = o.rooms, library{o.reader}
	o.openers = map[string]chat.PrivateOpener{"platform": o.rooms}
	o.access = access.NewResolver(access.Options{Adapters: map[string]any{"platform": o.rooms}, Logger: quietLogger})
	o.put("open", "salary: twelve", "")
	o.put("closed", "salary: a secret", "user:ann@example.com")
	return o
}

func (o *agency) put(id knowledge.DocumentID, text string, audience knowledge.Audience) {
	o.t.Helper()
	entry := indextest.TextEntry(id, text)
	entry.Document.Audience = audience
	if err := o.index.Write(o.t.Context(), index.Batch{Put: []index.Entry{entry}}); err != nil {
		o.t.Fatal(err)
	}
}

func (o *agency) delete(id knowledge.DocumentID) {
	o.t.Helper()
	if err := o.index.Write(o.t.Context(), index.Batch{Delete: []knowledge.DocumentID{id}}); err != nil {
		o.t.Fatal(err)
	}
}

// replies are the texts that everybody in the thread sees.
func (f *front) replies() []string {
	var texts []string
	for _, posted := range f.platform.Posted(f.thread) {
		if posted.Post.Reply != nil && posted.Post.Only == "" {
			texts = append(texts, posted.Post.Reply.Text)
		}
	}
	return texts
}

func wantReply(t *testing.T, replies []string, has []string, hasNot ...string) {
	t.Helper()
	if len(replies) == 0 {
		t.Fatal("nothing was posted")
	}
	last := replies[len(replies)-1]
	for _, text := range has {
		if !strings.Contains(last, text) {
			t.Errorf("the answer %q lacks %q", last, text)
		}
	}
	for _, text := range hasNot {
		if strings.Contains(last, text) {
			t.Errorf("the answer %q has %q", last, text)
		}
	}
}

// TestPlacesAreAskedForByReadingAlone counts what the platform is asked: nothing for a run
// that reads no document.
func TestPlacesAreAskedForByReadingAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newAgency(t)
		o.openers = nil
		defer o.works(newFate(0, false))()
		room := o.front("platform", "1")
		o.rooms.enter("ann", "bob")
		room.tell("deploy")
		room.quiet()
		wantReply(t, room.replies(), []string{"deployed"})
		if asked := o.rooms.described.Load(); asked != 0 {
			t.Errorf("%d look-ups for a run that reads nothing", asked)
		}
		room.tell("salary")
		room.quiet()
		if o.rooms.described.Load() == 0 {
			t.Error("nobody asked who sees the place of an answer from documents")
		}
	})
}

// TestPlacesAreNotAskedForWherePublicIsAll has an index tell that all is public: nobody is
// looked up, and what came in between that is not public is held back.
func TestPlacesAreNotAskedForWherePublicIsAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newAgency(t)
		o.access = access.NewResolver(access.Options{
			Adapters: map[string]any{"platform": o.rooms}, Logger: quietLogger,
			IsPublic: func(context.Context) (bool, error) { return true, nil },
		})
		defer o.works(newFate(0, false))()
		room := o.front("platform", "1")
		o.rooms.enter("ann")
		room.tell("salary")
		room.quiet()
		wantReply(t, room.replies(), []string{"twelve"}, "secret")
		if asked := o.rooms.described.Load(); asked != 0 {
			t.Errorf("%d look-ups although every document is public", asked)
		}
	})
}

func TestAnAnswerIsForAllWhoSeeIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newAgency(t)
		defer o.works(newFate(0, false))()
		room := o.front("platform", "1")
		o.rooms.enter("ann", "bob")
		room.tell("salary")
		room.quiet()
		wantReply(t, room.replies(), []string{"twelve"}, "secret")
		posted := o.platform.Posted(room.thread)
		offer := posted[len(posted)-1].Post
		if len(posted) != 2 || offer.Only != "ann" || offer.Reply.Offer == "" || strings.Contains(offer.Reply.Text, "secret") {
			t.Fatalf("the offer is %+v", offer)
		}
		if err := room.bot.AnswerPrivately(t.Context(), offer.Reply.Offer, "bob"); err == nil {
			t.Error("bob was answered what ann asked")
		}
		if err := room.bot.AnswerPrivately(t.Context(), offer.Reply.Offer, "ann"); err != nil {
			t.Fatal(err)
		}
		private := &front{street: o.street, bot: room.bot, thread: chat.NewThreadID("platform", "ann/private")}
		private.quiet()
		wantReply(t, private.replies(), []string{"twelve", "secret"})
		trace, err := room.bot.Explain(t.Context(), o.platform.Posted(private.thread)[1].Post.Reply.Run)
		if err != nil || len(trace.Evidence) != 2 || !strings.Contains(fmt.Sprint(trace.Evidence), "user:ann@example.com") {
			t.Errorf("the trace is %+v, %v", trace.Evidence, err)
		}
	})
}

func TestAThreadIsCutToWhatAllMaySeeWhoJoinedIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newAgency(t)
		defer o.works(newFate(0, false))()
		room := o.front("platform", "1")
		o.rooms.enter("ann")
		room.tell("salary")
		room.quiet()
		wantReply(t, room.replies(), []string{"secret"})
		run := o.platform.Posted(room.thread)[0].Post.Reply.Run
		room.tell("salary, and before?")
		room.quiet()
		wantReply(t, room.replies(), []string{"Before:", "secret"})
		o.rooms.enter("ann", "bob")
		room.tell("salary again")
		room.quiet()
		wantReply(t, room.replies(), []string{"twelve"}, "secret", "Before:")
		posted := o.platform.Posted(room.thread)
		if note := posted[2].Post.Reply.Note; !strings.Contains(note, "not for everybody here") {
			t.Errorf("the note is %q", note)
		}
		if trace, err := room.bot.Explain(t.Context(), run); err != nil || len(trace.Evidence) != 1 {
			t.Errorf("the trace of the first answer shows %+v, %v", trace.Evidence, err)
		}
	})
}

func TestCitationsAreLookedAtAgainBeforeAnAnswerIsPosted(t *testing.T) {
	for name, during := range map[string]func(o *agency){
		"deleted": func(o *agency) { o.delete("open") },
		"changed": func(o *agency) { o.put("open", "salary: thirteen", "") },
		"closed":  func(o *agency) { o.put("open", "salary: twelve", "user:eve@example.com") },
		"joined":  func(o *agency) { o.rooms.enter("ann", "bob") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := newAgency(t)
				defer o.works(newFate(0, false))()
				o.rooms.enter("ann")
				o.flow.during = func() { during(o) }
				room := o.front("platform", "1")
				room.tell("salary")
				room.quiet()
				lost, kept := "twelve", "secret"
				if name == "joined" {
					lost, kept = kept, lost
				}
				wantReply(t, room.replies(), []string{kept}, lost)
				if o.flow.started != 2 {
					t.Errorf("the answer was made %d times, want 2", o.flow.started)
				}
			})
		})
	}
}

// settled is that whatever is not in the index is gone.
func settled(string) bool { return true }

func TestAnswersStayWhileTheirDocumentsMayCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newAgency(t)
		defer o.works(newFate(0, false))()
		o.rooms.enter("ann")
		room := o.front("platform", "1")
		room.tell("salary")
		room.quiet()
		o.delete("closed")
		for _, gone := range []bot.Gone{func(string) bool { return false }, func(id string) bool { return id != "closed" }} {
			if err := room.bot.WithdrawLost(t.Context(), gone); err != nil {
				t.Fatal(err)
			}
			room.quiet()
			wantReply(t, room.replies(), []string{"secret"})
		}
		if err := room.bot.WithdrawLost(t.Context(), func(id string) bool { return id == "closed" }); err != nil {
			t.Fatal(err)
		}
		room.quiet()
		wantReply(t, room.replies(), []string{"took this answer back"})
	})
}

func TestAnswersAreTakenBackWithWhatTheyRestOn(t *testing.T) {
	for name, lose := range map[string]func(o *agency){
		"deleted": func(o *agency) { o.delete("closed") },
		"closed":  func(o *agency) { o.put("closed", "salary: a secret", "user:eve@example.com") },
		"joined":  func(o *agency) { o.rooms.enter("ann", "bob") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := newAgency(t)
				defer o.works(newFate(0, false))()
				o.rooms.enter("ann")
				room := o.front("platform", "1")
				room.tell("salary")
				room.quiet()
				if err := room.bot.WithdrawLost(t.Context(), settled); err != nil {
					t.Fatal(err)
				}
				room.quiet()
				wantReply(t, room.replies(), []string{"secret"})
				lose(o)
				for range 2 { // the second time there is nothing to do
					if err := room.bot.WithdrawLost(t.Context(), settled); err != nil {
						t.Fatal(err)
					}
					room.quiet()
				}
				wantReply(t, room.replies(), []string{"took this answer back"}, "secret")
				if posted := o.platform.Posted(room.thread); len(posted) != 1 || posted[0].Edits != 1 || len(posted[0].Post.Reply.Sources) > 0 {
					t.Errorf("posted %+v", posted)
				}
				for _, turn := range room.turns() {
					if turn.Reply != nil && strings.Contains(turn.Reply.Text, "secret") {
						t.Errorf("the thread remembers %q", turn.Reply.Text)
					}
				}
			})
		})
	}
}
