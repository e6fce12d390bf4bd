package slack

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/interact"
	"github.com/cairn-bot/cairn/internal/chat/webhook"
)

// askShortcut is the callback id of the message shortcut "Ask Cairn about this".
const askShortcut = "ask_about_message"

// interaction holds what Cairn reads of the payloads of interactions.
type interaction struct {
	Type       string `json:"type"`
	CallbackID string `json:"callback_id"`
	TriggerID  string `json:"trigger_id"`
	ActionTS   string `json:"action_ts"`
	Team       struct {
		ID string `json:"id"`
	} `json:"team"`
	User struct {
		ID     string `json:"id"`
		TeamID string `json:"team_id"`
	} `json:"user"`
	Enterprise struct {
		ID string `json:"id"`
	} `json:"enterprise"`
	Channel struct {
		ID string `json:"id"`
	} `json:"channel"`
	Message   *wireMessage `json:"message"`
	Container struct {
		MessageTS string `json:"message_ts"`
		ThreadTS  string `json:"thread_ts"`
		ChannelID string `json:"channel_id"`
		Ephemeral bool   `json:"is_ephemeral"`
	} `json:"container"`
	View struct {
		ID         string `json:"id"`
		CallbackID string `json:"callback_id"`
		About      string `json:"private_metadata"`
		State      struct {
			Values map[string]map[string]struct {
				Value string `json:"value"`
			} `json:"values"`
		} `json:"state"`
	} `json:"view"`
	Actions []struct {
		Type     string `json:"type"`
		ActionID string `json:"action_id"`
		BlockID  string `json:"block_id"`
		Value    string `json:"value"`
		ActionTS string `json:"action_ts"`
		Text     struct {
			Text string `json:"text"`
		} `json:"text"`
		Selected struct {
			Value string `json:"value"`
		} `json:"selected_option"` // of a menu
	} `json:"actions"`
}

// parseInteraction tells what an interaction means; payload is its JSON.
func parseInteraction(payload []byte) (signal, error) {
	var of interaction
	if err := webhook.Decode(payload, &of); err != nil {
		return signal{}, fmt.Errorf("read an interaction of Slack's: %w", err)
	}
	found := ignoredSignal("interactions of type " + strconv.Quote(of.Type) + " mean nothing to Cairn")
	switch of.Type {
	case "block_actions":
		found = pressMeaning(of)
	case "message_action":
		found = shortcutMeaning(of)
	case "view_submission":
		found = formMeaning(of)
	case "view_closed":
		found = ignoredSignal("a modal was closed")
	}
	found.enterprise, found.userTeam = of.Enterprise.ID, of.User.TeamID
	return found, nil
}

func (of interaction) teamID() string {
	if of.Team.ID != "" {
		return of.Team.ID
	}
	return of.User.TeamID // of an app that is installed for an enterprise
}

func pressMeaning(of interaction) signal {
	if len(of.Actions) == 0 {
		return ignoredSignal("a press of nothing")
	}
	action := of.Actions[0]
	does, about, ours := parseAction(action.ActionID)
	if !ours {
		return ignoredSignal("a press of a button that is not Cairn's")
	}
	if does == verbMenu {
		if does = interact.Verb(action.Selected.Value); !does.IsOfMenu() {
			return ignoredSignal("a choice of a menu that is not Cairn's")
		}
	}
	if does == verbAsk {
		return homePressMeaning(of)
	}
	at := place{team: of.teamID(), channel: of.Container.ChannelID, root: of.Container.ThreadTS}
	if at.root == "" {
		at.root = of.Container.MessageTS
	}
	if thread, found := blockThread(action.BlockID); found {
		in, err := parseThread(thread)
		if err != nil || in.team != at.team || string(in.private) != of.User.ID {
			return ignoredSignal("a press in a thread that is not the person's")
		}
		at = in
	}
	if !at.isValid() || of.User.ID == "" {
		return ignoredSignal("a press in no thread, or by nobody")
	}
	found := signal{
		kind: kindPressed, place: at, by: chat.UserID(of.User.ID), verb: does, about: about, value: action.Value,
		trigger: of.TriggerID, on: of.Container.MessageTS,
		message: chat.Message{
			ID: chat.MessageID("press/" + of.User.ID + "/" + action.ActionTS), Thread: at.threadID(), Author: chat.UserID(of.User.ID),
			Text: action.Text.Text, At: timeOf(action.ActionTS),
		},
	}
	switch does {
	case interact.DraftPage:
		found.about, _, _ = cutLast(about, ":")
	case interact.Choose:
		question, _, _ := cutLast(about, ":")
		found.message.Answers = &chat.Press{Question: question, Choice: action.Value}
	case interact.Reply:
		found.message.Text = strings.TrimSpace(action.Value)
		if found.message.Text == "" {
			return ignoredSignal("an empty answer")
		}
	}
	return found
}

