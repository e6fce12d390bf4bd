// Package threadsource has what people said to one another in channels be a source of the index:
// a thread whose question was answered is a document, of the question, the answer and who gave it.
//
// answered.go has the rules by which a thread counts as answered, document.go what its document
// looks like, and source.go is the connector.
package threadsource

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/language/smalltalk"
)

// Reason is why a thread counts as answered.
type Reason string

// The reasons, the strongest first.
const (
	KeptByHand Reason = "kept"      // somebody had Cairn remember it
	Settled    Reason = "settled"   // a person whose help was asked for said that it is settled
	Marked     Reason = "marked"    // a reaction says so
	Thanked    Reason = "thanked"   // who asked said thanks
	Confirmed  Reason = "confirmed" // Cairn's answer was rated up
)

// ConfirmedAnswer is an answer of Cairn's that people rated up.
type ConfirmedAnswer struct {
	Text string // Markdown
	At   time.Time
}

// exchange is a question with what answers it.
type exchange struct {
	reason   Reason
	question []chat.ChannelMessage // the first message of the thread, and what its author added at once
	answer   []chat.ChannelMessage // of one person, but in a thread that was kept as a whole
	byCairn  bool                  // the answer is Cairn's
}

// maxKept is how many messages of a thread that was kept as a whole are read.
const maxKept = 30

// findExchange finds the question of a thread and its accepted answer; ok is false where the
// thread does not count as answered.
func findExchange(thread chat.ChannelThread, confirmed []ConfirmedAnswer) (found exchange, ok bool) {
	if len(thread.Messages) == 0 {
		return exchange{}, false
	}
	a := answering{thread: thread.Messages, names: namesIn(thread.Messages)}
	a.asker = a.thread[0].Author
	found.question = a.findQuestion()
	if found.answer = a.findKept(len(found.question)); len(found.answer) > 0 {
		found.reason = KeptByHand
		return found, true
	}
	if len(found.question) == 0 {
		return exchange{}, false
	}
	for _, rule := range []struct {
		reason Reason
		find   func(from int) []chat.ChannelMessage
	}{{Settled, a.findSettled}, {Marked, a.findMarked}, {Thanked, a.findThanked}} {
		if found.answer = rule.find(len(found.question)); len(found.answer) > 0 {
			found.reason = rule.reason
			return found, true
		}
	}
	if len(confirmed) > 0 {
		last := confirmed[len(confirmed)-1]
		found.reason, found.byCairn = Confirmed, true
		found.answer = []chat.ChannelMessage{{Text: last.Text, At: last.At, Self: true}}
	}
	return found, found.byCairn
}

// answering looks for what answers the question of a thread.
type answering struct {
	thread []chat.ChannelMessage
	asker  chat.UserID
	names  map[string]bool // words of the names of those who wrote in it, in lower case
}

// findQuestion gives the first message, and those that its author added before anybody replied; none
// where no person asked.
func (a answering) findQuestion() []chat.ChannelMessage {
	if first := a.thread[0]; !isByPerson(first) {
		return nil
	}
	end := 1
	for end < len(a.thread) && a.thread[end].Author == a.asker && isByPerson(a.thread[end]) && !a.isThanks(a.thread[end].Text) {
		end++
	}
	if end == len(a.thread) { // nobody replied: what follows is more than the question
		end = 1
	}
	return a.thread[:end]
}

func isByPerson(m chat.ChannelMessage) bool {
	return !IsKeep(m.Text) && !IsForget(m.Text) && !m.App && !m.Self && m.Author != "" && strings.TrimSpace(m.Text) != ""
}

// mayAnswer reports whether a message may be an answer: a person other than who asked wrote it, and it
// is neither chatter nor a question.
func (a answering) mayAnswer(m chat.ChannelMessage) bool {
	return isByPerson(m) && m.Author != a.asker && !a.isChatter(m.Text) && !asksBack(m.Text)
}

func asksBack(text string) bool {
	return strings.HasSuffix(strings.TrimRight(text, " \n"), "?") || strings.HasSuffix(text, "？")
}

// findKept gives what the bot was told to keep: a reply that carries its mark, or for a thread
// whose first message does, the answer in it, or else all that people said.
func (a answering) findKept(from int) []chat.ChannelMessage {
	for i, m := range a.thread {
		if i > 0 && hasOwnMark(m, chat.MarkKept) && isByPerson(m) {
			return []chat.ChannelMessage{m}
		}
	}
	if !hasOwnMark(a.thread[0], chat.MarkKept) {
		return nil
	}
	for _, find := range []func(int) []chat.ChannelMessage{a.findSettled, a.findMarked, a.findThanked} {
		if answer := find(from); len(answer) > 0 {
			return answer
		}
	}
	var said []chat.ChannelMessage
	for _, m := range a.thread[from:] {
		if isByPerson(m) && !a.isChatter(m.Text) && len(said) < maxKept {
			said = append(said, m)
		}
	}
	if len(said) == 0 && isByPerson(a.thread[0]) { // a message that was kept alone
		said = a.thread[:1]
	}
	return said
}

