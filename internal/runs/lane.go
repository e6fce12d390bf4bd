package runs

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/cairn-bot/cairn/internal/chat"
)

// Lane names one of the queues of a thread. The jobs of a lane are worked at one by one and in
// order; lanes wait for each other in nothing. The session, the events and what tells the
// repeats of events are the thread's; the lease and the outbox are a lane's. Only under a
// lease of LaneMessages is the session saved.
type Lane string

const (
	// LaneMessages is where the messages of a thread are dealt with, and all that follows from them.
	LaneMessages Lane = ""
	// LaneCommands is where commands are answered while something else works in the thread.
	LaneCommands Lane = "commands"
)

// Lanes are the lanes of each thread.
var Lanes = []Lane{LaneMessages, LaneCommands}

// lanePattern is what the name of a lane looks like, in this program and in others.
var lanePattern = regexp.MustCompile(`^[a-z]*$`)

func (l Lane) check() error {
	if !lanePattern.MatchString(string(l)) {
		return fmt.Errorf("invalid lane %q: want lower-case letters", l)
	}
	return nil
}

// QueueID is a lane of a thread.
type QueueID struct {
	Thread chat.ThreadID
	Lane   Lane
}

// Key returns a text that tells the queue apart from all others, for backends. That of
// LaneMessages is the thread's id, unless this begins with #.
func (q QueueID) Key() string {
	if q.Lane == LaneMessages && !strings.HasPrefix(string(q.Thread), "#") {
		return string(q.Thread)
	}
	return "#" + string(q.Lane) + "#" + string(q.Thread)
}

// ParseQueueKey reads what Key gave.
func ParseQueueKey(key string) QueueID {
	if rest, ok := strings.CutPrefix(key, "#"); ok {
		if lane, thread, ok := strings.Cut(rest, "#"); ok {
			return QueueID{chat.ThreadID(thread), Lane(lane)}
		}
	}
	return QueueID{Thread: chat.ThreadID(key)}
}

// String names the queue for operators: the thread, and behind it the lane, if it is not that
// of messages.
func (q QueueID) String() string {
	if q.Lane == LaneMessages {
		return string(q.Thread)
	}
	return string(q.Thread) + " (" + string(q.Lane) + ")"
}