// formMeaning reads the form of a modal of ours.
func formMeaning(of interaction) signal {
	if of.View.CallbackID == askForm {
		return askSignal(of, kindSubmitted, "home/"+of.User.ID+"/"+of.View.ID, strings.TrimSpace(of.View.State.Values[askBlock][askField].Value))
	}
	run, thread, ours := readForm(of.View.CallbackID, of.View.About)
	if !ours {
		return ignoredSignal("a modal that asks for nothing was closed")
	}
	at, err := parseThread(thread)
	if err != nil || at.team != of.teamID() || of.User.ID == "" {
		return ignoredSignal("a form about no thread of the person's team")
	}
	return signal{
		kind: kindSubmitted, place: at, by: chat.UserID(of.User.ID), verb: interact.Reason, about: string(run), trigger: of.TriggerID,
		message: chat.Message{ID: chat.MessageID("form/" + of.User.ID + "/" + of.View.ID), Thread: at.threadID(), Author: chat.UserID(of.User.ID)},
		value:   strings.TrimSpace(of.View.State.Values[reasonBlock][reasonField].Value),
	}
}

func cutLast(text, separator string) (before, after string, found bool) {
	at := strings.LastIndex(text, separator)
	if at < 0 {
		return text, "", false
	}
	return text[:at], text[at+len(separator):], true
}

// shortcutMeaning asks about a message in its thread. A message of a bot's may be
// asked about too: it is a person who asks.
func shortcutMeaning(of interaction) signal {
	switch {
	case of.CallbackID != askShortcut:
		return ignoredSignal("a shortcut that is not Cairn's")
	case of.Message == nil || strings.TrimSpace(of.Message.Text) == "":
		return ignoredSignal("a shortcut on a message without text")
	}
	at := place{team: of.teamID(), channel: of.Channel.ID, root: rootOf(*of.Message)}
	if !at.isValid() || of.User.ID == "" {
		return ignoredSignal("a shortcut in no thread, or by nobody")
	}
	return signal{
		kind: kindAsked, place: at, by: chat.UserID(of.User.ID), trigger: of.TriggerID,
		message: chat.Message{
			ID: chat.MessageID("shortcut/" + of.User.ID + "/" + of.ActionTS), Thread: at.threadID(), Author: chat.UserID(of.User.ID),
			Text: readMrkdwn(of.Message.Text, "").text, At: timeOf(of.ActionTS),
		},
	}
}

// commandName is the slash command. The bot reads it as it reads it in a message.
const commandName = "/cairn"

// parseCommand tells what a slash command means. Its thread is the person's own: a command
// can't be given in a thread, and is answered to that person alone.
func parseCommand(form url.Values, now time.Time) signal {
	at := place{
		team: form.Get("team_id"), channel: form.Get("channel_id"),
		private: chat.UserID(form.Get("user_id")), request: form.Get("trigger_id"),
	}
	if !at.isValid() {
		return ignoredSignal("a command of no channel, or by nobody")
	}
	if wishes, ok := adminSyntax.Parse(unescaper.Replace(form.Get("text")), at.channel); ok {
		return signal{kind: kindManaged, place: at, by: at.private, trigger: at.request, wishes: wishes}
	}
	text := strings.TrimSpace(readMrkdwn(form.Get("text"), "").text)
	if text == "" {
		text = "help"
	}
	return signal{
		kind: kindAsked, place: at, by: at.private, trigger: at.request,
		message: chat.Message{ID: chat.MessageID("command/" + at.request), Thread: at.threadID(), Author: at.private, Text: commandName + " " + text, At: now},
	}
}
