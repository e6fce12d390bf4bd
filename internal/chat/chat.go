// Package chat is what the bot and the adapters say to each other: messages come
// in, replies, questions and progress go out. It knows no platform; an adapter
// translates between it and one platform's SDK and knows nothing else of Cairn.
package chat

import (
	"context"
	"slices"
	"strings"
	"time"
)

// ThreadID names one conversation, MessageID one message in it, UserID a person.
// Only the adapter they come from makes or parses them, but for the adapter's name
// that each ThreadID begins with.
type (
	ThreadID  string
	MessageID string
	UserID    string
)

// NewThreadID makes the id of an adapter's thread: "web:K7Q…". The adapter's name
// holds no colon; local is what the adapter tells its threads apart by.
func NewThreadID(adapter, local string) ThreadID { return ThreadID(adapter + ":" + local) }

// Adapter is the name of the adapter that the thread belongs to, "" in an id that was
// not made by NewThreadID.
func (t ThreadID) Adapter() string {
	adapter, _, found := strings.Cut(string(t), ":")
	if !found {
		return ""
	}
	return adapter
}

// RunID names the run that a message started. People see it on failure lines.
type RunID string

// Message is what a person wrote.
type Message struct {
	ID     MessageID
	Thread ThreadID
	Author UserID // "" for a program that is answered: whoever reads the answer may go on
	Text   string
	Depth  Depth // empty: the bot's default
	At     time.Time
	// Answers is the question that this message answers by a choice, if the person
	// pressed one; a plain reply leaves it nil and counts as free text.
	Answers *Press
	// Collections are those that it may be answered from, by their names; none: all.
	Collections []string `json:",omitempty"`
	// Asker is who the author is, from an adapter to which people sign in, such as the web
	// page; nil where the adapter is an Identifier, or knows nothing of its people.
	Asker *Identity `json:",omitempty"`
	// Files came with the message, at most MaxFiles of them. An adapter that hands files
	// over is a Fetcher.
	Files []File `json:",omitempty"`
	// Shared are the messages that this one passes on or replies to, at most MaxSaid of them.
	Shared []Said `json:",omitempty"`
	// Before is what was said in the thread until the bot was called in, oldest first, at
	// most MaxSaid messages; nil where the adapter is a ThreadReader and is asked for it.
	Before []Said `json:",omitempty"`
}

// Bounds of what a message brings of others' messages.
const (
	MaxSaid     = 20   // messages
	MaxSaidText = 4000 // letters of one
)

// Said is a message that was not written to the bot.
type Said struct {
	Author string    // the name that people know the author by, "" where it is not known
	Text   string    // plain, with names in place of ids
	App    bool      `json:",omitempty"` // a program wrote it, not a person
	Self   bool      `json:",omitempty"` // the bot itself wrote it
	At     time.Time `json:",omitzero"`
	// Thread and Message are where it stands, for an adapter that is a Keeper; "" where that is not
	// known.
	Thread  ThreadID  `json:",omitempty"`
	Message MessageID `json:",omitempty"`
}

// ThreadReader is an Adapter that can read what was said in a thread before the bot was
// called in.
type ThreadReader interface {
	// Before gives what was said in a thread before a message, oldest first, at most MaxSaid
	// messages: the first of the thread and the last ones. Errors are as for Fetch.
	Before(ctx context.Context, thread ThreadID, message MessageID) ([]Said, error)
}

// MaxFiles is how many files of a message are read.
const MaxFiles = 10

// File is a file that came with a message.
type File struct {
	ID        string // as its adapter finds it again
	Name      string // "invoice.pdf"
	MediaType string // "application/pdf"; "" where the platform does not tell
	Size      int64  // bytes
}

// Fetcher is an Adapter whose messages may have files.
type Fetcher interface {
	// Fetch gives the content of a file that came in a thread, at most limit bytes of it.
	// ErrGone for one that is not there any more; a *RetryAfterError as for posts.
	Fetch(ctx context.Context, thread ThreadID, file File, limit int64) ([]byte, error)
}

