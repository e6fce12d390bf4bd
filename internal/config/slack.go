package config

import (
	"encoding/base64"
	"errors"
	"fmt"
)

// Slack is how Cairn is reached in Slack; with mode SlackOff it is not. One workspace
// gives BotToken, many give the four fields for OAuth.
type Slack struct {
	Mode SlackMode `key:"mode" default:"off" oneof:"off http socket"`
	// Listen is the address for Slack's deliveries and the install page, "host:port".
	Listen string `key:"listen" form:"listen" default:"127.0.0.1:3000"`
	// URL is the address that Slack and people reach Listen at, without a / at its end.
	URL string `key:"url" form:"address" optional:"true"`
	// APIURL is of Slack's Web API, with a / at its end; "" is Slack's own.
	APIURL string `key:"api_url" form:"api address" optional:"true"`

	ClientID      string     `key:"client_id" form:"name" optional:"true"`
	BotToken      HiddenText `key:"bot_token"`      // "xoxb-…"
	SigningSecret HiddenText `key:"signing_secret"` // for SlackHTTP
	AppToken      HiddenText `key:"app_token"`      // "xapp-…", for SlackSocket
	ClientSecret  HiddenText `key:"client_secret"`
	EncryptionKey HiddenText `key:"encryption_key"` // base64 of the 32 bytes that tokens of installs are kept under

	// Teams are the workspaces (T…) and enterprises (E…) that may install Cairn, AnyTeam for
	// everybody; none: no one may. With BotToken they only say which collections may be asked.
	Teams    Spaces `key:"teams" form:"slack teams"`
	External bool   `key:"external"` // people of other companies are answered in channels that are shared with them
	Guests   bool   `key:"guests"`   // guests are answered

	// Listening holds where Channels, by their ids, does not say otherwise.
	Listening SlackListening            `key:"listening" default:"mention" oneof:"mention thread questions off"`
	Channels  map[string]SlackListening `key:"channels" form:"slack channels"`
	// Humans are those whom "Ask a human" calls, by channel id; "" is every other channel.
	Humans map[string][]string `key:"humans" form:"slack humans"`
	// Workflows are the channels in which messages that a workflow posts are answered.
	Workflows []string `key:"workflows" form:"slack channel"`
}

// SlackMode is how events come from Slack.
type SlackMode string

// Events come not at all, over HTTP, or by Socket Mode.
const (
	SlackOff    SlackMode = "off"
	SlackHTTP   SlackMode = "http"
	SlackSocket SlackMode = "socket"
)

// SlackListening is what is answered in a channel.
type SlackListening string

// What is answered: nothing, mentions, questions in threads too, or all questions.
const (
	SlackHearsNothing   SlackListening = "off"
	SlackHearsMentions  SlackListening = "mention"
	SlackHearsThreads   SlackListening = "thread"
	SlackHearsQuestions SlackListening = "questions"
)

// AnyTeam among Slack.Teams lets every workspace install Cairn.
const AnyTeam = "*"

// Many tells whether workspaces install Cairn themselves.
func (s Slack) Many() bool { return s.ClientID != "" }

// encryptionKeyBytes is the length of the key that installs are kept under.
const encryptionKeyBytes = 32

// Key is EncryptionKey as it is used, nil for none. Load has checked that it can be read.
func (s Slack) Key() ([]byte, error) {
	if s.EncryptionKey.IsZero() {
		return nil, nil
	}
	key, err := base64.StdEncoding.DecodeString(s.EncryptionKey.Reveal())
	if err != nil || len(key) != encryptionKeyBytes {
		return nil, errors.New("slack.encryption_key: want 32 random bytes in base64, as `openssl rand -base64 32` prints them")
	}
	return key, nil
}

// validate gives what is missing or does not fit together.
func (s Slack) validate() error {
	if s.Mode == SlackOff {
		return nil
	}
	var faults []error
	lacks := func(key, why string) {
		faults = append(faults, fmt.Errorf("slack.%s: is missing: %s (see docs/slack.md)", key, why))
	}
	switch {
	case s.Mode == SlackHTTP && s.SigningSecret.IsZero():
		lacks("signing_secret", "events over HTTP are known by it; set CAIRN_SLACK_SIGNING_SECRET or signing_secret_file")
	case s.Mode == SlackSocket && s.AppToken.IsZero():
		lacks("app_token", "Socket Mode connects with it; set CAIRN_SLACK_APP_TOKEN or app_token_file")
	}
	switch {
	case s.Many() && !s.BotToken.IsZero():
		faults = append(faults, errors.New("slack.client_id: bot_token is for one workspace, client_id for many: keep one of them"))
	case !s.Many() && s.BotToken.IsZero():
		lacks("bot_token", "set CAIRN_SLACK_BOT_TOKEN or bot_token_file; for many workspaces client_id")
	case s.Many():
		if s.ClientSecret.IsZero() {
			lacks("client_secret", "set CAIRN_SLACK_CLIENT_SECRET or client_secret_file")
		}
		if s.EncryptionKey.IsZero() {
			lacks("encryption_key", "workspaces' tokens are kept under it; set CAIRN_SLACK_ENCRYPTION_KEY or encryption_key_file")
		}
		if s.URL == "" {
			lacks("url", "workspaces come back to it when they install Cairn")
		}
	}
	_, err := s.Key()
	return errors.Join(append(faults, err)...)
}
