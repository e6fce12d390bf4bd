package interact

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/markup"
	"github.com/cairn-bot/cairn/internal/chat/render"
)

// HelpState is how far a call for help is.
type HelpState int

// The states.
const (
	HelpWanted HelpState = iota // people are called
	HelpTaken                   // somebody is about to help
	HelpClosed                  // somebody has helped
)

// HelpRequest is a call for a person's help with an answer. It is one message of the answer's
// thread, which changes with its state.
type HelpRequest struct {
	State    HelpState
	Run      chat.RunID
	By       chat.UserID // who wants help, is about to help, or has helped
	People   []string    // who is called, as the platform names them; none once help is taken
	Question string      // as it was asked, on one line; "" where it is not remembered
	Reason   string      // why a person is asked, as people read it
}

// Headline says who is called, or helps. Its runs name people by Run.User.
func (h HelpRequest) Headline() []render.Run {
	var runs []render.Run
	for _, id := range h.People {
		runs = append(runs, render.Run{User: id}, render.Run{Text: " "})
	}
	by := render.Run{User: string(h.By)}
	switch h.State {
	case HelpWanted:
		return append(runs, by, render.Run{Text: " would like a person to look at this."})
	case HelpTaken:
		return append(runs, by, render.Run{Text: " takes care of this."})
	}
	return append(runs, render.Run{Text: ClosedHelp}, by)
}

// ClosedHelp is how a call for help begins once somebody has helped.
const ClosedHelp = "✓ Resolved by "

// Buttons are what stands under the call.
func (h HelpRequest) Buttons() []Button {
	take := Button{Verb: TakeHelp, About: string(h.Run), Label: "I’ll take it", Emphasis: Primary}
	end := Button{Verb: CloseHelp, About: string(h.Run), Label: "Resolved", Emphasis: Positive}
	switch h.State {
	case HelpWanted:
		return []Button{take, end}
	case HelpTaken:
		return []Button{end}
	}
	return nil
}

// Summary is what notifications show of the call.
func (h HelpRequest) Summary() string {
	switch h.State {
	case HelpWanted:
		return "A person is asked to look at this."
	case HelpTaken:
		return "A person takes care of this."
	}
	return "Resolved."
}

// NewPostKey returns the delivery key of what an adapter posts by itself, because of an event
// with an id in a thread: the same for one that comes again.
func NewPostKey(purpose string, thread chat.ThreadID, id string) chat.PostKey {
	sum := sha256.Sum256([]byte(strings.Join([]string{purpose, string(thread), id}, "\x00")))
	return chat.PostKey(hex.EncodeToString(sum[:12]))
}

// helpKey is the key of the call for help with a run, whoever asks for it.
func helpKey(press Press) chat.PostKey { return NewPostKey("help", press.Message.Thread, press.About) }

// callHuman calls the people of the channel into the thread, once for an answer.
func callHuman(ctx context.Context, bot *Handler, press Press) error {
	people, err := press.In.Humans(ctx)
	if err != nil {
		return err
	}
	if len(people) == 0 {
		return press.To.Tell(ctx, "Nobody is named for this channel any more.")
	}
	request, err := findHelp(ctx, bot, press, HelpWanted)
	if err != nil {
		return err
	}
	request.People = people
	already, err := press.In.PostHelp(ctx, helpKey(press), request)
	switch {
	case err != nil:
		return err
	case already:
		return press.To.Tell(ctx, "Somebody was called already.")
	}
	return press.To.Confirm(ctx, request.Summary())
}

// changeHelp shows in the place of a call for help that somebody helps, or has helped.
func changeHelp(ctx context.Context, bot *Handler, press Press, state HelpState) error {
	request := HelpRequest{State: state, Run: chat.RunID(press.About), By: press.By}
	if state != HelpClosed {
		var err error
		if request, err = findHelp(ctx, bot, press, state); err != nil {
			return err
		}
	}
	return press.In.UpdateHelp(ctx, helpKey(press), request)
}

// findHelp finds the question that a run was about, and why its answer does not do.
func findHelp(ctx context.Context, bot *Handler, press Press, state HelpState) (HelpRequest, error) {
	run := chat.RunID(press.About)
	turns, err := bot.Transcript(ctx, press.Message.Thread)
	if err != nil {
		return HelpRequest{}, fmt.Errorf("look for the question of run %s: %w", run, err)
	}
	found := HelpRequest{State: state, Run: run, By: press.By, Reason: "The answer above did not settle it."}
	for _, turn := range turns {
		if turn.Reply == nil || turn.Reply.Run != run {
			continue
		}
		switch turn.Reply.Outcome {
		case chat.Abstained:
			found.Reason = "I couldn't find an answer in the documents."
		case chat.Failure:
			found.Reason = "The answer could not be made."
		}
		for _, asked := range turns {
			if asked.Role == chat.Person && asked.Message == turn.Message {
				found.Question = markup.CleanLine(asked.Text)
			}
		}
	}
	return found, nil
}