// FileFinder is a Fetcher that finds what people sent in a thread, also in messages that
// were not for the bot.
type FileFinder interface {
	Fetcher
	// Files gives the files that people sent in a thread, the latest first, at most MaxFiles;
	// with made also the documents that the bot posted there. Errors are as for Fetch.
	Files(ctx context.Context, thread ThreadID, made bool) ([]File, error)
}

// FileForgetter is a Fetcher that keeps files itself.
type FileForgetter interface {
	// ForgetFiles removes all files that somebody sent in a thread.
	ForgetFiles(ctx context.Context, thread ThreadID, by UserID) error
}

// Press is a choice taken from a question.
type Press struct {
	Question string // Question.ID
	Choice   string // Choice.ID
}

// Depth is how much an answer says.
type Depth string

// The depths of an answer, from a sentence or two to all that was found.
const (
	Brief         Depth = "brief"
	Detailed      Depth = "detailed"
	Comprehensive Depth = "comprehensive"
)

// Progress is a step of a run as people see it.
type Progress struct {
	Run         RunID
	Step        string // node name, stable
	Description string // "Searching 3 collections"
	Status      StepStatus
	Took        time.Duration // set when the step has ended
}

// StepStatus is how far a step is.
type StepStatus string

// A step is pending, then running, then one of the others.
const (
	Pending   StepStatus = "pending"
	Running   StepStatus = "running"
	Completed StepStatus = "completed"
	Failed    StepStatus = "failed"
	Skipped   StepStatus = "skipped"
)

// Outcome is how a run ended.
type Outcome string

// A run answers, abstains because the documents do not tell, or fails. Noticed is a line
// about the thread itself, such as a reminder: it answers nothing. Social is a reply to a
// message that asks the documents nothing, such as a greeting, and Dropped the line that
// closes a question which its asker gave up; both belong to no run, show no sources, and
// are no part of what follow-ups lean on.
const (
	Answered  Outcome = "answered"
	Abstained Outcome = "abstained"
	Failure   Outcome = "failed"
	Noticed   Outcome = "notice"
	Social    Outcome = "social"
	Dropped   Outcome = "dropped"
)

// Reply is the bot's answer.
type Reply struct {
	Run     RunID
	Outcome Outcome
	// Text is Markdown. A mark [n] cites the source row that has n among its Numbers.
	Text string
	// Note is one short line about the answer as a whole, such as that it quotes.
	Note    string
	Sources []SourceGroup
	// Documents go with the answer, at most MaxDocuments of them.
	Documents []Document `json:",omitempty"`
	// Offer is a run whose asker can have its answer in private, with all that they alone may
	// read; "" for none. It comes with a line that only they see (Post.Only), beside which an
	// adapter shows a button: PrivateAnswers.AnswerPrivately.
	Offer RunID `json:",omitempty"`
	// More tells that more was found than the answer says: Extender.Extend shows it.
	More bool `json:",omitempty"`
	// Stopped tells of a Failure that its asker wished it: the run was stopped.
	Stopped bool `json:",omitempty"`
	// Actions are what people can do about what the run made.
	Actions []Action `json:",omitempty"`
	// Topics are what pages can be drafted about, at most MaxTopics, which the text numbers from 1.
	// An adapter shows a button for each, which says DraftCommand in the thread.
	Topics []string `json:",omitempty"`
	Trace  Trace
}

// MaxTopics is how many pages can be drafted from one reply.
const MaxTopics = 10

// DraftCommand is what a person would write in a thread to have a page drafted.
func DraftCommand(topic string) string { return "/cairn page draft " + topic }

// Action is something that people can do about what a run made. An adapter shows a button, which
// says Command in the thread.
type Action string

// The actions.
const (
	KeepAsPage Action = "keep" // keep the run's document as a page
	UndoChange Action = "undo" // take back the run's change of a page
	// PinAnswer has the answer given to the question from now on, UnpinAnswer no more. They are for
	// those who look after the collections: AnswerPinner.
	PinAnswer   Action = "pin"
	UnpinAnswer Action = "unpin"
)

