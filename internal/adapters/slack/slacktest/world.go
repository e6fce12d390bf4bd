package slacktest

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// Person is somebody in the workspace. Its methods are what people do.
type Person struct {
	ID   string
	Name string

	server *Server
	team   string // "" is the default one
	guest  bool
	admin  bool
	email  string // confirmed
}

// MakeGuest gives somebody a limited account, MakeAdmin one that manages the workspace.
func (p *Person) MakeGuest() *Person { return p.changeUser(func() { p.guest = true }) }

// MakeAdmin has somebody manage the workspace.
func (p *Person) MakeAdmin() *Person { return p.changeUser(func() { p.admin = true }) }

// From has somebody be of another company's workspace.
func (p *Person) From(team string) *Person { return p.changeUser(func() { p.team = team }) }

// Confirm gives somebody a confirmed address.
func (p *Person) Confirm(email string) *Person { return p.changeUser(func() { p.email = email }) }

func (p *Person) changeUser(do func()) *Person {
	p.server.mu.Lock()
	defer p.server.mu.Unlock()
	do()
	return p
}

// homeWorkspace returns the person's workspace.
func (p *Person) homeWorkspace() string { return cmp.Or(p.team, Team) }

// Group makes a user group.
func (s *Server) Group(id string, members ...string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.groups[id] = members
	return id
}

// Share shares a channel with another company.
func (s *Server) Share(channelID string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.channels[channelID].shared = true
}

// channel is a place to talk.
type channel struct {
	ID, Name string
	kind     string // "channel", "group", "im" or "mpim"
	members  []string
	archived bool
	shared   bool // with another company
	team     string
	mention  *Message // the last one of the app while it was not in the channel
}

// Message is a message as it stands, with what became of it.
type Message struct {
	Channel, TS, ThreadTS string
	User                  string
	Text                  string
	Blocks                json.RawMessage
	Metadata              json.RawMessage
	Files                 []*File
	Forwarded             *Message   // the message that this one shares; nil for none
	Reactions             []string   // of the app
	Reacted               []Reaction // of people
	Workflow              string     // id of the workflow that posted it; "" for none
	Only                  string     // whom an ephemeral message is shown to
	Edits                 int
	Deleted               bool
	Tombstone             bool // deleted, with replies: its thread goes on
	Streaming             bool
	Streamed              string   // text that came by the stream
	Tasks                 []string // titles of task updates
	Parent                *Message // of a message made by response_url; nil for others

	lastAppend time.Time
}

// Reaction is what people reacted to a message with.
type Reaction struct {
	Name  string
	Users []string
}

// Person adds somebody to the workspace.
func (s *Server) Person(id, name string) *Person {
	s.mu.Lock()
	defer s.mu.Unlock()
	person := &Person{server: s, ID: id, Name: name}
	s.people[id] = person
	return person
}

// Channel adds a public channel that everybody, and the app, is in.
func (s *Server) Channel(id, name string) string { return s.addChannel(id, name, "channel") }

// Private adds a private channel that the app is in.
func (s *Server) Private(id, name string) string { return s.addChannel(id, name, "group") }

func (s *Server) addChannel(id, name, kind string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.channels[id] = &channel{ID: id, Name: name, kind: kind, members: []string{Bot}, team: Team}
	return id
}

// Invite adds somebody to a channel. The app, invited because it was mentioned, is told of
// that mention, as an app_mention alone.
func (s *Server) Invite(channelID, user string) {
	s.mu.Lock()
	to := s.channels[channelID]
	to.members = append(to.members, user)
	mention := to.mention
	if user != Bot || mention == nil {
		s.mu.Unlock()
		return
	}
	to.mention = nil
	event := mentionOf(s.newMessageEvent(mention))
	s.mu.Unlock()
	s.Event(event)
}

// Remove takes the app out of a channel.
func (s *Server) Remove(channelID string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.channels[channelID].members = nil
}

// Archive closes a channel.
func (s *Server) Archive(channelID string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.channels[channelID].archived = true
}

// DM returns the person's direct conversation with the app.
func (p *Person) DM() string {
	id := "D" + strings.TrimPrefix(p.ID, "U")
	p.server.mu.Lock()
	defer p.server.mu.Unlock()
	p.server.addDirect(id, p.ID)
	return id
}

func (s *Server) addDirect(id, person string) {
	if s.channels[id] == nil {
		s.channels[id] = &channel{ID: id, kind: "im", members: []string{Bot, person}, team: Team}
	}
}

// writableChannel returns a channel that the app may post in.
func (s *Server) writableChannel(work *request, id string) (*channel, *apiError) {
	to := s.channels[id]
	switch {
	case to == nil || to.team != work.install.team && work.install.bot == Bot:
		return nil, newAPIError("channel_not_found")
	case to.archived:
		return nil, newAPIError("is_archived")
	case !slices.Contains(to.members, work.install.bot):
		return nil, newAPIError("not_in_channel")
	}
	return to, nil
}

// findMessage finds one that everybody sees.
func (s *Server) findMessage(channelID, ts string) *Message {
	for _, message := range s.messages {
		if message.Channel == channelID && message.TS == ts && !message.Deleted && message.Only == "" {
			return message
		}
	}
	return nil
}

// findRoot finds the first message of a thread, which may be deleted where it has replies.
func (s *Server) findRoot(channelID, ts string) *Message {
	for _, message := range s.messages {
		if message.Channel == channelID && message.TS == ts && message.Tombstone {
			return message
		}
	}
	return s.findMessage(channelID, ts)
}

// hasReplies reports whether a message has replies.
func (s *Server) hasReplies(message *Message) bool {
	for _, reply := range s.messages {
		if reply != message && reply.Channel == message.Channel && reply.ThreadTS == message.TS && !reply.Deleted && reply.Only == "" {
			return true
		}
	}
	return false
}

// Messages returns a channel's messages as they stand, deleted ones and those for one
// person included, in their order.
func (s *Server) Messages(channelID string) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []Message
	for _, message := range s.messages {
		if message.Channel == channelID {
			found = append(found, *message)
		}
	}
	return found
}

// Root returns the ts of the thread that the message is in, its own where it starts one.
func (m *Message) Root() string {
	if m.ThreadTS != "" {
		return m.ThreadTS
	}
	return m.TS
}

// visibleName returns a user's name, or the id of somebody unknown.
func (s *Server) visibleName(id string) string {
	if person := s.people[id]; person != nil {
		return person.Name
	}
	return id
}
