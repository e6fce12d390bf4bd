// Package socketio speaks Socket.IO 5 over Engine.IO 4, as much of it as two programs need that
// send each other events with JSON: a client over WebSocket, and a server that takes clients over
// polling and WebSocket. It knows one namespace, no acknowledgements and no binary data.
//
// Reading order: packet.go, client.go, server.go, session.go.
package socketio

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/cairn-bot/cairn/internal/inspect"
)

// Kind is the first character of a packet of Socket.IO.
type Kind byte

// The kinds of packets.
const (
	Connect      Kind = '0'
	Disconnect   Kind = '1'
	Event        Kind = '2'
	Ack          Kind = '3'
	ConnectError Kind = '4'
)

// The first characters of packets of Engine.IO, which carry those of Socket.IO.
const (
	engineOpen    = '0'
	engineClose   = '1'
	enginePing    = '2'
	enginePong    = '3'
	engineMessage = '4'
	engineUpgrade = '5'
	engineNoop    = '6'
)

// separator stands between the packets of one poll.
const separator = "\x1e"

// Packet is a packet of Socket.IO.
type Packet struct {
	Kind      Kind
	Namespace string          // "/admin"; "" for the one that all are in
	ID        string          // that an acknowledgement is asked for by, "" for none
	Data      json.RawMessage // JSON, of an Event a list whose first item is its name; nil for none
}

// ErrBinary is a packet with binary data, which is not read.
var ErrBinary = errors.New("binary data is not read")

// ParsePacket reads a packet: `2["message",{"type":"call"}]`.
func ParsePacket(text string) (Packet, error) {
	if text == "" {
		return Packet{}, errors.New("read a packet: it is empty")
	}
	p := Packet{Kind: Kind(text[0])}
	switch p.Kind {
	case Connect, Disconnect, Event, Ack, ConnectError:
	case '5', '6':
		return Packet{}, fmt.Errorf("read a packet: %w", ErrBinary)
	default:
		return Packet{}, fmt.Errorf("read a packet: %q is no kind of packet", text[:1])
	}
	rest := text[1:]
	if strings.HasPrefix(rest, "/") {
		p.Namespace, rest, _ = strings.Cut(rest, ",")
	}
	digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
	p.ID, rest = rest[:digits], rest[digits:]
	if rest == "" {
		return p, nil
	}
	p.Data = json.RawMessage(rest)
	if err := inspect.CheckDepth(p.Data); err != nil {
		return Packet{}, fmt.Errorf("read a packet: %w", err)
	}
	if !json.Valid(p.Data) {
		return Packet{}, errors.New("read a packet: its data is no JSON")
	}
	return p, nil
}

// String writes the packet as ParsePacket reads it.
func (p Packet) String() string {
	namespace := p.Namespace
	if namespace != "" {
		namespace += ","
	}
	return string(p.Kind) + namespace + p.ID + string(p.Data)
}

// Content is the name of an event and what goes with it.
func (p Packet) Content() (name string, arguments []json.RawMessage, err error) {
	if p.Kind != Event {
		return "", nil, fmt.Errorf("the packet %q is no event", string(rune(p.Kind)))
	}
	var list []json.RawMessage
	if err := json.Unmarshal(p.Data, &list); err != nil || len(list) == 0 {
		return "", nil, errors.New("the event is no list with a name")
	}
	if err := json.Unmarshal(list[0], &name); err != nil {
		return "", nil, errors.New("the event's name is no text")
	}
	return name, list[1:], nil
}

// newEvent makes the packet of an event.
func newEvent(name string, arguments []any) (Packet, error) {
	data, err := json.Marshal(append([]any{name}, arguments...))
	if err != nil {
		return Packet{}, fmt.Errorf("encode the event %s: %w", strconv.Quote(name), err)
	}
	return Packet{Kind: Event, Data: data}, nil
}

// opening is what a server says first.
type opening struct {
	SessionID    string   `json:"sid"`
	Upgrades     []string `json:"upgrades"`
	PingInterval int      `json:"pingInterval"` // milliseconds
	PingTimeout  int      `json:"pingTimeout"`  // milliseconds
	MaxPayload   int      `json:"maxPayload"`   // bytes
}
