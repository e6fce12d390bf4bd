package discordtest

import (
	"encoding/json"
	"slices"
	"time"
)

// wireUser is a user as Discord writes one.
type wireUser struct {
	ID            string  `json:"id"`
	Username      string  `json:"username"`
	Discriminator string  `json:"discriminator"`
	GlobalName    *string `json:"global_name"`
	Avatar        *string `json:"avatar"`
	Bot           bool    `json:"bot,omitempty"`
	PublicFlags   int     `json:"public_flags"`
	Flags         int     `json:"flags"`
	PrimaryGuild  *string `json:"primary_guild"` // never one here
}

type wireMember struct {
	User        *wireUser    `json:"user,omitempty"`
	Nick        *string      `json:"nick"`
	Roles       []string     `json:"roles"`
	JoinedAt    string       `json:"joined_at"`
	Deaf        bool         `json:"deaf"`
	Mute        bool         `json:"mute"`
	Flags       int          `json:"flags"`
	Pending     bool         `json:"pending"`
	Avatar      *string      `json:"avatar"`
	Banner      *string      `json:"banner"`
	TimedOut    *string      `json:"communication_disabled_until"`
	Boosting    *string      `json:"premium_since"`
	Permissions *Permissions `json:"permissions,omitempty"`
}

type wireRole struct {
	ID          string      `json:"id"`
	Name        string      `json:"name"`
	Permissions Permissions `json:"permissions"`
	Position    int         `json:"position"`
	Color       int         `json:"color"`
	Hoist       bool        `json:"hoist"`
	Managed     bool        `json:"managed"`
	Mentionable bool        `json:"mentionable"`
	Flags       int         `json:"flags"`
	Icon        *string     `json:"icon"`
	Emoji       *string     `json:"unicode_emoji"`
	Colors      wireColors  `json:"colors"`
}

type wireColors struct {
	Primary   int  `json:"primary_color"`
	Secondary *int `json:"secondary_color"`
	Tertiary  *int `json:"tertiary_color"`
}

type wireOverwrite struct {
	ID    string      `json:"id"`
	Type  int         `json:"type"` // 0 is a role, 1 a member
	Allow Permissions `json:"allow"`
	Deny  Permissions `json:"deny"`
}

type wireChannel struct {
	ID           string              `json:"id"`
	Type         int                 `json:"type"`
	GuildID      string              `json:"guild_id,omitempty"`
	Name         string              `json:"name,omitempty"`
	ParentID     *string             `json:"parent_id"`
	OwnerID      string              `json:"owner_id,omitempty"`
	Position     int                 `json:"position"`
	Flags        int                 `json:"flags"`
	Overwrites   []wireOverwrite     `json:"permission_overwrites,omitempty"`
	Recipients   []wireUser          `json:"recipients,omitempty"`
	Tags         []string            `json:"applied_tags,omitempty"`
	LastMessage  *string             `json:"last_message_id"`
	Thread       *wireThreadMetadata `json:"thread_metadata,omitempty"`
	Member       *wireThreadMember   `json:"member,omitempty"`
	MessageCount *int                `json:"message_count,omitempty"`
	EverSent     *int                `json:"total_message_sent,omitempty"`
	MemberCount  *int                `json:"member_count,omitempty"`
	NewlyCreated bool                `json:"newly_created,omitempty"`
	Message      *wireMessage        `json:"message,omitempty"`
	Permissions  *Permissions        `json:"permissions,omitempty"`
}

type wireThreadMetadata struct {
	Archived    bool   `json:"archived"`
	AutoArchive int    `json:"auto_archive_duration"`
	ArchivedAt  string `json:"archive_timestamp"`
	Locked      bool   `json:"locked"`
	CreatedAt   string `json:"create_timestamp"`
}

type wireThreadMember struct {
	ID       string `json:"id"`
	UserID   string `json:"user_id"`
	JoinedAt string `json:"join_timestamp"`
	Flags    int    `json:"flags"`
}

type wireGuild struct {
	ID                string       `json:"id"`
	Name              string       `json:"name"`
	OwnerID           string       `json:"owner_id,omitempty"`
	NoticesID         *string      `json:"system_channel_id"`
	Roles             []wireRole   `json:"roles"`
	Emojis            []struct{}   `json:"emojis"`
	Features          []string     `json:"features"`
	VerificationLevel int          `json:"verification_level"`
	PreferredLocale   string       `json:"preferred_locale"`
	Permissions       *Permissions `json:"permissions,omitempty"`
}

// wireGuildCreate is a guild with what the gateway adds.
type wireGuildCreate struct {
	wireGuild
	JoinedAt    string        `json:"joined_at"`
	Large       bool          `json:"large"`
	Unavailable bool          `json:"unavailable"`
	MemberCount int           `json:"member_count"`
	Members     []wireMember  `json:"members"`
	Channels    []wireChannel `json:"channels"`
	Threads     []wireChannel `json:"threads"`
	Presences   []struct{}    `json:"presences"`
	VoiceStates []struct{}    `json:"voice_states"`
}

