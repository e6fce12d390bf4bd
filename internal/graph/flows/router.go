package flows

import "context"

// Router decides which flow a message goes to. It is called for messages that answer no
// question.
type Router interface {
	Route(ctx context.Context, message Message) (Choice, error)
}

// Message is what a Router is told of one.
type Message struct {
	Text     string
	Attached bool   // files came with it
	Recorded bool   // what was recorded of an app is among them
	Running  string // the flow that the thread was in last, "" for none
}

// Choice is where a message goes.
type Choice struct {
	Flow   string
	Text   string // what the flow is asked: the message, without a word that only chose
	Rule   string // what decided: "command", "prefix", "thread", "intent" or "judge"
	Reason string // in words, without the message's own
}