func hasOwnMark(m chat.ChannelMessage, kind chat.MarkKind) bool {
	return slices.ContainsFunc(m.Marks, func(mark chat.Mark) bool { return mark.Kind == kind && mark.Self })
}

// findSettled gives the last answer of a thread that was marked as settled, by the bot once a person
// who was asked for help said so, or by people.
func (a answering) findSettled(from int) []chat.ChannelMessage {
	if !slices.ContainsFunc(a.thread[0].Marks, func(mark chat.Mark) bool {
		return mark.Kind == chat.MarkSettled && (mark.Self || mark.Count > 0)
	}) {
		return nil
	}
	for i := len(a.thread) - 1; i >= from; i-- {
		if a.mayAnswer(a.thread[i]) {
			return a.runUpTo(i, from)
		}
	}
	return nil
}

// findMarked gives the last answer that carries a reaction by which people accept it: one that says
// so, of anybody but its author, or one of liking, of who asked or of two.
func (a answering) findMarked(from int) []chat.ChannelMessage {
	for i := len(a.thread) - 1; i >= from; i-- {
		m := a.thread[i]
		if isByPerson(m) && !a.isChatter(m.Text) && slices.ContainsFunc(m.Marks, func(mark chat.Mark) bool { return a.accepts(mark, m.Author) }) {
			return []chat.ChannelMessage{m}
		}
	}
	return nil
}

func (a answering) accepts(mark chat.Mark, author chat.UserID) bool {
	others := mark.Count
	if slices.Contains(mark.By, author) {
		others--
	}
	switch mark.Kind {
	case chat.MarkSettled:
		return others > 0
	case chat.MarkLiked:
		return others > 1 || author != a.asker && slices.Contains(mark.By, a.asker)
	}
	return false
}

// findThanked gives the answer before the last message by which who asked says thanks.
func (a answering) findThanked(from int) []chat.ChannelMessage {
	for i := len(a.thread) - 1; i >= from; i-- {
		if m := a.thread[i]; m.Author != a.asker || !isByPerson(m) || !a.isThanks(m.Text) {
			continue
		}
		for j := i - 1; j >= from; j-- {
			if a.thread[j].Self { // it thanks Cairn
				return nil
			}
			if a.mayAnswer(a.thread[j]) {
				return a.runUpTo(j, from)
			}
		}
	}
	return nil
}

// runUpTo gives the answer that ends at a message: with the ones before it of the same person, where
// nobody else wrote in between.
func (a answering) runUpTo(end, from int) []chat.ChannelMessage {
	begin := end
	for begin > from && a.thread[begin-1].Author == a.thread[end].Author && a.mayAnswer(a.thread[begin-1]) {
		begin--
	}
	return a.thread[begin : end+1]
}

// isChatter reports whether a message says nothing but thanks, yes or hello.
func (a answering) isChatter(text string) bool {
	_, ok := smalltalk.Read(a.withoutNames(text))
	return ok
}

var (
	// clauses are divided by these.
	clauseEnd = regexp.MustCompile(`[.!,;:\n。！，、)(–—]+`)
	// objecting begins a clause that takes thanks back.
	objecting = regexp.MustCompile(`(?i)^\s*(but|however|still|not yet|unfortunately|sadly|aber|leider|trotzdem|mais|malheureusement|pero|lamentablemente|mas|infelizmente|ma|purtroppo|però|maar|helaas)\b|^\s*(でも|ただ|しかし|但是|但|不过|可是)`)
)

// isThanks reports whether a message says thanks, or that it works now, and neither asks nor objects.
func (a answering) isThanks(text string) bool {
	if asksBack(text) {
		return false
	}
	thanks := false
	for _, clause := range clauseEnd.Split(a.withoutNames(text), -1) {
		if objecting.MatchString(clause) {
			return false
		}
		read, ok := smalltalk.Read(clause)
		thanks = thanks || ok && read.Kind == smalltalk.Thanks
	}
	return thanks
}

var word = regexp.MustCompile(`@?[\pL\pN_.'-]+`)

// withoutNames leaves the names of those in the thread out: "thanks Ben".
func (a answering) withoutNames(text string) string {
	return word.ReplaceAllStringFunc(text, func(found string) string {
		if name := strings.ToLower(strings.TrimRight(strings.TrimPrefix(found, "@"), ".")); a.names[name] {
			return found[len(strings.TrimRight(found, ".")):]
		}
		return found
	})
}

func namesIn(messages []chat.ChannelMessage) map[string]bool {
	names := make(map[string]bool)
	for _, m := range messages {
		for _, part := range strings.Fields(strings.ToLower(m.Name)) {
			names[part] = true
		}
	}
	return names
}
