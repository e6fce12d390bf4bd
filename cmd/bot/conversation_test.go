package main

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/discord/discordtest"
	"github.com/cairn-bot/cairn/internal/adapters/slack/slacktest"
)

// askAgain is how long a question waits before it is asked anew: a source is read some seconds after
// something happened in it.
const askAgain = 3 * time.Second

// addSource keeps a source that the process to come reads.
func (o *program) addSource(args ...string) {
	o.t.Helper()
	if out, err := o.command(append([]string{"sources", "add", "--no-sync"}, args...)...).CombinedOutput(); err != nil {
		o.t.Fatalf("add a source: %v\n%s", err, out)
	}
}

// TestWhatPeopleSaidInSlackAnswersLater follows an answer of a person's from its thread into the index
// and out of it again.
func TestWhatPeopleSaidInSlackAnswersLater(t *testing.T) {
	t.Parallel()
	o := &office{Server: slacktest.New(slacktest.Options{Unlimited: true}), program: program{t: t}}
	t.Cleanup(o.Close)
	o.ann, o.ben, o.general = o.Person("U0ANN", "Ann"), o.Person("U0BEN", "Ben"), o.Channel("C0GENERAL", "general")
	cleo := o.Person("U0CLEO", "Cleo")
	secret, other := o.Private("C0SECRET", "secret"), o.Channel("C0OTHER", "other")
	for _, user := range []string{"U0ANN", "U0BEN"} {
		o.Invite(secret, user)
	}
	o.env = append(os.Environ(), "HOME="+t.TempDir(), "CAIRN_DATA_DIR="+t.TempDir(), "CAIRN_LOG_LEVEL=debug",
		"CAIRN_SLACK_MODE=http", "CAIRN_SLACK_LISTEN=127.0.0.1:0", "CAIRN_SLACK_API_URL="+o.APIURL(),
		"CAIRN_SLACK_BOT_TOKEN="+slacktest.BotToken, "CAIRN_SLACK_SIGNING_SECRET="+slacktest.SigningSecret)
	o.readHandbook()
	o.addSource("general", "slack:"+slacktest.Team+":"+o.general)
	o.addSource("secret", "slack:"+slacktest.Team+":"+secret)
	o.serve()

	// Ann thanks Ben for an answer; the app was not even mentioned.
	asked := o.ann.Says(o.general, "", "How do I rotate the signing key of the badge printer?")
	answer := o.ben.Says(o.general, asked, "Rotate the signing key of the badge printer with keyctl on host heron.")
	o.ann.Says(o.general, asked, "thanks Ben!")
	ask := func() string {
		return cleo.Says(o.general, "", mention+"how do I rotate the signing key of the badge printer?")
	}
	// asks asks anew until the last answer is as it should be.
	asks := func(what string, isIt func(said string) bool) {
		t.Helper()
		root, last := ask(), time.Now()
		o.until(what, func() bool {
			said := o.last(root)
			if said != "" && !isIt(said) && time.Since(last) > askAgain {
				root, last = ask(), time.Now()
			}
			return said != "" && isIt(said)
		})
	}
	asks("what Ben said, as what people said", func(said string) bool {
		return strings.Contains(said, "keyctl on host heron") && strings.Contains(said, "People said: How do I rotate") && strings.Contains(said, "/archives/"+o.general)
	})

	// An edit counts, and a deletion leaves nothing.
	o.ben.Edits(o.general, answer, "Rotate the signing key of the badge printer with keyctl on host osprey.")
	asks("the edited answer", func(said string) bool { return strings.Contains(said, "osprey") && !strings.Contains(said, "heron") })
	o.ben.Deletes(o.general, answer)
	asks("no answer any more", func(said string) bool { return !strings.Contains(said, "osprey") })

	// What is kept by hand in a private channel is for its members.
	told := o.ben.Says(secret, "", "The code of the archive room is in the grey safe of Ida.")
	o.ben.Says(secret, told, mention+"remember this")
	said := func(channel, root, text string) func() bool {
		return func() bool {
			for _, message := range o.Messages(channel) {
				if isSaid(message) && message.ThreadTS == root && strings.Contains(message.Text+string(message.Blocks), text) {
					return true
				}
			}
			return false
		}
	}
	o.until("the thread is kept", said(secret, told, "I remember this"))
	inside, last := "", time.Now()
	o.until("its members are answered from it", func() bool {
		if inside == "" || said(secret, inside, "couldn't find")() && time.Since(last) > askAgain {
			last = time.Now()
			inside = o.ann.Says(secret, "", mention+"where is the code of the archive room?")
		}
		return said(secret, inside, "grey safe")()
	})
	outside := cleo.Says(o.general, "", mention+"where is the code of the archive room?")
	o.until("nobody else is", said(o.general, outside, "couldn't find"))
	if said(o.general, outside, "grey safe")() {
		t.Error("what was said in a private channel is told in another")
	}

	// Nothing is kept of a channel that is no source.
	told = o.ben.Says(other, "", "The coffee machine is repaired by Otto.")
	o.ben.Says(other, told, mention+"remember this")
	o.until("it may not be kept", said(other, told, "is no source"))
}