// formatTime writes a time as Discord does.
func formatTime(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000000+00:00") }

// joined is when everybody joined.
const joined = "2024-01-01T00:00:00.000000+00:00"

func (u *user) toWire() wireUser {
	return wireUser{ID: u.ID, Username: u.Name, Discriminator: "0", GlobalName: &u.Name, Bot: u.bot}
}

// wireUser returns somebody, or who "somebody" was where nobody has the id.
func (s *Server) wireUser(id string) wireUser {
	if known := s.people[id]; known != nil {
		return known.toWire()
	}
	return wireUser{ID: id, Username: "Deleted User", Discriminator: "0"}
}

// wireMember returns a member, without the user: messages and mentions have it beside.
func (s *Server) wireMember(of *member) wireMember {
	wired := wireMember{Roles: of.roles, JoinedAt: joined}
	if of.roles == nil {
		wired.Roles = []string{}
	}
	if of.nick != "" {
		wired.Nick = &of.nick
	}
	return wired
}

func (s *Server) fullMember(of *member) wireMember {
	wired, who := s.wireMember(of), s.wireUser(of.user)
	wired.User = &who
	return wired
}

func (s *Server) wireGuild(of *guild) wireGuild {
	wired := wireGuild{ID: of.ID, Name: of.Name, OwnerID: of.owner, NoticesID: of.notices, Emojis: []struct{}{}, Features: []string{}, PreferredLocale: "en-US"}
	for i, one := range of.roles {
		wired.Roles = append(wired.Roles, wireRole{ID: one.ID, Name: one.Name, Permissions: one.permissions, Position: i})
	}
	return wired
}

func (s *Server) guildCreate(of *guild) wireGuildCreate {
	created := wireGuildCreate{
		wireGuild: s.wireGuild(of), JoinedAt: joined, MemberCount: len(of.members),
		Members: []wireMember{s.fullMember(of.findMember(Bot))}, Channels: []wireChannel{}, Threads: []wireChannel{},
		Presences: []struct{}{}, VoiceStates: []struct{}{},
	}
	for _, at := range s.channelsOf(of.ID) {
		if at.thread == nil {
			created.Channels = append(created.Channels, s.wireChannel(at))
		} else if !at.thread.archived && s.memberPermissions(Bot, at).hasAll(ViewChannel) {
			created.Threads = append(created.Threads, s.wireChannel(at))
		}
	}
	return created
}

// channelsOf returns a guild's channels and threads, oldest first.
func (s *Server) channelsOf(guildID string) []*channel {
	var found []*channel
	for _, at := range s.channels {
		if at.guild == guildID && !at.deleted {
			found = append(found, at)
		}
	}
	slices.SortFunc(found, func(a, b *channel) int { return compareAge(a.ID, b.ID) })
	return found
}

func (s *Server) wireChannel(of *channel) wireChannel {
	wired := wireChannel{ID: of.ID, Type: of.kind, GuildID: of.guild, Name: of.Name, Tags: of.tags}
	if of.parent != "" {
		wired.ParentID = &of.parent
	}
	if of.with != "" {
		wired.Recipients = []wireUser{s.wireUser(of.with)}
	}
	count, ever := 0, 0
	for _, said := range of.said {
		if said.Only == "" && !said.Deleted {
			wired.LastMessage = &said.ID
		}
		if said.Type == typeStarter || said.ID == of.ID { // a thread's first message does not count
			continue
		}
		ever++
		if said.Only == "" && !said.Deleted {
			count++
		}
	}
	for _, is := range of.overwrites {
		kind := 1
		if in := s.findGuild(of.guild); in != nil && in.findRole(is.whose) != nil {
			kind = 0
		}
		wired.Overwrites = append(wired.Overwrites, wireOverwrite{is.whose, kind, is.allow, is.deny})
	}
	if is := of.thread; is != nil {
		wired.OwnerID = is.owner
		wired.Thread = &wireThreadMetadata{is.archived, is.autoArchive, is.made, is.locked, is.made}
		members := len(is.members)
		wired.MessageCount, wired.EverSent, wired.MemberCount = &count, &ever, &members
		if slices.Contains(is.members, Bot) {
			wired.Member = &wireThreadMember{of.ID, Bot, is.made, 0}
		}
	}
	return wired
}

// rawArray returns a JSON array, "[]" where there is none.
func rawArray(list json.RawMessage) json.RawMessage {
	if len(list) == 0 || string(list) == "null" {
		return json.RawMessage("[]")
	}
	return list
}
