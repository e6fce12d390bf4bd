package discordtest

import (
	"slices"
	"strconv"
)

// user is somebody with an account.
type user struct {
	ID, Name string
	bot      bool
	dm       string // their direct conversation with the app; "" before the first
	closed   bool   // takes no direct messages
}

// guild is a server, as people call it.
type guild struct {
	ID, Name string
	owner    string
	roles    []*role // the first is @everyone, with the guild's id
	members  []*member
	gone     bool    // the app was removed
	notices  *string // the channel of Discord's own notices
}

type role struct {
	ID, Name    string
	permissions Permissions
}

type member struct {
	user  string
	nick  string
	roles []string
}

// Kinds of channels.
const (
	kindText          = 0
	kindDM            = 1
	kindNews          = 5
	kindNewsThread    = 10
	kindPublicThread  = 11
	kindPrivateThread = 12
	kindForum         = 15
)

// channel is a place to talk; a thread is one as well.
type channel struct {
	ID, Name   string
	guild      string // "" for direct messages
	kind       int
	parent     string
	with       string // the person of a direct conversation
	overwrites []overwrite
	tags       []string
	thread     *thread
	deleted    bool
	said       []*message
}

// thread is what a thread has besides a channel.
type thread struct {
	owner       string
	archived    bool
	locked      bool
	autoArchive int
	members     []string
	starter     string // the message that it was started from; "" where there is none
	made        string // when, as Discord writes it
}

// Guild is a server that the app is in. Its methods furnish it.
type Guild struct {
	// ID is its id; that of @everyone is the same.
	ID string

	server *Server
}

// guildEpoch is a second, in Discord's time, that 720,720 divides: the n-th guild, from
// 0, is on shard n mod shards, for up to 16 shards.
const guildEpoch = 720720 * 100000

// Guild makes a server with the app and its owner, whom nobody plays, in it. Its
// @everyone may do what Discord lets everybody do in a new server.
func (s *Server) Guild(name string) *Guild {
	s.mu.Lock()
	id := strconv.FormatUint(uint64(guildEpoch+len(s.guilds))<<22, 10)
	made := &guild{
		ID: id, Name: name, owner: "1",
		roles:   []*role{{id, "@everyone", DefaultPermissions}},
		members: []*member{{user: Bot}},
	}
	s.guilds = append(s.guilds, made)
	s.emitEvent(id, "GUILD_CREATE", s.guildCreate(made))
	s.mu.Unlock()
	s.handOver()
	return &Guild{id, s}
}

// Person adds somebody who is in no server, and gives their id.
func (s *Server) Person(name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := strconv.FormatUint(uint64(2000+len(s.people))<<22, 10)
	s.people[id] = &user{ID: id, Name: name}
	return id
}

// OtherBot adds another app's bot, that is in no server, and gives its id.
func (s *Server) OtherBot(name string) string {
	id := s.Person(name)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.people[id].bot = true
	return id
}

// CloseDMs has somebody take no direct messages any more.
func (s *Server) CloseDMs(person string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mustPerson(person).closed = true
}

// Member adds somebody new to the server, with roles, and gives their id.
func (g *Guild) Member(name string, roles ...string) string {
	id := g.server.Person(name)
	g.Join(id, roles...)
	return id
}

// Join adds somebody to the server, or gives a member further roles.
func (g *Guild) Join(person string, roles ...string) {
	g.server.mu.Lock()
	defer g.server.mu.Unlock()
	in := g.server.findGuild(g.ID)
	if known := in.findMember(person); known != nil {
		known.roles = append(known.roles, roles...)
		return
	}
	in.members = append(in.members, &member{user: person, roles: roles})
}

// Owned has a member own the server.
func (g *Guild) Owned(person string) {
	g.server.mu.Lock()
	defer g.server.mu.Unlock()
	g.server.findGuild(g.ID).owner = person
}

// Notices has Discord post its own notices in a channel.
func (g *Guild) Notices(channelID string) {
	g.server.mu.Lock()
	defer g.server.mu.Unlock()
	g.server.findGuild(g.ID).notices = &channelID
}

// Nickname has a member called differently here.
func (g *Guild) Nickname(person, nick string) {
	g.server.mu.Lock()
	defer g.server.mu.Unlock()
	g.server.findGuild(g.ID).findMember(person).nick = nick
}

// Role makes a role and gives its id.
func (g *Guild) Role(name string, permissions Permissions) string {
	g.server.mu.Lock()
	defer g.server.mu.Unlock()
	id := g.server.newSnowflake()
	in := g.server.findGuild(g.ID)
	in.roles = append(in.roles, &role{id, name, permissions})
	return id
}

