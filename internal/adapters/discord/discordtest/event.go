package discordtest

import (
	"encoding/json"

	"github.com/cairn-bot/cairn/internal/adapters/discord/discordtest/gatewaytest"
)

const intentMessageContent = 1 << 15

// Gateway returns the server's gateway: what is wrong with connections is done there.
func (s *Server) Gateway() *gatewaytest.Server { return s.gateway }

func (s *Server) gatewayOptions() gatewaytest.Options {
	options := s.options.Gateway
	options.Token, options.Greeting = Token, s.newGreeting
	if !s.options.MessageContent {
		options.Refused |= intentMessageContent
	}
	return options
}

// newGreeting returns what READY tells, and the GUILD_CREATE of every guild that the app is in.
func (s *Server) newGreeting() gatewaytest.Greeting {
	s.mu.Lock()
	defer s.mu.Unlock()
	greeting := gatewaytest.Greeting{User: mustJSON(s.wireUser(Bot)), Application: mustJSON(struct {
		ID    string `json:"id"`
		Flags int    `json:"flags"`
	}{AppID, s.applicationFlags()})}
	for _, in := range s.guilds {
		if !in.gone {
			greeting.Guilds = append(greeting.Guilds, gatewaytest.Guild{ID: in.ID, Create: mustJSON(s.guildCreate(in))})
		}
	}
	return greeting
}

// Event is an event of the gateway.
type Event struct {
	Guild string // "" for what belongs to none
	Type  string // such as MESSAGE_CREATE
	Data  json.RawMessage

	// without is the data without the content that an app which did not ask for it by its
	// intents must not see; nil where that is the same.
	without json.RawMessage
}

// emitEvent remembers an event, which handOver gives to the gateway.
func (s *Server) emitEvent(guildID, eventType string, data any) {
	s.recordEvent(Event{Guild: guildID, Type: eventType, Data: mustJSON(data)})
}

func (s *Server) recordEvent(happened Event) {
	s.events = append(s.events, happened)
	s.pending = append(s.pending, happened)
	s.signalChange()
}

// handOver gives the gateway what happened, in its order and without holding the server.
func (s *Server) handOver() {
	s.feeding.Lock()
	defer s.feeding.Unlock()
	s.mu.Lock()
	pending := s.pending
	s.pending = nil
	s.mu.Unlock()
	for _, happened := range pending {
		data := happened.Data
		if happened.without != nil && s.gateway.Intents(happened.Guild)&intentMessageContent == 0 {
			data = happened.without
		}
		s.gateway.Dispatch(happened.Guild, happened.Type, data)
	}
}

// Events returns the gateway's events of a type, or all for "", in their order.
func (s *Server) Events(eventType string) []Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []Event
	for _, happened := range s.events {
		if eventType == "" || happened.Type == eventType {
			found = append(found, happened)
		}
	}
	return found
}
