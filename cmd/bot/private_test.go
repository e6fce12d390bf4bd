package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/discord/discordtest"
	"github.com/cairn-bot/cairn/internal/adapters/slack/slacktest"
)

// readRestricted has a folder read into the index that is for some alone.
func (o *program) readRestricted(audience string) {
	o.t.Helper()
	folder := filepath.Join(o.t.TempDir(), "management")
	if err := os.Mkdir(folder, 0o700); err != nil {
		o.t.Fatal(err)
	}
	for name, text := range map[string]string{
		".cairn.yaml": "audience: [\"" + audience + "\"]\n",
		"laptops.md":  "# Laptops of the management\n\nManagers get a golden laptop from the vault.\n",
		"leave.md":    "# Leave of the management\n\nManagers have 99 days of leave a year.\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			o.t.Fatal(err)
		}
	}
	if out, err := o.command("ingest", "-q", folder).CombinedOutput(); err != nil {
		o.t.Fatalf("ingest: %v\n%s", err, out)
	}
}

// TestThePrivateOfferInSlack has Ann ask in a channel about what only she may read: the
// channel is told the rest, she is offered more, and answered in her direct conversation.
func TestThePrivateOfferInSlack(t *testing.T) {
	o := newOffice(t, "http")
	o.ann.Confirm("ann@example.com")
	o.readRestricted("user:ann@example.com")
	p := o.serve()
	root := o.ann.Says(o.general, "", mention+"where do managers get a laptop?")
	for i, secret := range []string{"golden laptop", "99 days"} {
		o.until("an offer", func() bool { return len(o.offers()) == i+1 })
		offer := o.offers()[i]
		if offer.Only != "U0ANN" {
			t.Errorf("the offer is shown to %q", offer.Only)
		}
		o.ann.PressesOld(offer, "Answer me in private")
		o.until("the private answer", func() bool { return strings.Contains(o.Show(o.ann.DM()), secret) })
		if i == 0 {
			o.ann.Says(o.general, root, "how many days of leave do managers have?")
		}
	}
	p.end(syscall.SIGTERM)
	shown := o.Show(o.general)
	if strings.Contains(shown, "golden") || strings.Contains(shown, "99 days") {
		t.Errorf("the channel is told\n%s", shown)
	}
	if got := strings.Count(o.Show(o.ann.DM()), "You asked: "); got != 2 {
		t.Errorf("%d private conversations were begun\n%s", got, o.Show(o.ann.DM()))
	}
	for _, call := range o.Refused() {
		t.Errorf("%s was refused: %s, %v", call.Method, call.Error, call.Args)
	}
}

// offers are the messages in the channel that offer a private answer.
func (o *office) offers() []slacktest.Message {
	var found []slacktest.Message
	for _, message := range o.Messages(o.general) {
		if strings.Contains(string(message.Blocks), "Answer me in private") && !message.Deleted {
			found = append(found, message)
		}
	}
	return found
}

// TestThePrivateOfferInDiscord is the same in Discord, where the offer itself is made in the
// direct conversation.
func TestThePrivateOfferInDiscord(t *testing.T) {
	g := newGuild(t, "gateway")
	g.readRestricted("user:discord:" + g.ann)
	p := g.serve()
	direct := g.DM(g.ann)
	offers := func() []discordtest.Message {
		var found []discordtest.Message
		for _, message := range g.Standing(direct) {
			if strings.Contains(message.Content, "I can answer you in private") {
				found = append(found, message)
			}
		}
		return found
	}
	asked := g.Say(g.ann, g.general, "<@"+discordtest.Bot+"> where do managers get a laptop?")
	g.until(direct, "an offer", func() bool { return len(offers()) == 1 })
	g.Press(g.ann, offers()[0].ID, "Answer me in private")
	g.until(direct, "the private answer", func() bool { return strings.Contains(g.Show(direct), "golden laptop") })
	thread := asked.ID
	g.Say(g.ann, thread, "<@"+discordtest.Bot+"> how many days of leave do managers have?")
	g.until(direct, "another offer", func() bool { return len(offers()) == 2 })
	g.Press(g.ann, offers()[1].ID, "Answer me in private")
	g.until(direct, "the second private answer", func() bool { return strings.Contains(g.Show(direct), "99 days") })
	p.end(syscall.SIGTERM)
	if shown := g.Show(g.general); strings.Contains(shown, "golden") || strings.Contains(shown, "99 days") {
		t.Errorf("the channel is told\n%s", shown)
	}
	for _, call := range g.Refused() {
		t.Errorf("refused: %+v", call)
	}
}

// TestSuggestionsAreOfTheLatestOfAllDocuments has Ann open the conversation with the bot, and its
// home tab, in a team with more documents than are listed at once: she is offered those that
// changed last, and told how many there are.
func TestSuggestionsAreOfTheLatestOfAllDocuments(t *testing.T) {
	o := newOffice(t, "http")
	folder, now := filepath.Join(t.TempDir(), "rules"), time.Now()
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	const documents = 600
	for n := range documents {
		path := filepath.Join(folder, fmt.Sprintf("rule-%03d.md", n))
		if err := os.WriteFile(path, fmt.Appendf(nil, "# Rule %d\n\nSee it.\n", n), 0o600); err != nil {
			t.Fatal(err)
		}
		changed := now.Add(time.Duration(n-documents) * time.Hour)
		if n == documents/2 {
			changed = now.Add(time.Hour)
		}
		if err := os.Chtimes(path, changed, changed); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := o.command("ingest", "-q", folder).CombinedOutput(); err != nil {
		t.Fatalf("ingest: %v\n%s", err, out)
	}
	p := o.serve()
	direct := o.ann.OpensDM()
	o.until("suggestions", func() bool { return len(o.Prompts(direct)) > 0 })
	if got := o.Prompts(direct)[0].Title; got != fmt.Sprint("Rule ", documents/2) {
		t.Errorf("suggested first is %q of %+v", got, o.Prompts(direct))
	}
	o.ann.OpensHome()
	o.until("the home tab", func() bool { return len(o.Home("U0ANN")) > 0 })
	if got := string(o.Home("U0ANN")); !strings.Contains(got, fmt.Sprint(documents, " documents")) {
		t.Errorf("the home tab shows %s", got)
	}
	p.end(syscall.SIGTERM)
}