// Label is what the action's button says, "" for an action that is not known.
func (a Action) Label() string {
	switch a {
	case KeepAsPage:
		return "Keep as a page"
	case UndoChange:
		return "Undo"
	case PinAnswer:
		return "Pin this answer"
	case UnpinAnswer:
		return "Unpin this answer"
	}
	return ""
}

// Command is what a person would write in the thread for the action.
func (a Action) Command(run RunID) string {
	if a == PinAnswer || a == UnpinAnswer {
		return "/cairn " + string(a) + " " + string(run)
	}
	return "/cairn page " + string(a) + " " + string(run)
}

// MaxDocuments is how many documents go with a reply, MaxDocument how large one is at
// most, in bytes.
const (
	MaxDocuments = 4
	MaxDocument  = 512 << 10
)

// Document is a file that a run made for people to keep. It is never empty.
type Document struct {
	// Name is the file's, with its ending: "risks_analysis.md". It names no folder and holds
	// nothing that can't be printed; two documents may have the same.
	Name      string
	MediaType string // "text/markdown; charset=utf-8"
	Size      int    // of Content as it was made, in bytes
	Content   []byte `json:",omitempty"` // nil where it is not kept any more
}

// Kept tells whether the document's content is there.
func (d Document) Kept() bool { return d.Content != nil }

// WithoutContent gives the reply with what its documents are, but not what is in them.
func (r Reply) WithoutContent() Reply {
	documents := slices.Clone(r.Documents)
	for i := range documents {
		documents[i].Content = nil
	}
	r.Documents = documents
	return r
}

// Cited gives the ids of the documents of the index that the reply shows as its sources,
// each once.
func (r Reply) Cited() []string {
	var cited []string
	for _, group := range r.Sources {
		for _, source := range group.Sources {
			if source.Document != "" && !slices.Contains(cited, source.Document) {
				cited = append(cited, source.Document)
			}
		}
	}
	return cited
}

// SourceGroup is the sources of one category, most used first.
type SourceGroup struct {
	Category string // "Documentation"
	Sources  []Source
}

// Source is one document that an answer cites.
type Source struct {
	Numbers  []int // the marks that cite it, ascending; empty for a near source that is not cited
	Title    string
	Path     string
	Owner    string
	Modified time.Time
	State    string // "live", "changed", "gone", or "old": not changed for a year when it was cited
	Document string `json:",omitempty"` // its id in the index, "" for a file that came with the message
	Sections []Section
}

// Section is a cited place in a document.
type Section struct {
	Number  int    // the mark that cites it, 0 for none
	Heading string // "" for the document's head
	Anchor  string
	URL     string // with the anchor
	// Passage is the passage that is cited, as a SourceReader finds it again; "" where it is
	// not in the index.
	Passage string `json:",omitempty"`
	// View is where the passage is shown as Cairn has it, "" where it is not shown to people.
	View string `json:",omitempty"`
}

// Question is what the bot asks back. It is posted as a reply in the thread.
type Question struct {
	ID       string
	Run      RunID
	Text     string
	Choices  []Choice // at most 10
	FreeText bool     // any reply counts as an answer
	Asker    UserID   // who may answer; empty: anyone in the thread
	// Meant is the line that is shown in the question's place once it is known what its asker
	// meant: "You meant: staging". "" for one that is open, and for questions of other kinds.
	Meant string `json:",omitempty"`
}

// Choice is one offered answer.
type Choice struct {
	ID     string
	Label  string
	Detail string // where the reading was found; may be empty
}

// Conversation receives what the bot says in answer to one message. An adapter
// gives one with each message it hands over. Calls come one at a time.
type Conversation interface {
	Progress(ctx context.Context, progress Progress) error
	Reply(ctx context.Context, reply Reply) error
	Ask(ctx context.Context, question Question) error
}

// Streamer is a Conversation that shows an answer while it is made. The bot calls it
// between Progress calls, in the same order as the run makes them; it must return
// soon, for the run waits. What was streamed is a draft: the Reply or Question that
// follows replaces all of it. After an error the bot streams no more of the run.
type Streamer interface {
	Stream(ctx context.Context, token Token) error
}

