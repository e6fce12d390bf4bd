package redis

import (
	"net/url"
	"strings"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/runs"
)

// keys makes the keys listed in the package documentation.
type keys struct{ prefix string }

var keyEscaper = strings.NewReplacer("{", "%7B", "}", "%7D", "%", "%25", "*", "%2A")

func (k keys) threadKey(thread chat.ThreadID, what string) string {
	return k.prefix + ":{" + keyEscaper.Replace(string(thread)) + "}:" + what
}

// queueKey returns a key of a lane, beside those of its thread.
func (k keys) queueKey(queue runs.QueueID, what string) string {
	return k.threadKey(queue.Thread, laneKey(queue.Lane, what))
}

func laneKey(lane runs.Lane, what string) string {
	if lane == runs.LaneMessages {
		return what
	}
	return string(lane) + ":" + what
}

func (k keys) jobsKey(q runs.QueueID) string    { return k.queueKey(q, "jobs") }
func (k keys) delayedKey(q runs.QueueID) string { return k.queueKey(q, "delayed") }
func (k keys) stateKey(q runs.QueueID) string   { return k.queueKey(q, "state") }
func (k keys) endedKey(q runs.QueueID) string   { return k.queueKey(q, "ended") }

func (k keys) sessionKey(t chat.ThreadID) string { return k.threadKey(t, "session") }
func (k keys) eventsKey(t chat.ThreadID) string  { return k.threadKey(t, "events") }
func (k keys) liveKey(t chat.ThreadID) string    { return k.threadKey(t, "live") }
func (k keys) editsKey(t chat.ThreadID) string   { return k.threadKey(t, "edits") }
func (k keys) deadKey(t chat.ThreadID) string    { return k.threadKey(t, "dead") }
func (k keys) runsKey(t chat.ThreadID) string    { return k.threadKey(t, "runs") }

func (k keys) checkpointKey(t chat.ThreadID, run string) string { return k.threadKey(t, "run:"+run) }

func (k keys) seenKey(t chat.ThreadID, event runs.EventID) string {
	return k.threadKey(t, "seen:"+string(event))
}

func (k keys) recordKey(t chat.ThreadID, run chat.RunID) string {
	return k.threadKey(t, "record:"+string(run))
}

func (k keys) ratingsKey(t chat.ThreadID, run chat.RunID) string {
	return k.threadKey(t, "ratings:"+string(run))
}

// homeKey returns the key of the thread that a run is of.
func (k keys) homeKey(run chat.RunID) string { return k.threadKey(chat.ThreadID(run), "thread") }

// listKeys returns the keys of people's lists of threads.
func (k keys) listKeys(thread chat.ThreadID, people []chat.UserID) []string {
	lists := make([]string, len(people))
	for i, person := range people {
		lists[i] = k.threadsKey(thread.Adapter(), person)
	}
	return lists
}

func (k keys) threadsKey(adapter string, by chat.UserID) string {
	return k.prefix + ":{" + keyEscaper.Replace(adapter) + ":" + keyEscaper.Replace(string(by)) + "}:threads"
}

func (k keys) lettersKey(run chat.RunID) string { return k.threadKey(chat.ThreadID(run), "letters") }

// statusKey returns the list of the records with a status.
func (k keys) statusKey(status runs.Status) string { return k.globalKey("runs:" + string(status)) }

// recordLists returns the lists of the records of all threads.
func (k keys) recordLists() []string {
	lists := []string{k.globalKey("runs")}
	for _, status := range []runs.Status{runs.Queued, runs.Running, runs.Waiting, runs.Done, runs.Failed, runs.Cancelled, runs.Expired} {
		lists = append(lists, k.statusKey(status))
	}
	return lists
}

func (k keys) globalKey(what string) string { return k.prefix + ":{*}:" + what }

// wakeKeys returns the keys of the scripts that announce and settle.
func (k keys) wakeKeys() []string {
	return []string{k.globalKey("ready"), k.globalKey("due"), k.globalKey("noticed")}
}

// parseThread returns the thread of a key.
func (k keys) parseThread(key, what string) (chat.ThreadID, bool) {
	inner, ok := strings.CutPrefix(key, k.prefix+":{")
	if !ok {
		return "", false
	}
	if inner, ok = strings.CutSuffix(inner, "}:"+what); !ok {
		return "", false
	}
	thread, err := url.PathUnescape(inner)
	return chat.ThreadID(thread), err == nil
}
