package config

import (
	"errors"
	"strings"
	"testing"
)

func TestDiscordIsReadWhole(t *testing.T) {
	key := strings.Repeat("0a", 32)
	host := slackHost(t, map[string]string{
		"CAIRN_DISCORD_MODE": "http", "CAIRN_DISCORD_TOKEN": "very-secret", "CAIRN_DISCORD_PUBLIC_KEY": key, "CAIRN_DISCORD_MESSAGE_CONTENT": "true",
		"CAIRN_DISCORD_CHANNELS": "12=questions, 13=off", "CAIRN_DISCORD_HUMANS": "&14,12=15", "CAIRN_DISCORD_API_URL": "http://127.0.0.1:8080/",
		"CAIRN_DISCORD_REPLY": "reply", "CAIRN_DISCORD_LISTENING": "thread",
	})
	got, err := host.Load("")
	if err != nil {
		t.Fatal(err)
	}
	d := got.Discord
	if d.Token.Reveal() != "very-secret" || d.PublicKey != key || !d.MessageContent || d.APIURL != "http://127.0.0.1:8080" || d.Reply != DiscordInPlace ||
		d.Listening != DiscordHearsThreads || d.Channels["12"] != DiscordHearsQuestions || d.Channels["13"] != DiscordHearsNothing ||
		d.Humans[""][0] != "&14" || d.Humans["12"][0] != "15" {
		t.Errorf("got %+v", d)
	}
	shown := got.String()
	if strings.Contains(shown, "very-secret") {
		t.Errorf("a secret is shown in\n%s", shown)
	}
	again := Defaults(host)
	if err := errors.Join(decode(&again, "/c.yaml", []byte(shown), host)...); err != nil || again.Discord.Humans["12"][0] != "15" || !again.Discord.MessageContent {
		t.Errorf("read back: %v, %+v", err, again.Discord)
	}
}

func TestWhatDiscordLacksIsNamed(t *testing.T) {
	for name, test := range map[string]struct {
		variables map[string]string
		want      []string
	}{
		"nothing but the mode": {map[string]string{"CAIRN_DISCORD_MODE": "gateway"}, []string{"discord.token", "docs/discord.md"}},
		"no public key":        {map[string]string{"CAIRN_DISCORD_MODE": "http", "CAIRN_DISCORD_TOKEN": "x"}, []string{"discord.public_key"}},
		"odd values": {map[string]string{"CAIRN_DISCORD_MODE": "mail", "CAIRN_DISCORD_PUBLIC_KEY": "xyz", "CAIRN_DISCORD_MESSAGE_CONTENT": "perhaps",
			"CAIRN_DISCORD_CHANNELS": "general=off,12=loud,13=off,13=off", "CAIRN_DISCORD_HUMANS": "ann", "CAIRN_DISCORD_REPLY": "shout", "CAIRN_DISCORD_REQUESTS_PER_SECOND": "0"},
			[]string{`"mail": want off, gateway, http`, "64 hexadecimal digits", `"perhaps"`, `"general=off"`, `"loud"`, "twice", `"ann"`, `"shout"`, "from 1 to 10000"}},
	} {
		_, err := slackHost(t, test.variables).Load("")
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		for _, want := range test.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %q is not in\n%v", name, want, err)
			}
		}
	}
}