// Token is a piece of an answer that is being made, Markdown as it comes.
type Token struct {
	Run  RunID
	Text string // "" where there is only something to take back
	// Restart takes back all that was streamed before; Text begins anew. A step is run
	// again.
	Restart bool
}

// Handler is the bot as an adapter sees it. Handle makes the message durable first: from
// then on it is answered once, whatever dies, by this process or another. With a nil
// conversation that is all it does. Else it returns once the message has been answered,
// asked about, or refused; an error means that nothing was said in the conversation.
// ErrForbidden is such an error: the message was a press, an answer or a "stop" that is
// for somebody else. The adapter tells it to its author, privately where it can; the
// thread stays as it is. A message is known by its ID in its thread: one that is handed
// over again is not answered again, only told what was said.
//
// When ctx ends while the message is worked at, its author is taken to have given up:
// the work is stopped as by Controls.Stop. A process that is about to end gives up
// nothing: what it accepted is worked at later.
//
// Handle may be called for several messages of a thread at once; the bot works at them
// one by one, in the order in which they were accepted. A message that IsStop is not
// kept waiting: it stops the run that works, and is answered in its turn.
type Handler interface {
	Handle(ctx context.Context, message Message, conversation Conversation) error
}

// Changes is what people do to messages that they have written. The bot implements it for
// adapters whose platform tells of that.
type Changes interface {
	// Edited hands over the new text of a message; it returns once the change is durable.
	// The answer to it is made anew and takes the place of the old one, where the message
	// was written lately and is the person's last in the thread; else nothing happens. A
	// change that is handed over again is made once.
	Edited(ctx context.Context, message Message) error
	// Deleted tells that a message is gone; it returns once that is durable. What works at
	// it is stopped, and what the bot said to it is retracted.
	Deleted(ctx context.Context, thread ThreadID, message MessageID) error
}

// Role is who wrote a turn.
type Role string

// A turn is the person's or the bot's.
const (
	Person Role = "person"
	Bot    Role = "bot"
)

// Turn is one entry of a thread's history. Exactly one of Text (the person's), Reply
// and Question (the bot's) is set.
type Turn struct {
	Role   Role
	At     time.Time
	Author UserID // of a person's turn
	// Message is the person's message that the turn is, or that the bot's turn
	// answers: an adapter that shows a message while it is handled knows it again.
	Message  MessageID
	Text     string
	Files    []File `json:",omitempty"` // that came with a person's message
	Reply    *Reply
	Question *Question
	// Answer is what was chosen or written in reply to Question, once it was, or what
	// else became of it: "cancelled", "left open". AnsweredBy is who did that.
	Answer     string
	AnsweredBy UserID
	// Posted is the platform's id of the bot's message, "" where it has none: the adapter
	// is no Poster.
	Posted MessageID `json:",omitempty"`
	// LateEdit tells that the author of a person's turn was told that an edit of it came too
	// late to count.
	LateEdit bool `json:",omitempty"`
}

// Transcripts gives what was said in a thread, oldest first; an unknown thread is
// empty. The bot keeps it bounded. A reply to a retried run takes the place of its
// failure line, and replies keep no Trace: Controls.Explain has it. The contents of
// documents are kept of the thread's latest alone, and not at all where they were posted.
type Transcripts interface {
	Transcript(ctx context.Context, thread ThreadID) ([]Turn, error)
}

// Adapter connects one platform to the bot.
type Adapter interface {
	// Name is the platform, as it stands in thread ids and logs. It holds no colon.
	Name() string
	// Run hands every message to the handler until ctx ends or the platform closes.
	// It returns once all its goroutines have ended; nil when it was asked to stop.
	Run(ctx context.Context, handler Handler) error
}

// Catalog tells what the bot knows, for those who want to look before they ask.
type Catalog interface {
	Collections(ctx context.Context) ([]Collection, error)
}

// Collection is one source of documents.
type Collection struct {
	Name      string
	Documents int
	Passages  int
	Updated   time.Time // when it was last brought up to date
}
