package main

import (
	"cmp"
	"slices"
	"time"

	"cairn/internal/adapters/slack/slacktest"
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
	wrong     []string // the threads in which something is wrong, at most maxWrong
}

const maxWrong = 20

func (v verdict) clean() bool { return v.lost+v.doubled+v.reordered+v.drafts+v.statuses+v.strange == 0 }

func (v *verdict) blame(place, what string) {
	if len(v.wrong) < maxWrong {
		v.wrong = append(v.wrong, what+" in "+place)
	}
}

// deliveredAt tells when the program acknowledged each message, by its word. Who wrote while
// no process could keep anything is heard of again after a minute, and after six.
func (w *workplace) deliveredAt() map[string]time.Time {
	delivered := map[string]time.Time{}
	for _, delivery := range w.Deliveries() {
		word := wordTag.FindString(string(delivery.Body))
		if !delivery.Acked || word == "" {
			continue
		}
		at := delivery.Attempts[len(delivery.Attempts)-1].At
		if first, ok := delivered[word]; !ok || at.Before(first) {
			delivered[word] = at
		}
	}
	return delivered
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
// order that counts is that of the deliveries.
func (w *workplace) judge() verdict {
	var v verdict
	said, delivered := w.answers(&v), w.deliveredAt()
	standing := map[string]bool{}
	for _, status := range w.Statuses() {
		standing[status.Channel+" "+status.ThreadTS] = status.Text != "" && time.Since(status.At) < 2*time.Minute
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for place, asked := range w.asked {
		words := slices.DeleteFunc(slices.Clone(asked), func(word string) bool { return delivered[word].IsZero() })
		slices.SortStableFunc(words, func(a, b string) int { return delivered[a].Compare(delivered[b]) })
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
		expected := slices.DeleteFunc(slices.Clone(words), func(word string) bool { return !slices.Contains(order, word) })
		if missing := len(words) - len(order); missing > 0 {
			v.lost += missing
			v.blame(place, "a lost answer")
		}
		if !slices.Equal(order, expected) {
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
		for word, at := range w.deliveredAt() {
			if answered[word] {
				continue
			}
			waiting = true
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
