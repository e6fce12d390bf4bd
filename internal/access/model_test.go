package access_test

import (
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/chat"
)

// The model: who may be told what, said as plainly as can be, apart from the code that it
// is compared with.

// holds tells whether a person is meant by a principal.
func (w *world) holds(p *person, principal string, seen ...string) bool {
	kind, name, _ := strings.Cut(principal, ":")
	switch kind {
	case "public":
		return true
	case "user":
		return name == p.email && p.email != "" || name == "chat:"+p.id
	case "team":
		return name == "chat:"+p.team && !p.guest
	case "channel":
		return slices.ContainsFunc(w.channels, func(c *channel) bool { return name == "chat:"+c.id && c.has(p) })
	}
	return !slices.Contains(seen, name) && slices.ContainsFunc(w.groups[name], func(member string) bool {
		return w.holds(p, member, append(seen, name)...)
	})
}

// mayRead tells whether a person is meant by any principal of an audience.
func (w *world) mayRead(p *person, audience []string) bool {
	return slices.ContainsFunc(audience, func(principal string) bool { return w.holds(p, principal) })
}

// mayBeShown tells whether a document for an audience may be shown where a question was
// asked: everybody there may read it, or nobody is known and it is for the place itself.
func (w *world) mayBeShown(q question, audience []string) bool {
	c := q.channel
	if c == nil {
		return w.mayRead(q.asker, audience)
	}
	forPlace := slices.ContainsFunc(audience, func(principal string) bool {
		return principal == "public" || principal == "channel:chat:"+c.id || principal == "team:chat:"+c.team() && c.team() != ""
	})
	if forPlace || !c.listed || len(c.members) > chat.MaxMembers {
		return forPlace
	}
	return w.mayRead(q.asker, audience) && !slices.ContainsFunc(c.members, func(p *person) bool { return !w.mayRead(p, audience) })
}
