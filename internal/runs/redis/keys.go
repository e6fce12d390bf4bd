package redis

import (
	"net/url"
	"strings"

	"cairn/internal/chat"
	"cairn/internal/runs"
)

// keys names keys, as package documentation lists them.
type keys struct{ prefix string }

var escaper = strings.NewReplacer("{", "%7B", "}", "%7D", "%", "%25", "*", "%2A")

func (k keys) of(thread chat.ThreadID, what string) string {
	return k.prefix + ":{" + escaper.Replace(string(thread)) + "}:" + what
}

func (k keys) jobs(t chat.ThreadID) string    { return k.of(t, "jobs") }
func (k keys) delayed(t chat.ThreadID) string { return k.of(t, "delayed") }
func (k keys) state(t chat.ThreadID) string   { return k.of(t, "state") }
func (k keys) seen(t chat.ThreadID) string    { return k.of(t, "seen") }
func (k keys) events(t chat.ThreadID) string  { return k.of(t, "events") }
func (k keys) live(t chat.ThreadID) string    { return k.of(t, "live") }
func (k keys) outbox(t chat.ThreadID) string  { return k.of(t, "outbox") }
func (k keys) edits(t chat.ThreadID) string   { return k.of(t, "edits") }
func (k keys) dead(t chat.ThreadID) string    { return k.of(t, "dead") }
func (k keys) runs(t chat.ThreadID) string    { return k.of(t, "runs") }

func (k keys) checkpoint(t chat.ThreadID, run string) string { return k.of(t, "run:"+run) }

func (k keys) record(run chat.RunID) string { return k.of(chat.ThreadID(run), "record") }

func (k keys) letters(run chat.RunID) string { return k.of(chat.ThreadID(run), "letters") }

// runsThatAre is the list of the records with a status.
func (k keys) runsThatAre(status runs.Status) string { return k.all("runs:" + string(status)) }

// listed are the lists of the records of all threads.
func (k keys) listed() []string {
	lists := []string{k.all("runs")}
	for _, status := range []runs.Status{runs.Queued, runs.Running, runs.Waiting, runs.Done, runs.Failed, runs.Cancelled, runs.Expired} {
		lists = append(lists, k.runsThatAre(status))
	}
	return lists
}

func (k keys) all(what string) string { return k.prefix + ":{*}:" + what }

// wake are the keys of the scripts that announce and settle.
func (k keys) wake() []string { return []string{k.all("ready"), k.all("due"), k.all("noticed")} }

// thread gives the thread that a key is of.
func (k keys) thread(key, what string) (chat.ThreadID, bool) {
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
