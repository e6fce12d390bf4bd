package chat

import "context"

// ThreadManager manages threads that one person alone wrote in. The bot implements it. The
// thread of several people, or of somebody else, gives ErrForbidden.
type ThreadManager interface {
	// ThreadState tells how a thread is kept; the zero state of one that is not known.
	ThreadState(ctx context.Context, thread ThreadID) (ThreadState, error)
	// RenameThread gives a thread a title, shortened to what lists show; "" gives it the title
	// again that its first message makes.
	RenameThread(ctx context.Context, thread ThreadID, by UserID, title string) error
	// ShareThread lets others read a thread who have its address, or ends that.
	ShareThread(ctx context.Context, thread ThreadID, by UserID, shared bool) error
	// SharedTranscript gives what was said in a shared thread as somebody else may read it: an
	// answer only where they may read all documents that it was made from, and nothing of files,
	// runs and questions. ErrForbidden for a thread that is not shared, or not known.
	SharedTranscript(ctx context.Context, thread ThreadID, by Identity) ([]Turn, error)
	// DeleteThread stops what works in a thread, and erases all that is kept of it.
	DeleteThread(ctx context.Context, thread ThreadID, by UserID) error
}

// ThreadState is how a thread is kept.
type ThreadState struct {
	Title  string // as lists show it
	Shared bool   // others may read along
}

// Rewriter makes answers anew. The bot implements it for adapters that answer in a conversation.
type Rewriter interface {
	// Rewrite answers a message of a thread anew, with the text, depth and collections that it
	// has now; depth and collections that are empty are those of the answer before. What comes
	// of it takes the place of the former answer. ErrForbidden for all but its author, and
	// ErrRunOver for a message that the author wrote another one after, or that answered a
	// question.
	Rewrite(ctx context.Context, message Message, conversation Conversation) error
}

// Offers is what somebody can be offered before they ask. The bot implements it.
type Offers interface {
	// ReadableCollections lists the collections of which somebody may read documents, by name.
	ReadableCollections(ctx context.Context, by Reader) ([]Collection, error)
	// ExampleQuestions gives questions that documents which somebody may read answer well; none
	// where there are none.
	ExampleQuestions(ctx context.Context, by Reader) ([]string, error)
}
