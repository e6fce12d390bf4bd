// Package relay is a running app as it tells of itself over a relay: a server of Socket.IO that
// passes the messages of a channel on to all who joined it. A channel's id is all that protects
// an app, so that only calls which read are ever sent, and relays are on an allow list. What an
// app sends is data: bounded, and never an instruction.
//
// Reading order: relay.go (what is sent), address.go (to whom), channel.go (a channel as an
// inspect.Layer), pool.go, server.go (Cairn as the relay).
package relay

import (
	"crypto/rand"
	"encoding/json"
	"regexp"
	"slices"
)

// Path is where relays are, below their addresses.
const Path = "/wavepulse/socket.io"

// The events between a relay and those who joined.
const (
	eventJoin    = "join"
	eventMessage = "message"
)

// messageType is what a message is.
type messageType string

const (
	typeCall  messageType = "call"
	typeEvent messageType = "event"
)

// message is what goes over a channel.
type message struct {
	Channel string          `json:"channelId"`
	Type    messageType     `json:"type"`
	Name    string          `json:"name"`
	Data    json.RawMessage `json:"data"`
}

// callData is the one item of a call's data.
type callData struct {
	Target target `json:"target"`
	Args   []any  `json:"args"`
}

// target is what a call asks an app for.
type target string

// readingCalls are the calls that are ever sent, or passed on: those that read, and neither what
// an app stores nor what it is told to run.
const (
	sayHello     target = "SAY_HELLO" // after it an app sends the events that it held back
	appInfo      target = "GET_APP_INFO"
	platformInfo target = "GET_PLATFORM_INFO"
	widgetTree   target = "GET_WIDGET_TREE"
	widgetDetail target = "GET_PROPERTIES_N_STYLES"
	activeTheme  target = "GET_ACTIVE_THEME"
	locale       target = "GET_LOCALE"
)

var readingCalls = []target{sayHello, appInfo, platformInfo, widgetTree, widgetDetail, activeTheme, locale}

// isReading tells whether the data of a call asks for nothing but what may be read.
func isReading(data json.RawMessage) bool {
	var calls []struct {
		Target target `json:"target"`
	}
	if json.Unmarshal(data, &calls) != nil || len(calls) == 0 {
		return false
	}
	for _, call := range calls {
		if !slices.Contains(readingCalls, call.Target) {
			return false
		}
	}
	return true
}

// NewChannelID makes the id of a channel: 130 random bits.
func NewChannelID() string { return rand.Text() }

// ownChannel are the ids that NewChannelID makes, and channelID those that relays use.
var (
	ownChannel = regexp.MustCompile(`^[A-Z2-7]{26}$`)
	channelID  = regexp.MustCompile(`^[A-Za-z0-9_-]{6,100}$`)
)
