package interact

import (
	"context"
	"errors"
	"strconv"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/render"
)

// Press is a button that somebody pressed, or a form of the bot's that they sent.
type Press struct {
	Verb  Verb
	About string // id of the run or question
	Value string // of Rate, Reason and DraftPage
	By    chat.UserID
	// Message is the press as a message: its thread is the one that the button is in. Of Choose
	// and Reply it is what answers the question.
	Message chat.Message
	// IsHere tells whether a thread is where the press was made: a button shows nothing of
	// other places.
	IsHere func(chat.ThreadID) bool
	To     Surface
	In     Board
}

// Surface is where one person is answered who pressed a button or sent a form. What an adapter
// has shown by it stays seen by that person alone.
type Surface interface {
	Teller
	// Acknowledge tells the platform, at once, that the press is worked at and what comes next.
	Acknowledge(ctx context.Context, next Next) error
	// Confirm says one line to the person that something was done, where nothing else on the
	// platform shows that.
	Confirm(ctx context.Context, line string) error
	// AskReason asks the person why an answer did not help: a press of Reason comes of it.
	AskReason(ctx context.Context, run chat.RunID) error
	// ShowExplanation shows how an answer came about.
	ShowExplanation(ctx context.Context, shown Explanation) error
	// ShowSources shows all sources of an answer.
	ShowSources(ctx context.Context, groups []chat.SourceGroup) error
}

// Next is what comes of a press.
type Next int

const (
	// NextReply is that the bot says something in the thread.
	NextReply Next = iota
	// NextChange is that the message with the button changes.
	NextChange
	// NextView is that the person is shown something.
	NextView
)

// Board is where all of a channel see what an adapter posts by itself.
type Board interface {
	// Humans are the people that can be called into the thread, none where nobody can.
	Humans(ctx context.Context) ([]string, error)
	// PostHelp posts a call for help under a key; already tells that it is there.
	PostHelp(ctx context.Context, key chat.PostKey, request HelpRequest) (already bool, err error)
	// UpdateHelp changes the call for help that the press was made on.
	UpdateHelp(ctx context.Context, key chat.PostKey, request HelpRequest) error
	// ShareReply posts an answer that one person saw for all in the channel; already tells that
	// it is there. event is the id of the press.
	ShareReply(ctx context.Context, key chat.PostKey, reply chat.Reply) (already bool, err error)
}

// Explanation is how an answer came about.
type Explanation struct {
	Run   chat.RunID
	Trace chat.Trace
	// Draw gives a picture of the way that the run took, in PNG; nil where there is none.
	Draw func() ([]byte, error)
}

const forgottenAnswer = "This answer is not remembered any more."

// Press does what a button says. What is refused is told to who pressed; other errors are
// private, and the press may come again.
func (c *Controller) Press(ctx context.Context, bot *Handler, press Press) error {
	err := checkPlace(ctx, bot, press)
	if err == nil {
		err = c.performPress(ctx, bot, press)
	}
	if errors.Is(err, chat.ErrUnknownRun) && press.Verb == Reason {
		return press.To.Tell(ctx, forgottenAnswer)
	}
	if words, ok := Refusal(err); ok {
		return press.To.Tell(ctx, words)
	}
	return err
}

// checkPlace refuses a press about a run of another place. Questions are those of the thread's
// transcript anyway.
func checkPlace(ctx context.Context, bot *Handler, press Press) error {
	switch press.Verb {
	case Reason, SayWhy:
		return checkComplaint(ctx, bot, press)
	case Rate, Explain, ListSources, Retry, Share, AskHuman, KeepAsPage, UndoChange, PinAnswer, UnpinAnswer, DraftPage:
		return checkRun(ctx, bot, chat.RunID(press.About), press.IsHere)
	}
	return nil
}

func (c *Controller) performPress(ctx context.Context, bot *Handler, press Press) error {
	switch press.Verb {
	case Rate:
		return c.saveRating(ctx, bot, press)
	case Reason:
		return c.saveReason(ctx, bot, press)
	case SayWhy:
		return press.To.AskReason(ctx, chat.RunID(press.About))
	case Choose, Reply, Retry, Stop, Extend, KeepAsPage, UndoChange, DraftPage:
		if err := press.To.Acknowledge(ctx, NextReply); err != nil {
			return err
		}
		return c.controlRun(ctx, bot, press)
	case TakeHelp, CloseHelp:
		if err := press.To.Acknowledge(ctx, NextChange); err != nil {
			return err
		}
		state := HelpTaken
		if press.Verb == CloseHelp {
			state = HelpClosed
		}
		err := changeHelp(ctx, bot, press, state)
		if err == nil && state == HelpClosed { // what a person answered may be news to the documents
			message := press.Message
			message.Author, message.Text = press.By, ""
			c.proposeCorrection(ctx, bot, message)
		}
		return err
	}
	if err := press.To.Acknowledge(ctx, NextView); err != nil {
		return err
	}
	switch press.Verb {
	case Explain:
		return explainRun(ctx, bot, press)
	case ListSources:
		return listSources(ctx, bot, press)
	case Share:
		return shareReply(ctx, bot, press)
	case AskHuman:
		return callHuman(ctx, bot, press)
	case AnswerPrivately:
		return answerPrivately(ctx, bot, press)
	case PinAnswer, UnpinAnswer:
		return changePin(ctx, bot, press)
	}
	return nil
}

