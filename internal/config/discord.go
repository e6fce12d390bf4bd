package config

import "errors"

// Discord is how Cairn is reached in Discord; with mode DiscordOff it is not.
type Discord struct {
	Mode DiscordMode `key:"mode" default:"off" oneof:"off gateway http"`
	// Listen is the address for interactions over HTTP, "host:port".
	Listen string `key:"listen" form:"listen" default:"127.0.0.1:3001"`
	// URL is the address that Discord reaches Listen at, without a / at its end.
	URL string `key:"url" form:"address" optional:"true"`
	// APIURL takes the place of discord.com and its files, without a / at its end; "" is Discord itself.
	APIURL string `key:"api_url" form:"address" optional:"true"`

	// PublicKey is of the app, in hex, for DiscordHTTP.
	PublicKey string `key:"public_key" form:"public key" optional:"true"`
	// PerSecond is how many requests Discord lets the app make, of all processes together.
	PerSecond int `key:"requests_per_second" default:"50" min:"1" max:"10000"`
	// MessageContent tells whether the app has the MESSAGE CONTENT intent.
	MessageContent bool       `key:"message_content"`
	Token          HiddenText `key:"token"` // of the bot

	// Servers are answered, by id; none: those that the app is in when it is set up.
	Servers Spaces `key:"servers" form:"discord servers"`

	// Listening and Reply hold where nobody set it in Discord, and Channels, by their ids, does
	// not say otherwise.
	Listening DiscordListening            `key:"listening" default:"mention" oneof:"mention thread questions off"`
	Reply     DiscordReply                `key:"reply" default:"thread" oneof:"thread reply"`
	Channels  map[string]DiscordListening `key:"channels" form:"discord channels"`
	// Humans are the users ("123") and roles ("&123") that "Ask a human" calls, by channel id;
	// "" is every other channel.
	Humans map[string][]string `key:"humans" form:"discord humans"`
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

// validate gives what is missing or does not fit together.
func (d Discord) validate() error {
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