// Channel makes a text channel and gives its id.
func (g *Guild) Channel(name string) string { return g.addChannel(name, kindText) }

// News makes an announcement channel and gives its id.
func (g *Guild) News(name string) string { return g.addChannel(name, kindNews) }

// Forum makes a forum channel and gives its id.
func (g *Guild) Forum(name string) string { return g.addChannel(name, kindForum) }

func (g *Guild) addChannel(name string, kind int) string {
	s := g.server
	s.mu.Lock()
	made := &channel{ID: s.newSnowflake(), Name: name, guild: g.ID, kind: kind}
	s.channels[made.ID] = made
	s.emitEvent(g.ID, "CHANNEL_CREATE", s.wireChannel(made))
	s.mu.Unlock()
	s.handOver()
	return made.ID
}

// Overwrite changes in one channel what a role or a member may do.
func (s *Server) Overwrite(channelID, roleOrMember string, allow, deny Permissions) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.channels[channelID]
	at.overwrites = slices.DeleteFunc(at.overwrites, func(old overwrite) bool { return old.whose == roleOrMember })
	at.overwrites = append(at.overwrites, overwrite{roleOrMember, allow, deny})
}

// RemoveApp takes the app out of the server.
func (g *Guild) RemoveApp() {
	s := g.server
	s.withEvents(func() {
		s.findGuild(g.ID).gone = true
		s.emitEvent(g.ID, "GUILD_DELETE", struct {
			ID string `json:"id"`
		}{g.ID})
	})
}

// DeleteChannel removes a channel or a thread.
func (s *Server) DeleteChannel(channelID string) {
	s.withEvents(func() {
		at := s.channels[channelID]
		at.deleted = true
		event := "CHANNEL_DELETE"
		if at.thread != nil {
			event = "THREAD_DELETE"
		}
		s.emitEvent(at.guild, event, s.wireChannel(at))
	})
}

// DM returns the person's direct conversation with the app.
func (s *Server) DM(person string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.directChannel(person).ID
}

func (s *Server) directChannel(person string) *channel {
	with := s.mustPerson(person)
	if with.dm == "" {
		with.dm = s.newSnowflake()
		s.channels[with.dm] = &channel{ID: with.dm, kind: kindDM, with: person}
	}
	return s.channels[with.dm]
}

// mustPerson returns somebody that a test made; that it did is the test's duty.
func (s *Server) mustPerson(id string) *user {
	found := s.people[id]
	if found == nil {
		panic("discordtest: nobody has the id " + id)
	}
	return found
}

// findGuild finds a guild that the app is in; nil where there is none.
func (s *Server) findGuild(id string) *guild {
	for _, one := range s.guilds {
		if one.ID == id && !one.gone {
			return one
		}
	}
	return nil
}

func (g *guild) findMember(id string) *member {
	for _, one := range g.members {
		if one.user == id {
			return one
		}
	}
	return nil
}

func (g *guild) findRole(id string) *role {
	for _, one := range g.roles {
		if one.ID == id {
			return one
		}
	}
	return nil
}

// memberName returns what somebody is called in a guild, or their id where nobody has it.
func (s *Server) memberName(guildID, id string) string {
	if in := s.findGuild(guildID); in != nil {
		if known := in.findMember(id); known != nil && known.nick != "" {
			return known.nick
		}
	}
	if known := s.people[id]; known != nil {
		return known.Name
	}
	return id
}

// permissionChannel returns the channel whose permissions hold: a thread's parent, or the channel itself.
func (s *Server) permissionChannel(of *channel) *channel {
	if of.thread != nil {
		return s.channels[of.parent]
	}
	return of
}

// Threads returns the ids of the threads of a channel, in the order of their beginning.
func (s *Server) Threads(channelID string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.threadIDs(channelID)
}

func (s *Server) threadIDs(channelID string) []string {
	var found []string
	for id, one := range s.channels {
		if one.thread != nil && one.parent == channelID && !one.deleted {
			found = append(found, id)
		}
	}
	slices.SortFunc(found, compareAge)
	return found
}

// compareAge orders ids by when they were made.
func compareAge(a, b string) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	if a < b {
		return -1
	}
	if a > b {
		return 1
	}
	return 0
}

// Rejoin adds the app to a server that it was removed from, or has left.
func (g *Guild) Rejoin() {
	g.server.mu.Lock()
	defer g.server.mu.Unlock()
	for _, in := range g.server.guilds {
		if in.ID == g.ID {
			in.gone = false
		}
	}
}
