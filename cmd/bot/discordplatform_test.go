package main

import (
	"cmp"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/discord/discordtest"
	"github.com/cairn-bot/cairn/internal/servertest"
)

var (
	discordSeed     = flag.Uint64("discord.seed", 0, "what goes wrong in TestDiscordChaos, and when; 0: another each time")
	discordMessages = flag.Int("discord.messages", 40, "how many messages people write in TestDiscordChaos")
	discordPace     = flag.Float64("discord.pace", 4, "how many of them a second, about")
)

// chooseDiscordSeed gives the seed of the run, which several tests at the same time share.
var chooseDiscordSeed = sync.OnceValue(func() uint64 { return cmp.Or(*discordSeed, rand.Uint64()) })

// caughtUpWithin is how long after the end of all trouble the last answer may come.
const caughtUpWithin = 3 * time.Minute

// busyGuild is a team in a Discord that has its limits and goes wrong, on the machine's
// clock, with processes of the real program in it, all as it is by default.
type busyGuild struct {
	guild
	channels  []string
	processes []*process

	mu     sync.Mutex
	random *rand.Rand
	struck map[string]int
	asked  map[string][]string // by channel and thread: what was written, in order
	words  int
}

// newBusyGuild starts processes that share a Redis; style is how mentions are answered.
func newBusyGuild(t *testing.T, processes, channels int, style, redis string) *busyGuild {
	t.Helper()
	g := &busyGuild{
		guild:  guild{Server: discordtest.New(t, discordtest.Options{}), program: program{t: t, file: *underLoad}},
		random: rand.New(rand.NewPCG(chooseDiscordSeed(), chooseDiscordSeed())), struck: map[string]int{}, asked: map[string][]string{},
	}
	team := g.Guild("Team")
	g.ann = team.Member("Ann")
	for n := range channels {
		g.channels = append(g.channels, team.Channel(fmt.Sprintf("channel-%d", n)))
	}
	g.general = g.channels[0]
	g.env = append(os.Environ(), "HOME="+t.TempDir(), "CAIRN_DATA_DIR="+t.TempDir(), "CAIRN_LOG_LEVEL=warn", "CAIRN_REDIS_URL="+redis,
		"CAIRN_DISCORD_MODE=gateway", "CAIRN_DISCORD_API_URL="+g.URL(), "CAIRN_DISCORD_TOKEN="+discordtest.Token, "CAIRN_DISCORD_REPLY="+style)
	for range processes {
		g.processes = append(g.processes, g.start(toldOfDiscord))
	}
	g.until(g.general, "a connection to the gateway", func() bool { return len(g.Gateway().State().Connected) > 0 })
	return g
}

func (g *busyGuild) roll(n int) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.random.IntN(n)
}

func (g *busyGuild) count(what string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.struck[what]++
}

