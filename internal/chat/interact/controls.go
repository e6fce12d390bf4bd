package interact

import (
	"fmt"
	"strconv"

	"github.com/cairn-bot/cairn/internal/chat"
)

// Verb is what a button does. Adapters carry it in the ids of buttons, which platforms keep
// with a message for good: a verb is never renamed.
type Verb string

// The verbs. Each is about a run, but Choose and Reply, which are about a question.
const (
	Rate            Verb = "rate"    // its value is a chat.Verdict
	Reason          Verb = "reason"  // why an answer did not help: its value is the person's words
	SayWhy          Verb = "say"     // say why an answer did not help, after a reaction
	Explain         Verb = "why"     // how an answer came about
	ListSources     Verb = "sources" // all of an answer
	Retry           Verb = "retry"   // a failed run
	Stop            Verb = "stop"    // what works or waits in the thread
	Share           Verb = "share"   // an answer that one person alone saw
	AskHuman        Verb = "human"   // call people to help
	AnswerPrivately Verb = "private" // answer the asker once more, alone
	TakeHelp        Verb = "take"    // a person is about to help
	CloseHelp       Verb = "settled" // a person has helped
	Extend          Verb = "extend"  // make the answer longer
	KeepAsPage      Verb = "keep"    // keep a run's document as a page
	UndoChange      Verb = "undo"    // take back a run's change of a page
	PinAnswer       Verb = "pin"     // have an answer given to its question from now on
	UnpinAnswer     Verb = "unpin"   // and no more
	DraftPage       Verb = "draft"   // draft a page: its value is the number of a reply's topic, from 0
	Choose          Verb = "answer"  // one of a question's choices
	Reply           Verb = "reply"   // answer a question in other words
)

// Verbs are all verbs.
func Verbs() []Verb {
	return []Verb{
		Rate, Reason, SayWhy, Explain, ListSources, Retry, Stop, Share, AskHuman, AnswerPrivately, TakeHelp, CloseHelp, Extend, KeepAsPage, UndoChange, PinAnswer, UnpinAnswer, DraftPage, Choose, Reply,
	}
}

// Emphasis is how much a button stands out.
type Emphasis int

// The emphases.
const (
	Plain    Emphasis = iota
	Primary           // what most people want
	Positive          // what ends something well
)

// Button is something that people can do about a message.
type Button struct {
	Verb     Verb
	About    string // id of the run
	Value    string // of DraftPage
	Label    string
	Emphasis Emphasis
}

// Controls are what people can do about an answer.
type Controls struct {
	Rating  string   // id of the run that people can give a thumb; "" for none
	Buttons []Button // in their order
	Menu    []Button // what is wanted less often
}

// Offer is what a place allows of an answer in it.
type Offer struct {
	Human   bool // people are named who can be called
	Private bool // one person alone sees the answer
}

// actionVerbs are the verbs of a reply's actions.
var actionVerbs = map[chat.Action]Verb{
	chat.KeepAsPage: KeepAsPage, chat.UndoChange: UndoChange, chat.PinAnswer: PinAnswer, chat.UnpinAnswer: UnpinAnswer,
}

// ReplyControls returns what stands under an answer or a failure line.
func ReplyControls(reply chat.Reply, offer Offer) Controls {
	run, human := string(reply.Run), offer.Human && !offer.Private
	button := func(verb Verb, label string) Button { return Button{Verb: verb, About: run, Label: label} }
	switch {
	case reply.Offer != "":
		return Controls{Buttons: []Button{{Verb: AnswerPrivately, About: string(reply.Offer), Label: "Answer me in private"}}}
	case len(reply.Topics) > 0:
		return Controls{Buttons: draftButtons(reply)}
	case run == "" || reply.Outcome == chat.Noticed:
		return Controls{}
	case reply.Outcome == chat.Failure:
		retry := button(Retry, "Retry")
		retry.Emphasis = Primary
		shown := Controls{Buttons: []Button{retry, button(Explain, "What happened")}}
		if human {
			shown.Buttons = append(shown.Buttons, button(AskHuman, "Ask a human"))
		}
		return shown
	}
	var shown Controls
	if reply.Outcome == chat.Answered {
		shown.Rating = run
	}
	if reply.More {
		shown.Buttons = append(shown.Buttons, button(Extend, "Show more"))
	}
	for _, action := range reply.Actions {
		if verb, ok := actionVerbs[action]; ok && !verb.IsOfMenu() {
			shown.Buttons = append(shown.Buttons, button(verb, action.Label()))
		}
	}
	if human && reply.Outcome == chat.Abstained { // nothing else helps then
		shown.Buttons = append(shown.Buttons, button(AskHuman, "Ask a human"))
		human = false
	}
	shown.Menu = []Button{button(Explain, "Why")}
	if len(reply.Sources) > 0 {
		shown.Menu = append(shown.Menu, button(ListSources, "All sources"))
	}
	if offer.Private {
		shown.Menu = append(shown.Menu, button(Share, "Share in channel"))
	}
	if human {
		shown.Menu = append(shown.Menu, button(AskHuman, "Ask a human"))
	}
	for _, action := range reply.Actions {
		if verb, ok := actionVerbs[action]; ok && verb.IsOfMenu() {
			shown.Menu = append(shown.Menu, button(verb, action.Label()))
		}
	}
	return shown
}

// draftButtons have a page drafted about each topic of a reply.
func draftButtons(reply chat.Reply) []Button {
	var buttons []Button
	for i := range reply.Topics[:min(len(reply.Topics), chat.MaxTopics)] {
		buttons = append(buttons, Button{Verb: DraftPage, About: string(reply.Run), Value: strconv.Itoa(i), Label: fmt.Sprintf("Draft a page: %d", i+1)})
	}
	return buttons
}

// IsOfMenu reports whether a menu may offer a verb.
func (v Verb) IsOfMenu() bool {
	switch v {
	case Explain, ListSources, Share, AskHuman, PinAnswer, UnpinAnswer:
		return true
	}
	return false
}
