package main

import (
	"cmp"
	"slices"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/slack/slacktest"
)

// lastDelivery is how long after a message Slack tries to deliver it for the last time.
const lastDelivery = 6 * time.Minute

// verdict is what stands in the threads.
type verdict struct {
	asked     int // messages that Slack could deliver
	lost      int
	doubled   int
	reordered int // threads
	drafts    int
	statuses  int
	strange   int
	wrong     []string        // what is wrong in which thread, at most maxWrong
	places    map[string]bool // these threads
}

const maxWrong = 20

func (v verdict) clean() bool { return v.lost+v.doubled+v.reordered+v.drafts+v.statuses+v.strange == 0 }

func (v *verdict) blame(place, what string) {
	if len(v.wrong) < maxWrong {
		v.wrong = append(v.wrong, what+" in "+place)
		if v.places == nil {
			v.places = map[string]bool{}
		}
		v.places[place] = true
	}
}

// delivery tells when a message may have reached the program: between Slack's first try and
// the one that was acknowledged. A process that dies after it kept a message, before it
// answered, has it delivered again.
type delivery struct{ first, last time.Time }

// deliveries gives when each acknowledged message was delivered, by its word. Who wrote while
// no process could keep anything is heard of again after a minute, and after six.
func (w *workplace) deliveries() map[string]delivery {
	delivered := map[string]delivery{}
	for _, delivery := range w.Deliveries() {
		word := wordTag.FindString(string(delivery.Body))
		if !delivery.Acked || word == "" {
			continue
		}
		times := delivery.Attempts
		if known, ok := delivered[word]; !ok || times[len(times)-1].At.Before(known.last) {
			delivered[word] = deliverySpan(times)
		}
	}
	return delivered
}

func deliverySpan(attempts []slacktest.Attempt) delivery {
	return delivery{first: attempts[0].At, last: attempts[len(attempts)-1].At}
}

// isReordered tells whether an answer stands before another whose message had certainly
// reached the program earlier.
func isReordered(answers []string, delivered map[string]delivery) bool {
	for i, answer := range answers {
		for _, later := range answers[i+1:] {
			if delivered[later].last.Before(delivered[answer].first) {
				return true
			}
		}
	}
	return false
}

// answers gives the words of the answers in each thread, in their order.
func (w *workplace) answers(v *verdict) map[string][]string {
	said := map[string][]string{}
	for _, channel := range w.channels {
		for _, message := range w.Messages(channel) {
			place := channel + " " + message.ThreadTS
			switch {
			case message.User != slacktest.Bot || message.Deleted || message.Only != "":
			case len(message.Metadata) == 0 || message.Streaming:
				v.drafts++
				v.blame(place, "a draft")
			default:
				said[place] = append(said[place], wordTag.FindString(message.Text))
			}
		}
	}
	return said
}

// judge compares what stands in the threads with what was asked there and delivered. The
// order that counts is that of the deliveries, where it is certain.
func (w *workplace) judge() verdict {
	var v verdict
	said, delivered := w.answers(&v), w.deliveries()
	standing := map[string]bool{}
	for _, status := range w.Statuses() {
		standing[status.Channel+" "+status.ThreadTS] = status.Text != "" && time.Since(status.At) < 2*time.Minute
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for place, asked := range w.asked {
		words := slices.DeleteFunc(slices.Clone(asked), func(word string) bool { return delivered[word].last.IsZero() })
		var order []string
		for _, answer := range said[place] {
			switch {
			case !slices.Contains(words, answer):
				v.strange++
				v.blame(place, "a strange "+cmp.Or(answer, "answer"))
			case slices.Contains(order, answer):
				v.doubled++
				v.blame(place, "a second "+answer)
			default:
				order = append(order, answer)
			}
		}
		v.asked += len(words)
		if missing := len(words) - len(order); missing > 0 {
			v.lost += missing
			v.blame(place, "a lost answer")
		}
		if isReordered(order, delivered) {
			v.reordered++
			v.blame(place, "another order")
		}
		if standing[place] {
			v.statuses++
		}
	}
	return v
}

// awaitAnswers waits until all that Slack delivers is answered, and gives the words that were
// not answered in time, counted from the end of all trouble or from their delivery.
func (w *workplace) awaitAnswers(ended time.Time) []string {
	var late []string
	for time.Since(ended) < lastDelivery+answeredWithin {
		var ignored verdict
		answered := map[string]bool{}
		for _, words := range w.answers(&ignored) {
			for _, word := range words {
				answered[word] = true
			}
		}
		waiting := false
		for word, delivery := range w.deliveries() {
			if answered[word] {
				continue
			}
			waiting = true
			at := delivery.last
			if at.Before(ended) {
				at = ended
			}
			if time.Since(at) > answeredWithin && !slices.Contains(late, word) {
				late = append(late, word)
			}
		}
		if !waiting && !w.awaitsDelivery() {
			break
		}
		<-time.After(2 * time.Second)
	}
	return late
}

// awaitsDelivery tells whether Slack will try to deliver something again.
func (w *workplace) awaitsDelivery() bool {
	for _, delivery := range w.Deliveries() {
		if last := len(delivery.Attempts) - 1; !delivery.Acked && last >= 0 && time.Since(delivery.Attempts[0].At) < lastDelivery+time.Minute {
			return true
		}
	}
	return false
}

// settled waits until all is answered and nothing else stands in the threads, for some time
// at most, and gives what stands there then.
func (w *workplace) settled(most time.Duration) verdict {
	for end := time.Now().Add(most); ; {
		v := w.judge()
		if v.clean() || time.Now().After(end) {
			return v
		}
		<-time.After(2 * time.Second)
	}
}

// tellCalls logs what the program asked of Slack in the threads in which something is wrong.
func (w *workplace) tellCalls(v verdict) {
	threads := map[string]string{} // by channel and message
	for _, channel := range w.channels {
		for _, message := range w.Messages(channel) {
			threads[channel+" "+message.TS] = channel + " " + message.ThreadTS
		}
	}
	for _, call := range w.Calls("") {
		channel := call.Args["channel"] + call.Args["channel_id"]
		place := channel + " " + call.Args["thread_ts"]
		if thread, ok := threads[channel+" "+call.Args["ts"]]; ok {
			place = thread
		}
		if v.places[place] {
			w.t.Logf("%s: %s in %s: %v, error %q", call.At.Format(time.StampMilli), call.Method, place, call.Args, call.Error)
		}
	}
}
