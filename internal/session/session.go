// Package session is a thread's memory: what was said lately (turns), what was spoken of
// before that (topics, see summary.go and recall.go), and the question that waits. How
// it is stored is in stored.go; backends are below the package, and sessiontest is the
// suite that each of them passes.
package session

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/runs"
	"github.com/cairn-bot/cairn/internal/shorten"
)

// Bounds of a session's memory: the oldest turns become topics, and the people who came
// first are forgotten.
const (
	MaxTurns  = 40
	MaxPeople = 100
	MaxTitle  = 60 // letters
)

// Session is what is remembered of one thread. The zero Session of a thread is one
// in which nothing was said.
type Session struct {
	Thread  chat.ThreadID
	Flow    string        // the flow the thread is in
	Title   string        // what the first message that asks something is about, on one line; set by Add and Rename
	Named   bool          // a person gave the title; set by Rename
	Shared  bool          // others may read along who have the thread's address
	People  []chat.UserID // who wrote in it; set by Add
	Earlier []Topic       // what was spoken of before Turns, oldest first; set by Add
	Turns   []chat.Turn
	Waiting *Waiting
	Work    *Work      // nil before the first job
	Halt    *runs.Stop // the last stop of a job
	// Evaluations are the statistics of the thread's runs whose flows evaluate themselves,
	// oldest first; set by Evaluate.
	Evaluations []Evaluation
	// Updated is when the session was last saved, by the store's clock, to the
	// millisecond. Load sets it; Save takes no notice of it.
	Updated time.Time
}

// Evaluation is how a run did, each score of 100.
type Evaluation struct {
	Run    chat.RunID
	Scores map[string]float64
}

// maxEvaluations is of how many runs they are kept.
const maxEvaluations = 10

// Evaluate keeps how a run did, in the place of what was known of it.
func (s *Session) Evaluate(run chat.RunID, scores map[string]float64) {
	kept := slices.DeleteFunc(slices.Clone(s.Evaluations), func(e Evaluation) bool { return e.Run == run })
	kept = append(kept, Evaluation{run, scores})
	s.Evaluations = kept[max(0, len(kept)-maxEvaluations):]
}

// Work is the job that was taken up last in the thread, and what was decided about it.
// It is saved together with what the decision changed: whoever takes the job up again
// after a crash goes on in the same way.
type Work struct {
	Event runs.EventID
	Came  time.Time // when the job was enqueued: a replay of it came later
	// Key is what the visible message about the job is posted under.
	Key runs.DeliveryKey
	// Message is the person's message that is answered, in the bot's turn about the job;
	// "" where there is no such turn.
	Message chat.MessageID
	Run     chat.RunID    // "" where the job is no run's
	Answer  *graph.Answer // that the run goes on with, nil for none
	Note    string        // about how the message was taken, for the reply
	Closed  []string      // ids of the questions that it closed
	// Over tells that the turns hold what came of the job: all that is left is to show it
	// and to finish the job with Result.
	Over   bool
	Result runs.Result
}

// Waiting is a run that waits for a person.
type Waiting struct {
	Run      chat.RunID
	Flow     string
	Question chat.Question
	Request  string           // the message that started the run
	Key      runs.DeliveryKey // of the job that asked
}

// Add appends a turn. The oldest beyond MaxTurns go, and are summed up in Earlier. A
// person's turn puts them among People, and gives the session its title where it has
// none.
func (s *Session) Add(turn chat.Turn) {
	s.Turns = append(s.Turns, turn)
	if excess := len(s.Turns) - MaxTurns; excess > 0 {
		s.Earlier = summarizeTurns(s.Earlier, s.Turns[:excess])
		s.Earlier = s.Earlier[max(0, len(s.Earlier)-MaxTopics):]
		s.Turns = s.Turns[excess:]
	}
	if turn.Role != chat.Person {
		return
	}
	if title := titleOf(turn); s.Title == "" || !s.Named && title != "" && isSocial(s.Title) {
		s.Title = title
	}
	if !slices.Contains(s.People, turn.Author) {
		s.People = append(s.People, turn.Author)
		s.People = s.People[max(0, len(s.People)-MaxPeople):]
	}
}

// Rename gives the session a title of its own, shortened, or with "" the one again that the
// first message gives it.
func (s *Session) Rename(title string) {
	s.Title = shortenLine(title, MaxTitle)
	s.Named = s.Title != ""
	if !s.Named {
		s.Title = s.firstTitle()
	}
}

// shortenLine puts text on one line and cuts it to a number of letters, after a word if possible.
func shortenLine(text string, letters int) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " ")
	head := shorten.Head(text, letters) // one more than there is room for beside the dots
	if len(head) == len(text) {
		return text
	}
	if space := strings.LastIndexByte(head, ' '); space > 0 {
		return head[:space] + "…"
	}
	return shorten.Text(head, letters-1)
}

// Store keeps sessions, each for as long as its backend was told to after it was last
// loaded or saved. Its methods may be called concurrently; who changes one thread from
// two places at once decides which change stands.
type Store interface {
	// Load gives the zero Session of the thread where nothing is kept.
	Load(ctx context.Context, thread chat.ThreadID) (Session, error)
	// Save replaces the session, under no lease: what workers save goes through store.Commit.
	// The thread is listed for those who are among its People, and for nobody else.
	Save(ctx context.Context, session Session) error
	// Threads lists the threads of an adapter, by their ids, in which a person wrote: the
	// last saved first, those of one millisecond by their ids from the greatest down, at
	// most limit.
	Threads(ctx context.Context, adapter string, by chat.UserID, limit int) ([]chat.ThreadSummary, error)
}