// writes has Ann mention the bot in a thread, or in a channel, where that starts one. It
// gives the id of the thread.
func (g *busyGuild) writes(channel, thread string) (root string) {
	g.mu.Lock()
	g.words++
	word := fmt.Sprintf("word%06d", g.words)
	g.mu.Unlock()
	in := channel
	if thread != "" {
		in = thread
	}
	said := g.Say(g.ann, in, calledInDiscord+"echo "+word).ID
	if thread == "" {
		thread = said
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.asked[channel+" "+thread] = append(g.asked[channel+" "+thread], word)
	return thread
}

// guildVerdict is what stands in the threads and channels, as people see it.
type guildVerdict struct {
	asked, lost, doubled, reordered, drafts, strange int
}

func (s guildVerdict) clean() bool { return s == guildVerdict{asked: s.asked} }

// look compares what stands in channels and threads with what was asked there.
func (g *busyGuild) look() guildVerdict {
	var s guildVerdict
	said := map[string][]string{} // by channel, or thread
	for _, channel := range g.channels {
		for _, message := range g.Standing(channel) {
			if message.HasButton("Stop") || message.HasButton("Waiting") || strings.Contains(message.Content, "The answer is ready") {
				s.drafts++
				continue
			}
			said[message.Channel] = append(said[message.Channel], firstWord(message.Content))
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	known := 0
	for place, words := range g.asked {
		channel, thread, _ := strings.Cut(place, " ")
		var order []string
		for _, answer := range slices.Concat(said[thread], said[channel]) { // in its thread, or in place
			switch {
			case !slices.Contains(words, answer):
			case slices.Contains(order, answer):
				s.doubled++
			default:
				order = append(order, answer)
			}
		}
		known += len(order)
		s.asked += len(words)
		s.lost += len(words) - len(order)
		if expected := slices.DeleteFunc(slices.Clone(words), func(word string) bool { return !slices.Contains(order, word) }); !slices.Equal(order, expected) {
			s.reordered++
		}
	}
	for _, answers := range said {
		s.strange += len(answers)
	}
	s.strange -= known + s.doubled
	return s
}

func firstWord(text string) string {
	if words := strings.Fields(text); len(words) > 0 {
		return words[0]
	}
	return ""
}

// settled waits until all is answered and nothing else stands there, for some time at most,
// and gives what stands there then.
func (g *busyGuild) settled(most time.Duration) guildVerdict {
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(most); ; <-tick.C {
		if s := g.look(); s.clean() || time.Now().After(end) {
			return s
		}
	}
}

// requested counts requests by route and status.
func (g *busyGuild) requested() map[string]int {
	counts := make(map[string]int)
	for _, request := range g.Requests("") {
		counts[fmt.Sprintf("%s %d", request.Route, request.Status)]++
	}
	return counts
}

// overtaken counts the answers in a channel that stand before one to an earlier message.
func (g *busyGuild) overtaken(channel string) int {
	count, last := 0, ""
	for _, message := range g.Standing(channel) {
		if word := firstWord(message.Content); word < last {
			count++
		} else {
			last = word
		}
	}
	return count
}

// longestSilence is the longest time in which a channel in which somebody waits for an answer
// showed nothing of the bot's: no message, no edit, not that it types.
func (g *busyGuild) longestSilence(channel string, begun, ended time.Time) (longest time.Duration) {
	shown := []time.Time{begun, ended}
	for _, route := range []string{"POST /channels/{channel}/messages", "PATCH /channels/{channel}/messages/{message}", "POST /channels/{channel}/typing"} {
		for _, request := range g.Requests(route) {
			if request.Status/100 == 2 && strings.Contains(request.Path, channel) && request.At.Before(ended) {
				shown = append(shown, request.At)
			}
		}
	}
	slices.SortFunc(shown, time.Time.Compare)
	for i := 1; i < len(shown); i++ {
		longest = max(longest, shown[i].Sub(shown[i-1]))
	}
	return longest
}

// testBusyDiscordChannel is part of TestABusyChannel. Discord's pace is five in five seconds;
// nothing is looked for that was not sent.
func testBusyDiscordChannel(t *testing.T) {
	t.Parallel()
	for _, processes := range []int{1, 3} {
		t.Run(fmt.Sprintf("%d processes", processes), func(t *testing.T) {
			t.Parallel()
			g := newBusyGuild(t, processes, 1, "reply", servertest.OwnRedis(t).URL)
			tick := time.NewTicker(250 * time.Millisecond)
			defer tick.Stop()
			first := time.Now()
			for range 60 {
				<-tick.C
				g.writes(g.general, "")
			}
			begun := time.Now()
			s := g.settled(caughtUpWithin)
			silent := g.longestSilence(g.general, first, time.Now())
			if !s.clean() {
				t.Errorf("three minutes later: %+v", s)
			}
			requests := g.requested()
			t.Logf("%+v %s after the last message; answers that overtook another: %d; the longest silence: %s; requests: %v",
				s, time.Since(begun).Round(time.Second), g.overtaken(g.general), silent.Round(time.Second), requests)
			if looked := requests["GET /channels/{channel}/messages 200"]; looked > 0 {
				t.Errorf("Discord was asked %d times for what was not sent", looked)
			}
			if refused := requests["POST /channels/{channel}/messages 429"]; refused > 6 {
				t.Errorf("Discord had to refuse %d of 60 posts", refused)
			}
		})
	}
}

// TestDiscordIsDownForAMinute has Discord answer 500 for a minute while people write in ten
// channels: all are answered once it is well again, and threads are not looked at one by one
// for what was never sent there.
func TestDiscordIsDownForAMinute(t *testing.T) {
	t.Parallel()
	g := newBusyGuild(t, 1, 10, "thread", servertest.OwnRedis(t).URL)
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	for n := range 300 {
		switch n {
		case 20:
			g.Disturb(func(string) *discordtest.Fault { return &discordtest.Fault{Status: http.StatusInternalServerError} })
		case 260:
			g.Disturb(nil)
		}
		<-tick.C
		g.writes(g.channels[n%len(g.channels)], "")
	}
	begun := time.Now()
	s := g.settled(caughtUpWithin)
	if !s.clean() {
		t.Errorf("three minutes after Discord was well again: %+v", s)
	}
	looked := len(g.Requests("GET /channels/{channel}/messages")) + len(g.Requests("GET /guilds/{guild}/threads/active"))
	if looked > s.asked/10 {
		t.Errorf("Discord was asked %d times what stands in threads, about %d messages", looked, s.asked)
	}
	t.Logf("%+v %s after the last message, %d looks; requests: %v", s, time.Since(begun).Round(time.Second), looked, g.requested())
}

// disturbedRoutes are the routes whose requests go wrong.
var disturbedRoutes = []string{
	"POST /channels/{channel}/messages", "GET /channels/{channel}/messages", "PATCH /channels/{channel}/messages/{message}",
	"DELETE /channels/{channel}/messages/{message}", "POST /channels/{channel}/messages/{message}/threads", "POST /channels/{channel}/typing",
}

// goesWrong has one request in twelve go wrong, as those to a busy Discord do.
func (g *busyGuild) goesWrong(route string) *discordtest.Fault {
	if !slices.Contains(disturbedRoutes, route) {
		return nil
	}
	late := time.Duration(4000+g.roll(5000)) * time.Millisecond
	faults := []struct {
		name  string
		fault discordtest.Fault
	}{
		{"500", discordtest.Fault{Status: http.StatusInternalServerError}},
		{"done, and 503", discordtest.Fault{Status: http.StatusServiceUnavailable, Done: true}},
		{"429", discordtest.Fault{Status: http.StatusTooManyRequests, RetryAfter: time.Duration(1+g.roll(5)) * time.Second}},
		{"done late", discordtest.Fault{Late: late}},
		{"503, and done late", discordtest.Fault{Status: http.StatusServiceUnavailable, Late: late}},
		{"cut, and done late", discordtest.Fault{Cut: true, Late: late}},
	}
	roll := g.roll(12 * len(faults))
	if roll >= len(faults) {
		return nil
	}
	g.count("discord: " + faults[roll].name)
	return &faults[roll].fault
}

// trouble has things go wrong until talked is closed. It is the test's own goroutine.
func (g *busyGuild) trouble(redis *servertest.Server, talked <-chan struct{}) {
	for {
		select {
		case <-talked:
			return
		case <-time.After(time.Duration(2000+g.roll(8000)) * time.Millisecond):
		}
		at := g.roll(len(g.processes))
		switch g.roll(8) {
		case 0, 1, 2:
			g.count("process killed")
			g.restart(at, syscall.SIGKILL)
		case 3:
			g.count("process drained")
			g.restart(at, syscall.SIGTERM)
		case 4, 5:
			g.count("process stopped for longer than its lease")
			g.signal(at, syscall.SIGSTOP)
			<-time.After(time.Duration(13+g.roll(10)) * time.Second)
			g.signal(at, syscall.SIGCONT)
		case 6:
			g.count("redis killed")
			redis.Kill()
			redis.Start()
		case 7:
			g.count("discord down for a minute")
			g.Disturb(func(string) *discordtest.Fault { return &discordtest.Fault{Status: http.StatusInternalServerError} })
			<-time.After(time.Minute)
			g.Disturb(g.goesWrong)
		}
	}
}

// restart ends the process in a place, and starts another.
func (g *busyGuild) restart(at int, by syscall.Signal) {
	g.processes[at].end(by)
	g.processes[at] = g.start(toldOfDiscord)
}

func (g *busyGuild) signal(at int, by syscall.Signal) {
	if err := g.processes[at].command.Process.Signal(by); err != nil {
		g.t.Error(err)
	}
}

// startsPerWindow is how many threads people begin in a channel in five minutes: Discord lets 50
// be started, and counts those that are tried again.
const startsPerWindow = 40

// chooseChannel gives a channel in which so many threads more can be started.
func (g *busyGuild) chooseChannel(begun map[string][]time.Time, many int) string {
	for {
		channel := g.channels[g.roll(len(g.channels))]
		begun[channel] = slices.DeleteFunc(begun[channel], func(at time.Time) bool { return time.Since(at) > 5*time.Minute })
		if len(begun[channel])+many <= startsPerWindow {
			return channel
		}
		<-time.After(10 * time.Millisecond)
	}
}

// talk has people write so many messages: in new threads, in those that are there, and many
// in one channel at once.
func (g *busyGuild) talk(messages int) {
	var open [][2]string // channel and thread
	begun := map[string][]time.Time{}
	for written := 0; written < messages; {
		many := 1
		if g.roll(40) == 0 {
			many = 5 + g.roll(10)
		}
		channel := g.chooseChannel(begun, many)
		for range min(many, messages-written) {
			thread := ""
			if old := g.roll(3 * max(len(open), 1) / 2); many == 1 && old < len(open) && g.isStarted(open[old]) {
				channel, thread = open[old][0], open[old][1]
			}
			root := g.writes(channel, thread)
			if thread == "" {
				open = append(open, [2]string{channel, root})
				begun[channel] = append(begun[channel], time.Now())
			}
			written++
		}
		if len(open) > 40 {
			open = open[len(open)-40:]
		}
		<-time.After(time.Duration(float64(many) / *discordPace * float64(500+g.roll(1000)) * float64(time.Millisecond)))
	}
}

// isStarted tells whether a thread can be written in.
func (g *busyGuild) isStarted(thread [2]string) bool {
	return slices.Contains(g.Threads(thread[0]), thread[1])
}

// TestDiscordChaos has three processes work for a Discord that goes wrong, and kills, stops
// and cuts them off meanwhile; it is judged by what stands in the channels and threads in
// the end. make chaos-discord runs it for longer.
func TestDiscordChaos(t *testing.T) {
	t.Parallel()
	t.Logf("seed %d: repeat with -discord.seed=%[1]d", chooseDiscordSeed())
	redis := servertest.OwnRedis(t, "--appendfsync", "always")
	g := newBusyGuild(t, 3, max(4, min(60, *discordMessages/30)), "thread", redis.URL)
	g.Disturb(g.goesWrong)
	begun, talked := time.Now(), make(chan struct{})
	go func() {
		defer close(talked)
		g.talk(*discordMessages)
	}()
	g.trouble(redis, talked)
	g.Disturb(nil)
	ended := time.Now()
	for g.look().lost > 0 && time.Since(ended) < caughtUpWithin {
		<-time.After(500 * time.Millisecond)
	}
	answered := time.Since(ended)
	if lost := g.look().lost; lost > 0 {
		t.Errorf("%d messages are not answered %s after the end", lost, caughtUpWithin)
	}
	<-time.After(40 * time.Second) // by then Discord has carried out all that it was asked for
	s := g.settled(2 * caughtUpWithin)
	if !s.clean() {
		t.Errorf("in the channels stands: %+v", s)
		g.showOdd()
	}
	t.Logf("%d messages in %s, the last answered %s after the end; judged %s after it: %+v; struck: %v; requests: %v",
		s.asked, ended.Sub(begun).Round(time.Second), answered.Round(time.Second), time.Since(ended).Round(time.Second), s, g.struck, g.requested())
}

// showOdd logs the threads in which something stands that should not, or does not that
// should.
func (g *busyGuild) showOdd() {
	g.mu.Lock()
	asked := g.asked
	g.mu.Unlock()
	for place, words := range asked {
		channel, thread, _ := strings.Cut(place, " ")
		var seen []string
		if g.isStarted([2]string{channel, thread}) {
			for _, message := range g.Messages(thread) {
				if message.Author == discordtest.Bot && !message.Deleted && message.Content != "" {
					seen = append(seen, firstWord(message.Content))
				}
			}
		}
		if !slices.Equal(seen, words) {
			g.t.Logf("thread %s was asked %v, and shows %v", thread, words, seen)
		}
	}
}