// controlRun does what the bot is to know of: it is durable when this returns.
func (c *Controller) controlRun(ctx context.Context, bot *Handler, press Press) error {
	run := chat.RunID(press.About)
	switch press.Verb {
	case Retry:
		return bot.Retry(ctx, run, press.By, nil)
	case Extend:
		if bot.More == nil {
			return chat.ErrUnknownRun
		}
		return bot.More.Extend(ctx, run, press.By)
	case KeepAsPage:
		press.Message.Text = chat.KeepAsPage.Command(run)
	case UndoChange:
		press.Message.Text = chat.UndoChange.Command(run)
	case DraftPage:
		topic, err := findTopic(ctx, bot, run, press.Value)
		if err != nil {
			return err
		}
		press.Message.Text = chat.DraftCommand(topic)
	case Stop:
		stopped, err := bot.Stop(ctx, press.Message.Thread, press.By)
		if err != nil || stopped {
			return err
		}
		return press.To.Confirm(ctx, "Nothing works or waits here any more.")
	}
	return c.Submit(ctx, bot, press.Message, press.To)
}

// findTopic gives what the page is about that a button drafts. The reply with the button begins
// the thread that it was pressed in, and stands in another one: that of the channel.
func findTopic(ctx context.Context, bot *Handler, run chat.RunID, value string) (string, error) {
	thread, err := bot.ThreadOf(ctx, run)
	if err != nil {
		return "", err
	}
	reply, err := FindReply(ctx, bot, thread, run)
	if err != nil {
		return "", err
	}
	at, err := strconv.Atoi(value)
	if err != nil || at < 0 || at >= len(reply.Topics) {
		return "", chat.ErrUnknownRun
	}
	return reply.Topics[at], nil
}

// saveRating keeps a thumb, and asks for the reason where it points down.
func (c *Controller) saveRating(ctx context.Context, bot *Handler, press Press) error {
	run, verdict := chat.RunID(press.About), chat.Verdict(press.Value)
	if verdict != chat.Up && verdict != chat.Down {
		c.Skip(ctx, "a rating that is none")
		return nil
	}
	err := bot.Rate(ctx, run, chat.Rating{By: press.By, Verdict: verdict, At: c.options.Now()})
	switch {
	case err != nil:
		return err
	case verdict == chat.Down:
		return press.To.AskReason(ctx, run)
	}
	return press.To.Confirm(ctx, "Thank you: it is kept that this helped.")
}

// saveReason keeps why an answer was not helpful.
func (c *Controller) saveReason(ctx context.Context, bot *Handler, press Press) error {
	if press.Value == "" {
		return press.To.Tell(ctx, "Say in a few words what was wrong, or choose Skip.")
	}
	run := chat.RunID(press.About)
	thread, err := bot.ThreadOf(ctx, run)
	if err != nil {
		return err
	}
	err = bot.Rate(ctx, run, chat.Rating{By: press.By, Verdict: chat.Down, Reason: render.Head(press.Value, chat.MaxReason), At: c.options.Now()})
	if err != nil {
		return err
	}
	message := press.Message
	message.Thread, message.Author, message.Text = thread, press.By, press.Value
	c.proposeCorrection(ctx, bot, message)
	return press.To.Confirm(ctx, "Thank you: it is kept why this did not help.")
}

func explainRun(ctx context.Context, bot *Handler, press Press) error {
	run := chat.RunID(press.About)
	trace, err := bot.Explain(ctx, run)
	if err != nil {
		return err
	}
	return press.To.ShowExplanation(ctx, Explanation{run, trace, func() ([]byte, error) { return render.DrawTrace(bot.Graphs, trace) }})
}

func listSources(ctx context.Context, bot *Handler, press Press) error {
	reply, err := FindReply(ctx, bot, press.Message.Thread, chat.RunID(press.About))
	if err != nil {
		return err
	}
	return press.To.ShowSources(ctx, reply.Sources)
}

// shareReply posts the answer that one person saw for all in the channel.
func shareReply(ctx context.Context, bot *Handler, press Press) error {
	reply, err := FindReply(ctx, bot, press.Message.Thread, chat.RunID(press.About))
	if err != nil {
		return err
	}
	already, err := press.In.ShareReply(ctx, NewPostKey("share", press.Message.Thread, press.About), reply)
	switch {
	case err != nil:
		return err
	case already:
		return press.To.Tell(ctx, "It is in the channel already.")
	}
	return press.To.Confirm(ctx, "It is in the channel now.")
}

// changePin pins an answer to its question, or ends that, and says so to who pressed.
func changePin(ctx context.Context, bot *Handler, press Press) error {
	if bot.Pins == nil {
		return chat.ErrUnknownRun
	}
	run, by := chat.RunID(press.About), chat.Reader{Adapter: press.Message.Thread.Adapter(), User: press.By, Identity: press.Message.Asker}
	var pinned chat.PinnedAnswer
	var err error
	if press.Verb == UnpinAnswer {
		pinned, err = bot.Pins.UnpinAnswer(ctx, run, by)
	} else {
		pinned, err = bot.Pins.PinAnswer(ctx, run, by, chat.PinDraft{})
	}
	if refused, ok := errors.AsType[*chat.PinError](err); ok {
		return press.To.Tell(ctx, refused.Text)
	}
	if err != nil {
		return err
	}
	return press.To.Tell(ctx, pinned.Describe(press.Verb == PinAnswer))
}

// answerPrivately has the asker of a run answered once more, alone, and says where.
func answerPrivately(ctx context.Context, bot *Handler, press Press) error {
	if bot.Private == nil {
		return chat.ErrUnknownRun
	}
	err := bot.Private.AnswerPrivately(ctx, chat.RunID(press.About), press.By)
	switch {
	case errors.Is(err, chat.ErrRefused), errors.Is(err, chat.ErrGone):
		return press.To.Tell(ctx, "I can't write to you directly.")
	case err != nil:
		return err
	}
	return press.To.Tell(ctx, "On it: the answer comes in our direct conversation.")
}
