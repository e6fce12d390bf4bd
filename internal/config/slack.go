package config

import (
	"encoding/base64"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Slack is how Cairn is reached in Slack; with mode SlackOff it is not. One workspace
// gives BotToken, many give the four fields for OAuth.
type Slack struct {
	Mode   SlackMode
	Listen string // address for Slack's deliveries and the install page, "host:port"
	URL    string // the address that Slack and people reach Listen at, without a / at its end
	APIURL string // of Slack's Web API, with a / at its end; "" is Slack's own

	BotToken      HiddenText // "xoxb-…"
	SigningSecret HiddenText // for SlackHTTP
	AppToken      HiddenText // "xapp-…", for SlackSocket

	ClientID      string
	ClientSecret  HiddenText
	EncryptionKey HiddenText // base64 of the 32 bytes that tokens of installs are kept under

	// Teams are the workspaces (T…) and enterprises (E…) that may install Cairn, AnyTeam for
	// everybody; none: no one may. With BotToken they only say which collections may be asked.
	Teams    Spaces
	External bool // people of other companies are answered in channels that are shared with them
	Guests   bool // guests are answered

	Listening SlackListening            // where Channels does not say otherwise
	Channels  map[string]SlackListening // by channel id
	Humans    map[string][]string       // who "Ask a human" calls, by channel id; "" is every other channel
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

var defaultSlack = Slack{Mode: SlackOff, Listen: "127.0.0.1:3000", Listening: SlackHearsMentions}

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

// slackAlone gives what is missing or does not fit together.
func (c Config) slackAlone() error {
	s := c.Slack
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

var slackSettings = slices.Concat([]setting[Config]{
	{
		key: "slack.mode", env: "CAIRN_SLACK_MODE",
		set: func(c *Config, text string, _ base) (err error) {
			c.Slack.Mode, err = oneOf(text, SlackOff, SlackHTTP, SlackSocket)
			return err
		},
		get: func(c Config) []string { return []string{string(c.Slack.Mode)} },
	},
	{
		key: "slack.listen", env: "CAIRN_SLACK_LISTEN",
		set: func(c *Config, text string, _ base) (err error) {
			c.Slack.Listen, err = listenAddress(text)
			return err
		},
		get: func(c Config) []string { return []string{c.Slack.Listen} },
	},
	chatAddress("slack.url", func(c *Config) *string { return &c.Slack.URL }, func(text string) string { return strings.TrimRight(text, "/") }),
	chatAddress("slack.api_url", func(c *Config) *string { return &c.Slack.APIURL }, func(text string) string { return strings.TrimRight(text, "/") + "/" }),
	{
		key: "slack.client_id", env: "CAIRN_SLACK_CLIENT_ID",
		set: func(c *Config, text string, _ base) (err error) {
			if text != "" {
				c.Slack.ClientID, err = name(text)
			}
			return err
		},
		get: func(c Config) []string { return []string{c.Slack.ClientID} },
	},
},
	chatSecret("slack.bot_token", func(c *Config) *HiddenText { return &c.Slack.BotToken }),
	chatSecret("slack.signing_secret", func(c *Config) *HiddenText { return &c.Slack.SigningSecret }),
	chatSecret("slack.app_token", func(c *Config) *HiddenText { return &c.Slack.AppToken }),
	chatSecret("slack.client_secret", func(c *Config) *HiddenText { return &c.Slack.ClientSecret }),
	chatSecret("slack.encryption_key", func(c *Config) *HiddenText { return &c.Slack.EncryptionKey }),
	slackPlaces,
)

// slackPlaces are the settings of whom Cairn answers, and those that differ by channel.
var slackPlaces = []setting[Config]{
	spacesSetting("slack.teams", slackTeam, "the id of a workspace or enterprise, or for one collection of several TEAM=COLLECTION, such as T0123ABCD=handbook; * for all",
		func(c *Config) *Spaces { return &c.Slack.Teams }),
	slackSwitch("slack.external", func(c *Config) *bool { return &c.Slack.External }),
	slackSwitch("slack.guests", func(c *Config) *bool { return &c.Slack.Guests }),
	{
		key: "slack.listening", env: "CAIRN_SLACK_LISTENING",
		set: func(c *Config, text string, _ base) (err error) {
			c.Slack.Listening, err = listeningOf(text)
			return err
		},
		get: func(c Config) []string { return []string{string(c.Slack.Listening)} },
	},
	channelSetting("slack.channels", slackChannel, "a channel's id and how it is listened to, such as C0123ABCD=thread", listeningOf,
		func(c *Config) *map[string]SlackListening { return &c.Slack.Channels }),
	humansSetting("slack.humans", slackChannel, slackHuman,
		"the id of a person or group, such as U0123ABCD or S0123ABCD, for one channel alone as C0123ABCD=U0123ABCD",
		func(c *Config) *map[string][]string { return &c.Slack.Humans }),
}

// slackSwitch is a setting that is true or false.
func slackSwitch(key string, field func(*Config) *bool) setting[Config] {
	return setting[Config]{
		key: key, env: variable(key),
		set: func(c *Config, text string, _ base) (err error) {
			if *field(c), err = strconv.ParseBool(text); err != nil {
				return fmt.Errorf("%q: want true or false", text)
			}
			return nil
		},
		get: func(c Config) []string { return []string{strconv.FormatBool(*field(&c))} },
	}
}

var (
	slackTeam    = regexp.MustCompile(`^([TE][A-Z0-9]{2,20}|\*)$`)
	slackChannel = regexp.MustCompile(`^[CGD][A-Z0-9]{2,20}$`)
	slackHuman   = regexp.MustCompile(`^[UWS][A-Z0-9]{2,20}$`)
)

func listeningOf(text string) (SlackListening, error) {
	return oneOf(text, SlackHearsMentions, SlackHearsThreads, SlackHearsQuestions, SlackHearsNothing)
}
