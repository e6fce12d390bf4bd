package discord

import (
	"context"

	"github.com/cairn-bot/cairn/internal/chat/interact"
	"github.com/cairn-bot/cairn/internal/chat/settings"
)

// toIncoming is what a message tells of whom it is for, in a channel of a mode.
func (s signal) toIncoming(mode settings.Mode) interact.Incoming {
	incoming := interact.Incoming{
		Message: s.message, Mode: mode, Direct: s.at.guild == directGuild, InThread: isThread(s.at.kind), Called: s.called, CalledNow: s.called,
		ToOther: s.toOther, OpensTopic: s.at.isForumPost(), Unreadable: s.empty,
	}
	incoming.Message.Author = s.by
	if s.at.isForumPost() {
		incoming.Message.Text = addTitle(s.at.name, s.message.Text)
	}
	return incoming
}

// incomingFrom tells what the bot is to know of a message whose author was admitted.
func (d dispatcher) incomingFrom(of signal, given interact.Admission) interact.Incoming {
	incoming := of.toIncoming(given.Setting.Mode)
	incoming.To = &surface{adapter: d.adapter, of: of}
	if incoming.Direct {
		incoming.NoticeKey = "discord person " + string(of.by)
	}
	incoming.Admit = func(context.Context) (interact.Admission, error) { return given, nil }
	incoming.Accepted = func() {
		d.adapter.threads.Put(of.at.channel+" "+of.at.message, incoming.Message.Thread)
		d.adapter.parents.Put(of.at.message, of.at.channel)
	}
	return incoming
}

// addTitle puts a forum post's title before what it says, as the question often stands there.
func addTitle(title, text string) string {
	if text == "" {
		return title
	}
	return title + "\n\n" + text
}
