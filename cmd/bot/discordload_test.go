package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/discord/discordtest"
	"github.com/cairn-bot/cairn/internal/servertest"
)

var (
	discordRate = flag.Int("discord.rate", 20, "mentions a second in TestDiscordLoad")
	discordFor  = flag.Duration("discord.for", 2*time.Second, "how long mentions come at that rate")
)

// TestDiscordLoad has mentions come through the gateway at a rate, in many channels, and
// looks that each is answered once, where it was asked. The app is taken to be one that
// Discord lets make many requests. make bench-discord runs it at its full length.
func TestDiscordLoad(t *testing.T) {
	g := &guild{Server: discordtest.New(t, discordtest.Options{Limits: discordtest.NoLimits()}), program: program{t: t, file: *underLoad}}
	team := g.Guild("Team")
	g.ann = team.Member("Ann")
	var channels []string
	for n := range 50 {
		channels = append(channels, team.Channel(fmt.Sprintf("channel-%d", n)))
	}
	g.general = channels[0]
	g.env = append(os.Environ(), "HOME="+t.TempDir(), "CAIRN_DATA_DIR="+t.TempDir(), "CAIRN_REDIS_URL="+servertest.OwnRedis(t).URL,
		"CAIRN_DISCORD_MODE=gateway", "CAIRN_DISCORD_API_URL="+g.URL(), "CAIRN_DISCORD_TOKEN="+discordtest.Token,
		"CAIRN_DISCORD_REPLY=reply", "CAIRN_DISCORD_REQUESTS_PER_SECOND=10000")
	g.readHandbook()
	p := g.serve()
	asked := make(map[string]bool) // "CHANNEL WORD": what is to be echoed where
	begun := time.Now()
	tick := time.NewTicker(time.Second / time.Duration(*discordRate))
	defer tick.Stop()
	for n := range int(discordFor.Seconds() * float64(*discordRate)) {
		<-tick.C
		word, channel := fmt.Sprintf("word%d", n), channels[n%len(channels)]
		g.Say(g.ann, channel, calledInDiscord+"echo "+word)
		asked[channel+" "+word] = true
	}
	sent := time.Since(begun)
	var said map[string]int
	g.wait(func() bool {
		said = g.echoes(channels)
		return len(said) >= len(asked)
	})
	took := time.Since(begun)
	lost, doubled := 0, 0
	for echo := range asked {
		switch said[echo] {
		case 0:
			lost++
		case 1:
		default:
			doubled++
		}
	}
	if lost+doubled > 0 || len(said) != len(asked) {
		t.Errorf("of %d: %d lost, %d doubled, %d different answers", len(asked), lost, doubled, len(said))
	}
	t.Logf("%d mentions in %s, all answered after %s; %s of a processor each; %s", len(asked), sent.Round(time.Millisecond), took.Round(time.Millisecond),
		(worked(t, p.command.Process.Pid) / time.Duration(max(1, len(asked)))).Round(10*time.Microsecond), memory(t, p.command.Process.Pid))
	p.end(syscall.SIGTERM)
}

// echoes counts what the bot said in channels, by "CHANNEL WORD".
func (g *guild) echoes(channels []string) map[string]int {
	said := make(map[string]int)
	for _, channel := range channels {
		for _, message := range g.Messages(channel) {
			if message.Author == discordtest.Bot && !message.Deleted && strings.Contains(message.Content, "word") {
				said[channel+" "+strings.Fields(message.Content)[0]]++
			}
		}
	}
	return said
}
