package discordtest_test

import (
	"bytes"
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/discord/discordtest"
)

var (
	discordJS = flag.String("discordjs", "", "a node_modules folder with discord.js, which TestDiscordJS has as its bot; empty: one on no SDK")
	node      = flag.String("discordjs.node", "node", "the Node.js that it runs on")
)

// TestDiscordJS has a bot on somebody else's SDK live in this Discord: the fake must not
// be shaped by what one of them does. make discord-js does so with discord.js; without
// that the bot is one on no SDK at all, and does the same.
func TestDiscordJS(t *testing.T) {
	p := newPlace(t, discordtest.Options{Limits: &discordtest.Limits{
		Global: discordtest.Limit{Most: 1000, In: time.Second}, Other: discordtest.Limit{Most: 1000, In: time.Second},
	}})
	if *discordJS == "" {
		startPlain(t, p)
	} else {
		startDiscordJS(t, p.URL())
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	p.tell(ctx)
	want, err := os.ReadFile(filepath.Join("testdata", "second.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Show(p.general) + p.Show(p.DM(p.ben)); got != string(want) {
		t.Errorf("the conversation reads\n%s\nwant\n%s", got, want)
	}
	for _, refused := range p.Refused() {
		t.Errorf("%s %s %s: %s", refused.Method, refused.Path, refused.Body, refused.Reason)
	}
	if wrong := p.Gateway().State().Refused; len(wrong) > 0 {
		t.Errorf("at the gateway: %q", wrong)
	}
}

// startDiscordJS runs the bot of testdata/discordjs until the test ends.
func startDiscordJS(t *testing.T, address string) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var output bytes.Buffer
	command := exec.CommandContext(ctx, *node, filepath.Join("testdata", "discordjs", "bot.cjs"))
	command.Env = append(os.Environ(), "NODE_PATH="+*discordJS, "DISCORD_URL="+address, "DISCORD_TOKEN="+discordtest.Token)
	command.Stdout, command.Stderr = &output, &output
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		if err := command.Wait(); err == nil {
			t.Error("the bot ended by itself")
		}
		if t.Failed() {
			t.Logf("the bot says:\n%s", output.String())
		}
	})
}

// within fails the test where something does not come to hold in time.
func (p *place) within(ctx context.Context, what string, holds func() bool) {
	p.t.Helper()
	if err := p.Await(ctx, holds); err != nil {
		p.t.Fatalf("%s: %v; the channel reads\n%s", what, err, p.Show(p.general))
	}
}

// tell is the story: what people do, and what they wait for.
func (p *place) tell(ctx context.Context) {
	p.t.Helper()
	p.within(ctx, "the commands", func() bool { return p.Offered(p.ann, p.general, "cairn") })
	asked := p.Say(p.ann, p.general, "<@"+discordtest.Bot+"> how do I roll back?")
	var question discordtest.Message
	p.within(ctx, "a question in the thread", func() bool {
		threads := p.Threads(p.general)
		if len(threads) == 0 {
			return false
		}
		for _, said := range p.Messages(threads[0]) {
			if said.Components != nil {
				question = said
				return true
			}
		}
		return false
	})
	p.within(ctx, "typing", func() bool { return len(p.Typed(question.Channel)) == 1 })
	opened := p.Press(p.ann, question.ID, "Say it yourself")
	p.within(ctx, "a window", func() bool { return opened.Modal() != nil })
	picked := p.Select(p.ben, question.ID, "Production")
	p.within(ctx, "what was picked", func() bool { original, _ := picked.Original(); return original.Content == "You took p" })
	sent := p.Submit(opened.Modal(), map[string]string{"text": "both"})
	p.within(ctx, "what was typed", func() bool { return sent.Callback() == 7 })

	typing := p.Complete(p.ben, p.general, "cairn ask", discordtest.Option{Name: "collection", Value: "hand"}, discordtest.Option{Name: "question", Value: "rain"})
	p.within(ctx, "choices", func() bool { return len(typing.Choices()) == 1 })
	used := p.Slash(p.ben, p.general, "cairn ask", discordtest.Option{Name: "question", Value: "rain"})
	p.within(ctx, "both answers", func() bool {
		last, _ := p.Last(p.general)
		return last.Content == "More." && used.Callback() == 5
	})
	menu := p.Menu(p.ben, asked.ID, "Ask Cairn about this")
	p.within(ctx, "the menu's answer", func() bool { return menu.Callback() == 4 })
	p.Say(p.ben, p.DM(p.ben), "<@"+discordtest.Bot+"> hi")
	p.within(ctx, "a direct answer", func() bool { return len(p.Messages(p.DM(p.ben))) == 2 })
}
