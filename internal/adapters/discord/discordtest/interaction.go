package discordtest

import (
	"cmp"
	"context"
	"encoding/json"
	"time"
)

// Clocks of an interaction, on the server's clock.
const (
	answerWithin = 3 * time.Second
	tokenLives   = 15 * time.Minute
)

// Types of interactions.
const (
	kindPing         = 1
	kindCommand      = 2
	kindComponent    = 3
	kindAutocomplete = 4
	kindModal        = 5
)

const tokenPrefix = "interaction-"

// Interaction is something that somebody did with the app.
type Interaction struct {
	ID, Token              string
	Person, Channel, Guild string
	Made                   time.Time
	// Payload is what the app got.
	Payload json.RawMessage

	server   *Server
	kind     int
	menu     bool     // of a command: one of the message menu
	words    string   // of a command, as people see it
	at       *message // that a component or a modal's opener was pressed in
	answered int      // type of the callback, 0 where none came yet
	original *message
	made     []*message // what was answered with, the original included
	modal    *Modal
	choices  []Choice
	problem  string // of the delivery to an endpoint
}

// Modal is a window that the app opened for somebody.
type Modal struct {
	CustomID, Title string
	Components      json.RawMessage

	opened *Interaction
}

// Choice is an option that the app offers while somebody types.
type Choice struct {
	Name  string          `json:"name"`
	Value json.RawMessage `json:"value"`
}

// Callback returns the type of the app's first answer, such as 5 for "wait"; 0 where none came
// yet.
func (i *Interaction) Callback() int {
	i.server.mu.Lock()
	defer i.server.mu.Unlock()
	return i.answered
}

// Wait waits for the app's first answer.
func (i *Interaction) Wait(ctx context.Context) error {
	return i.server.Await(ctx, func() bool { return i.Callback() != 0 })
}

// Failed reports whether the person sees "This interaction failed": 3 s passed with no
// answer, or the endpoint gave none that Discord takes.
func (i *Interaction) Failed() bool {
	i.server.mu.Lock()
	defer i.server.mu.Unlock()
	return i.answered == 0 && (i.problem != "" || i.server.now().Sub(i.Made) > answerWithin)
}

// Problem returns what was wrong with the endpoint's answer, "" where nothing was.
func (i *Interaction) Problem() string {
	i.server.mu.Lock()
	defer i.server.mu.Unlock()
	return i.problem
}

// Original returns the message that the app answered with first; false where there is none.
func (i *Interaction) Original() (Message, bool) {
	i.server.mu.Lock()
	defer i.server.mu.Unlock()
	if i.original == nil {
		return Message{}, false
	}
	return i.original.Message, true
}

// Modal returns the window that the app opened; nil where it opened none.
func (i *Interaction) Modal() *Modal {
	i.server.mu.Lock()
	defer i.server.mu.Unlock()
	return i.modal
}

// Choices returns what the app offers while the person types.
func (i *Interaction) Choices() []Choice {
	i.server.mu.Lock()
	defer i.server.mu.Unlock()
	return i.choices
}

// wireInteraction is an interaction as the app gets it.
type wireInteraction struct {
	ID             string            `json:"id"`
	ApplicationID  string            `json:"application_id"`
	Type           int               `json:"type"`
	Data           json.RawMessage   `json:"data,omitempty"`
	GuildID        string            `json:"guild_id,omitempty"`
	ChannelID      string            `json:"channel_id,omitempty"`
	Channel        *wireChannel      `json:"channel,omitempty"`
	Member         *wireMember       `json:"member,omitempty"`
	User           *wireUser         `json:"user,omitempty"`
	Token          string            `json:"token"`
	Version        int               `json:"version"`
	Message        *wireMessage      `json:"message,omitempty"`
	AppPermissions Permissions       `json:"app_permissions"`
	Locale         string            `json:"locale,omitempty"`
	GuildLocale    string            `json:"guild_locale,omitempty"`
	Entitlements   []struct{}        `json:"entitlements"`
	Owners         map[string]string `json:"authorizing_integration_owners"`
	Guild          *wireHome         `json:"guild,omitempty"`
	Attachments    int               `json:"attachment_size_limit"` // bytes
	Context        int               `json:"context"`
}

// wireHome is what an interaction tells of its guild.
type wireHome struct {
	ID       string   `json:"id"`
	Locale   string   `json:"locale"`
	Features []string `json:"features"`
}

// newInteraction makes an interaction of somebody's in a channel. The server is locked.
func (s *Server) newInteraction(kind int, person, channelID string, data json.RawMessage, at *message) *Interaction {
	in := s.channels[channelID]
	if in == nil {
		panic("discordtest: no channel has the id " + channelID)
	}
	is := &Interaction{
		ID: s.newSnowflake(), Person: person, Channel: channelID, Guild: in.guild, Made: s.now(),
		server: s, kind: kind, at: at,
	}
	is.Token = tokenPrefix + is.ID
	s.interactions[is.ID] = is
	who, channel := s.wireUser(person), s.wireChannel(in)
	wired := wireInteraction{
		ID: is.ID, ApplicationID: AppID, Type: kind, Data: data, GuildID: in.guild, ChannelID: channelID, Channel: &channel,
		Token: is.Token, Version: 1, AppPermissions: s.memberPermissions(Bot, in), Locale: "en-US", Entitlements: []struct{}{},
		Owners: is.installOwners(), Attachments: maxUpload,
	}
	if in.guild == "" {
		wired.User, wired.Context = &who, contextOf(in)
	} else {
		known := s.findGuild(in.guild).findMember(person)
		if known == nil {
			panic("discordtest: " + person + " is not in the server")
		}
		member, may := s.fullMember(known), s.memberPermissions(person, in)
		member.Permissions = &may
		wired.Member, wired.GuildLocale, wired.Guild = &member, "en-US", &wireHome{in.guild, "en-US", []string{}}
		wired.Channel.Permissions = &may
	}
	if at != nil {
		shown := s.wireForIntent(at, true) // a component's message is shown whole
		wired.Message = &shown
	}
	is.Payload = mustJSON(wired)
	return is
}

// contextOf returns where an interaction happens: 0 is a server, 1 the app's direct messages.
func contextOf(in *channel) int {
	if in.guild == "" {
		return 1
	}
	return 0
}

// installOwners tells by whom the app was installed: the server, "0" in direct messages.
func (i *Interaction) installOwners() map[string]string {
	return map[string]string{"0": cmp.Or(i.Guild, "0")}
}

// deliverInteraction hands an interaction to the app: to its endpoint where it has one, else by the
// gateway.
func (s *Server) deliverInteraction(is *Interaction) *Interaction {
	s.mu.Lock()
	endpoint := s.endpoint
	if endpoint == "" {
		s.emitEvent(is.Guild, "INTERACTION_CREATE", is.Payload)
	}
	s.mu.Unlock()
	if endpoint == "" {
		s.handOver()
		return is
	}
	s.deliverHTTP(endpoint, is)
	return is
}
