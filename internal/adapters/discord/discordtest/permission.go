package discordtest

import (
	"slices"
	"strconv"
)

// Permissions is a set of what somebody may do.
type Permissions uint64

// Permissions that this server heeds.
const (
	Administrator         Permissions = 1 << 3
	ManageGuild           Permissions = 1 << 5
	AddReactions          Permissions = 1 << 6
	ViewChannel           Permissions = 1 << 10
	SendMessages          Permissions = 1 << 11
	ManageMessages        Permissions = 1 << 13
	EmbedLinks            Permissions = 1 << 14
	AttachFiles           Permissions = 1 << 15
	ReadMessageHistory    Permissions = 1 << 16
	MentionEveryone       Permissions = 1 << 17
	UseCommands           Permissions = 1 << 31
	ManageThreads         Permissions = 1 << 34
	CreatePublicThreads   Permissions = 1 << 35
	CreatePrivateThreads  Permissions = 1 << 36
	SendMessagesInThreads Permissions = 1 << 38

	allPermissions Permissions = 1<<53 - 1
)

// DefaultPermissions are what @everyone may do in a new server.
const DefaultPermissions = AddReactions | ViewChannel | SendMessages | EmbedLinks | AttachFiles | ReadMessageHistory |
	UseCommands | CreatePublicThreads | SendMessagesInThreads

// hasAll reports whether all of the wanted are there.
func (p Permissions) hasAll(wanted Permissions) bool { return p&wanted == wanted }

// MarshalJSON writes the set as Discord does, as a number in a string.
func (p Permissions) MarshalJSON() ([]byte, error) {
	return []byte(strconv.Quote(strconv.FormatUint(uint64(p), 10))), nil
}

// overwrite is an exception for a role or a member in one channel.
type overwrite struct {
	whose       string
	allow, deny Permissions
}

// memberPermissions computes what a member may do in a channel: the guild's roles, then the channel's
// exceptions for @everyone, for roles and for the member.
func (s *Server) memberPermissions(person string, at *channel) Permissions {
	if at.kind == kindDM {
		return DefaultPermissions
	}
	in := s.findGuild(at.guild)
	if in == nil {
		return 0
	}
	known := in.findMember(person)
	if known == nil {
		return 0
	}
	base := in.basePermissions(known)
	if person == in.owner || base.hasAll(Administrator) {
		return allPermissions
	}
	overwrites := s.permissionChannel(at).overwrites
	apply := func(matches func(overwrite) bool) {
		var allow, deny Permissions
		for _, is := range overwrites {
			if matches(is) {
				allow, deny = allow|is.allow, deny|is.deny
			}
		}
		base = base&^deny | allow
	}
	apply(func(o overwrite) bool { return o.whose == in.ID })
	apply(func(o overwrite) bool { return slices.Contains(known.roles, o.whose) })
	apply(func(o overwrite) bool { return o.whose == person })
	if !base.hasAll(ViewChannel) {
		return 0
	}
	return base
}

// basePermissions returns what a member may do by the guild's roles alone.
func (g *guild) basePermissions(of *member) Permissions {
	all := g.roles[0].permissions
	for _, id := range of.roles {
		if known := g.findRole(id); known != nil {
			all |= known.permissions
		}
	}
	return all
}

// visibleChannel returns a channel that the app sees.
func (s *Server) visibleChannel(id string) (*channel, *refusal) {
	at := s.channels[id]
	if at == nil || at.deleted {
		return nil, newRefusal(notFound, codeUnknownChannel)
	}
	if !s.memberPermissions(Bot, at).hasAll(ViewChannel) {
		return nil, newRefusal(forbidden, codeMissingAccess)
	}
	return at, nil
}

// readableChannel returns a channel whose past the app may read.
func (s *Server) readableChannel(id string) (*channel, *refusal) {
	at, refused := s.visibleChannel(id)
	if refused == nil && !s.memberPermissions(Bot, at).hasAll(ReadMessageHistory) {
		return nil, newRefusal(forbidden, codeMissingAccess)
	}
	return at, refused
}

// writableChannel returns a channel that the app may post in.
func (s *Server) writableChannel(id string) (*channel, *refusal) {
	at, refused := s.visibleChannel(id)
	if refused != nil {
		return nil, refused
	}
	needed := SendMessages
	if at.thread != nil {
		needed = SendMessagesInThreads
	}
	switch {
	case at.kind == kindForum:
		return nil, newRefusal(badRequest, codeNotAText)
	case at.kind == kindDM && s.people[at.with].closed:
		return nil, newRefusal(forbidden, codeNotToThisUser)
	case !s.memberPermissions(Bot, at).hasAll(needed):
		return nil, newRefusal(forbidden, codeMissingPermissions)
	case at.thread != nil && at.thread.locked && !s.memberPermissions(Bot, at).hasAll(ManageThreads):
		return nil, newRefusal(forbidden, codeThreadLocked)
	}
	return at, nil
}
