package slack

import (
	"context"
	"strings"

	"github.com/cairn-bot/cairn/internal/chat/interact"
	"github.com/cairn-bot/cairn/internal/chat/settings"
)

// toIncoming is what a message tells of whom it is for, in a channel of a mode.
func (s signal) toIncoming(mode settings.Mode) interact.Incoming {
	return interact.Incoming{
		Message: s.message, Mode: mode, Direct: s.direct, InThread: s.reply, Called: s.called, CalledNow: s.calledNow, ToOther: s.toOther,
		Again: s.hasMore(),
	}
}

// incomingFrom tells what the bot is to know of a message.
func (d dispatcher) incomingFrom(ctx context.Context, of signal) (interact.Incoming, error) {
	how, err := d.adapter.control.Effective(ctx, settings.NewSpace(Name, of.place.team), of.place.channel,
		settings.Setting{Mode: d.adapter.options.Listen(of.place.team, of.place.channel)})
	if err != nil {
		return interact.Incoming{}, err
	}
	incoming := of.toIncoming(how.Mode)
	incoming.To, incoming.NoticeKey = &surface{adapter: d.adapter, of: of}, of.noticeKey()
	incoming.Admit = func(ctx context.Context) (interact.Admission, error) {
		given, err := d.admitSignal(ctx, &of)
		return given.Admission, err
	}
	return incoming, nil
}

// noticeKey names a person in a channel, who is told once there why they are refused.
func (s signal) noticeKey() string {
	return strings.Join([]string{"slack", s.place.team, s.place.channel, string(s.by)}, " ")
}