// TestWhatPeopleSaidInDiscordAnswersLater is the same in a thread, and by a reaction.
func TestWhatPeopleSaidInDiscordAnswersLater(t *testing.T) {
	t.Parallel()
	g := &guild{Server: discordtest.New(t, discordtest.Options{MessageContent: true, Limits: discordtest.NoLimits()}), program: program{t: t}}
	team := g.Guild("Team")
	g.ann, g.ben, g.general = team.Member("Ann"), team.Member("Ben"), team.Channel("general")
	cleo := team.Member("Cleo")
	g.env = append(os.Environ(), "HOME="+t.TempDir(), "CAIRN_DATA_DIR="+t.TempDir(), "CAIRN_LOG_LEVEL=debug",
		"CAIRN_DISCORD_MODE=gateway", "CAIRN_DISCORD_API_URL="+g.URL(), "CAIRN_DISCORD_TOKEN="+discordtest.Token, "CAIRN_DISCORD_MESSAGE_CONTENT=true")
	g.readHandbook()
	g.addSource("general", "discord:"+team.ID+":"+g.general)
	g.serve()
	asked := g.Say(g.ann, g.general, "How do I rotate the signing key of the badge printer?").ID
	thread := g.StartThread(g.ann, asked, "printer")
	answer := g.Say(g.ben, thread, "Rotate the signing key of the badge printer with keyctl on host heron.").ID
	g.React(g.ann, answer, "✅", true)
	ask := func() string {
		return g.Say(cleo, g.general, calledInDiscord+"how do I rotate the signing key of the badge printer?").ID
	}
	asks := func(what string, isIt func(said string) bool) {
		t.Helper()
		root, last := ask(), time.Now()
		g.until(root, what, func() bool {
			said := g.last(root)
			if said != "" && !isIt(said) && time.Since(last) > askAgain {
				root, last = ask(), time.Now()
			}
			return said != "" && isIt(said)
		})
	}
	asks("what Ben said, as what people said", func(said string) bool {
		return strings.Contains(said, "keyctl on host heron") && strings.Contains(said, "People said: How do I rotate")
	})
	g.Delete(g.ben, answer)
	asks("no answer any more", func(said string) bool { return strings.Contains(said, "couldn't find") })

	// A reply has the message remembered that it replies to.
	told := g.Say(g.ben, g.general, "The coffee machine is repaired by Otto of the third floor.").ID
	g.Reply(g.ann, told, calledInDiscord+"remember this")
	kept := func() bool {
		for _, message := range g.Standing(g.general) {
			if strings.Contains(message.Content, "I remember this") {
				return true
			}
		}
		return false
	}
	g.until(g.general, "the message is kept", kept)
	root, last := "", time.Now()
	g.until(g.general, "the kept message answers", func() bool {
		if root == "" || strings.Contains(g.last(root), "couldn't find") && time.Since(last) > askAgain {
			last = time.Now()
			root = g.Say(cleo, g.general, calledInDiscord+"who repairs the coffee machine?").ID
		}
		return strings.Contains(g.last(root), "Otto of the third floor")
	})
}
