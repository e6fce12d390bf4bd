package gateway

import (
	"errors"
	"fmt"

	"github.com/gorilla/websocket"
)

// closeToResume is the code that the client closes with: any but 1000 and 1001, with
// which Discord ends the session.
const closeToResume = 4900

// PermanentError is why a bot can't be connected until somebody changes something. A
// function of Options may return one.
type PermanentError struct{ Reason string }

func (e *PermanentError) Error() string { return e.Reason }

// closeRemedies are the remedies for close codes after which Discord refuses the bot for good.
var closeRemedies = map[int]string{
	4004: "Discord refuses the bot token: take the one of your application's page Bot in the developer portal; it may have been reset",
	4010: "Discord refuses the number of a shard: this is a fault of Cairn's, please report it",
	4011: "Discord wants more shards than the bot was started with: restart all replicas, which asks how many",
	4012: "Discord no longer speaks this version of the gateway: upgrade Cairn",
	4013: "Discord does not know the configured intents: this is a fault of Cairn's, please report it",
	4014: "Discord refuses an intent: switch on MESSAGE CONTENT on your application's page Bot in the developer portal, or switch it off in Cairn's configuration",
}

// Reasons for which the client itself ends a connection.
var (
	errZombie    = errors.New("no answer to a heartbeat")
	errMute      = errors.New("no answer to identify or resume")
	errReconnect = errors.New("discord asked to connect again")
	errInvalid   = errors.New("discord declared the session invalid")
	errSuspended = errors.New("discord declared the session invalid, to be resumed")
	errOver      = errors.New("the shard was released")
)

// closeEffect is the consequence of an ended connection for its session.
type closeEffect int

const (
	resumeSession closeEffect = iota
	startSession
	stopForGood
)

// closeEffectOf reads why a connection ended. For what is permanent the error has the remedy.
func closeEffectOf(err error) (closeEffect, error) {
	if errors.Is(err, errInvalid) {
		return startSession, err
	}
	if _, ok := errors.AsType[*PermanentError](err); ok {
		return stopForGood, err
	}
	closed, ok := errors.AsType[*websocket.CloseError](err)
	if !ok {
		return resumeSession, err
	}
	if remedy, known := closeRemedies[closed.Code]; known {
		return stopForGood, &PermanentError{fmt.Sprintf("%s (closed with %d %q)", remedy, closed.Code, closed.Text)}
	}
	switch closed.Code {
	case 4007, 4009: // a number it never sent; too late
		return startSession, err
	}
	return resumeSession, err
}
