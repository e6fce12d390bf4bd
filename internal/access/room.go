package access

import (
	"context"

	"github.com/cairn-bot/cairn/internal/knowledge"
)

// Room is the place of a question, as what is kept for it: whom it is for.
type Room struct {
	// Channel names what the threads of a place share, "" where it is one person's alone.
	Channel string
	// Audience is the channel's principal, or in a private conversation the asker's. It is
	// public on the machine that Cairn runs on, where everything can be read, and on an adapter
	// that tells nothing of its places.
	Audience knowledge.Audience
}

// DescribeRoom finds out whom the place of a question is for. ok is false where that can't be
// found out now: what is made there must not be kept for a larger audience.
func (r *Resolver) DescribeRoom(ctx context.Context, question Question) (room Room, ok bool) {
	d := &deciding{Resolver: r, question: question, adapter: question.Thread.Adapter()}
	if question.Identity != nil && question.Identity.Local {
		return Room{Channel: d.adapter}, true
	}
	place, known := d.place(ctx)
	if !known {
		return Room{}, !d.decision.Uncertain
	}
	principals, kind := d.principalsOf(place), knowledge.ChannelPrincipal
	if place.Channel == "" {
		principals, kind = d.asker(ctx), knowledge.UserPrincipal
		if d.decision.Uncertain {
			return Room{}, false
		}
	} else {
		room.Channel = d.adapter + ":" + place.Channel
	}
	var names []knowledge.Principal
	for _, principal := range principals {
		if principal.Kind() == kind {
			names = append(names, principal)
		}
	}
	audience, err := knowledge.NewAudience(names...)
	if err != nil {
		return Room{}, false // nobody has a name
	}
	room.Audience = audience
	return room, true
}
