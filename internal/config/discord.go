package config

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Discord is how Cairn is reached in Discord; with mode DiscordOff it is not.
type Discord struct {
	Mode   DiscordMode
	Listen string // address for interactions over HTTP, "host:port"
	URL    string // the address that Discord reaches Listen at, without a / at its end
	APIURL string // what takes the place of discord.com and its files, without a / at its end; "" is Discord itself

	Token     HiddenText // of the bot
	PublicKey string     // of the app, in hex, for DiscordHTTP

	PerSecond int // requests that Discord lets the app make, of all processes together

	MessageContent bool // the app has the MESSAGE CONTENT intent

	Servers Spaces // that are answered, by id; none: those that the app is in when it is set up

	// What is answered and how where nobody set it in Discord.
	Listening DiscordListening
	Reply     DiscordReply
	Channels  map[string]DiscordListening // by channel id
	Humans    map[string][]string         // users ("123") and roles ("&123") that "Ask a human" calls, by channel id; "" is every other channel
}

// DiscordMode is how events come from Discord.
type DiscordMode string

// Events come not at all, by the gateway, or, interactions alone, over HTTP.
const (
	DiscordOff     DiscordMode = "off"
	DiscordGateway DiscordMode = "gateway"
	DiscordHTTP    DiscordMode = "http"
)

// DiscordListening is what is answered in a channel.
type DiscordListening string

// What is answered: nothing, mentions, questions in threads too, or all questions.
const (
	DiscordHearsNothing   DiscordListening = "off"
	DiscordHearsMentions  DiscordListening = "mention"
	DiscordHearsThreads   DiscordListening = "thread"
	DiscordHearsQuestions DiscordListening = "questions"
)

// DiscordReply is where a mention in a channel is answered.
type DiscordReply string

// It is answered in a thread that begins at it, or by a reply in the channel.
const (
	DiscordInThread DiscordReply = "thread"
	DiscordInPlace  DiscordReply = "reply"
)

var defaultDiscord = Discord{Mode: DiscordOff, Listen: "127.0.0.1:3001", PerSecond: 50, Listening: DiscordHearsMentions, Reply: DiscordInThread}

// maxPerSecond is more than Discord allows anybody.
const maxPerSecond = 10_000

// discordAlone gives what is missing or does not fit together.
func (c Config) discordAlone() error {
	d := c.Discord
	if d.Mode == DiscordOff {
		return nil
	}
	var faults []error
	if d.Token.IsZero() {
		faults = append(faults, errors.New("discord.token: is missing: set CAIRN_DISCORD_TOKEN or token_file (see docs/discord.md)"))
	}
	if d.Mode == DiscordHTTP && d.PublicKey == "" {
		faults = append(faults, errors.New("discord.public_key: is missing: interactions over HTTP are known by it; copy it from the app's General Information (see docs/discord.md)"))
	}
	return errors.Join(faults...)
}

var discordSettings = slices.Concat([]setting[Config]{
	{
		key: "discord.mode", env: "CAIRN_DISCORD_MODE",
		set: func(c *Config, text string, _ base) (err error) {
			c.Discord.Mode, err = oneOf(text, DiscordOff, DiscordGateway, DiscordHTTP)
			return err
		},
		get: func(c Config) []string { return []string{string(c.Discord.Mode)} },
	},
	{
		key: "discord.listen", env: "CAIRN_DISCORD_LISTEN",
		set: func(c *Config, text string, _ base) (err error) {
			c.Discord.Listen, err = listenAddress(text)
			return err
		},
		get: func(c Config) []string { return []string{c.Discord.Listen} },
	},
	chatAddress("discord.url", func(c *Config) *string { return &c.Discord.URL }, func(text string) string { return strings.TrimRight(text, "/") }),
	chatAddress("discord.api_url", func(c *Config) *string { return &c.Discord.APIURL }, func(text string) string { return strings.TrimRight(text, "/") }),
	{
		key: "discord.public_key", env: "CAIRN_DISCORD_PUBLIC_KEY",
		set: func(c *Config, text string, _ base) error {
			if text != "" && !discordKey.MatchString(text) {
				return errors.New("want the app's public key, 64 hexadecimal digits")
			}
			c.Discord.PublicKey = text
			return nil
		},
		get: func(c Config) []string { return []string{c.Discord.PublicKey} },
	},
	{
		key: "discord.requests_per_second", env: "CAIRN_DISCORD_REQUESTS_PER_SECOND",
		set: func(c *Config, text string, _ base) (err error) {
			c.Discord.PerSecond, err = strconv.Atoi(text)
			if err != nil || c.Discord.PerSecond < 1 || c.Discord.PerSecond > maxPerSecond {
				return fmt.Errorf("%q: want a number from 1 to %d", text, maxPerSecond)
			}
			return nil
		},
		get: func(c Config) []string { return []string{strconv.Itoa(c.Discord.PerSecond)} },
	},
	{
		key: "discord.message_content", env: "CAIRN_DISCORD_MESSAGE_CONTENT",
		set: func(c *Config, text string, _ base) (err error) {
			if c.Discord.MessageContent, err = strconv.ParseBool(text); err != nil {
				return fmt.Errorf("%q: want true or false", text)
			}
			return nil
		},
		get: func(c Config) []string { return []string{strconv.FormatBool(c.Discord.MessageContent)} },
	},
},
	chatSecret("discord.token", func(c *Config) *HiddenText { return &c.Discord.Token }),
	discordPlaces,
)

var (
	discordKey   = regexp.MustCompile(`^[0-9a-fA-F]{64}$`)
	discordID    = regexp.MustCompile(`^[0-9]{1,20}$`)
	discordHuman = regexp.MustCompile(`^&?[0-9]{1,20}$`)
)

// discordPlaces are the settings that differ by server or channel.
var discordPlaces = []setting[Config]{
	spacesSetting("discord.servers", discordID, "a server's id, or for one collection of several SERVER=COLLECTION, such as 1234567890=handbook",
		func(c *Config) *Spaces { return &c.Discord.Servers }),
	{
		key: "discord.listening", env: "CAIRN_DISCORD_LISTENING",
		set: func(c *Config, text string, _ base) (err error) {
			c.Discord.Listening, err = discordListening(text)
			return err
		},
		get: func(c Config) []string { return []string{string(c.Discord.Listening)} },
	},
	{
		key: "discord.reply", env: "CAIRN_DISCORD_REPLY",
		set: func(c *Config, text string, _ base) (err error) {
			c.Discord.Reply, err = oneOf(text, DiscordInThread, DiscordInPlace)
			return err
		},
		get: func(c Config) []string { return []string{string(c.Discord.Reply)} },
	},
	channelSetting("discord.channels", discordID, "a channel's id and how it is listened to, such as 1234567890=thread", discordListening,
		func(c *Config) *map[string]DiscordListening { return &c.Discord.Channels }),
	humansSetting("discord.humans", discordID, discordHuman,
		"the id of a user, or of a role after &, such as 1234567890 or &1234567890, for one channel alone as CHANNEL=1234567890",
		func(c *Config) *map[string][]string { return &c.Discord.Humans }),
}

func discordListening(text string) (DiscordListening, error) {
	return oneOf(text, DiscordHearsMentions, DiscordHearsThreads, DiscordHearsQuestions, DiscordHearsNothing)
}
