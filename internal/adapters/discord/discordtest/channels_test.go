package discordtest_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/discord/discordtest"
)

func TestThreads(t *testing.T) {
	p := newPlace(t, discordtest.Options{})
	asked := p.Say(p.ann, p.general, "how?")
	from := "/channels/" + p.general + "/messages/" + asked.ID + "/threads"
	p.want("a name of 101", p.call("POST", from, `{"name":"`+strings.Repeat("n", 101)+`"}`), 400, 50035)
	p.want("no name", p.call("POST", from, `{"name":" "}`), 400, 50035)
	p.want("an odd time", p.call("POST", from, `{"name":"n","auto_archive_duration":30}`), 400, 50035)
	made := p.want("a thread", p.call("POST", from, `{"name":"n","auto_archive_duration":60}`), 201, 0)
	p.want("a second one", p.call("POST", from, `{"name":"n"}`), 400, 160004)
	p.want("one from a message that isn't there", p.call("POST", "/channels/"+p.general+"/messages/1/threads", `{"name":"n"}`), 404, 10008)
	p.want("one in the thread", p.call("POST", "/channels/"+made.ID+"/messages/"+asked.ID+"/threads", `{"name":"n"}`), 400, 50024)
	said := p.want("a message", p.post(made.ID, `{"content":"so"}`), 200, 0)

	p.Archive(made.ID, true, false)
	p.want("an edit in an archived thread", p.call("PATCH", "/channels/"+made.ID+"/messages/"+said.ID, `{"content":"x"}`), 400, 50083)
	p.want("a message wakes it", p.post(made.ID, `{"content":"more"}`), 200, 0)
	if got := p.call("GET", "/channels/"+made.ID, ""); !strings.Contains(got.Body, `"archived":false`) {
		t.Errorf("after a message: %s", got.Body)
	}
	p.Archive(made.ID, true, true)
	p.want("a locked one sleeps on", p.post(made.ID, `{"content":"x"}`), 403, 160005)
	if got := p.call("GET", "/guilds/"+p.team.ID+"/threads/active", ""); strings.Contains(got.Body, made.ID) {
		t.Errorf("active threads: %s", got.Body)
	}
	if got := p.call("GET", "/channels/"+p.general+"/threads/archived/public", ""); !strings.Contains(got.Body, made.ID) {
		t.Errorf("archived threads: %s", got.Body)
	}
	alone := p.want("without a message", p.call("POST", "/channels/"+p.general+"/threads", `{"name":"alone","type":11}`), 201, 0)
	p.want("renamed", p.call("PATCH", "/channels/"+alone.ID, `{"name":"other"}`), 200, 0)
	p.want("locked by one who may not", p.call("PATCH", "/channels/"+alone.ID, `{"locked":true}`), 403, 50013)
	if got := strings.Join(p.Threads(p.general), " "); got != made.ID+" "+alone.ID {
		t.Errorf("threads: %s", got)
	}
}

func TestForums(t *testing.T) {
	p := newPlace(t, discordtest.Options{})
	forum := p.team.Forum("help")
	p.want("a message in a forum", p.post(forum, `{"content":"x"}`), 400, 50008)
	p.want("a post without message", p.call("POST", "/channels/"+forum+"/threads", `{"name":"n"}`), 400, 50035)
	p.want("a post of nothing", p.call("POST", "/channels/"+forum+"/threads", `{"name":"n","message":{}}`), 400, 50006)
	p.want("a post", p.call("POST", "/channels/"+forum+"/threads", `{"name":"News","message":{"content":"Read this."}}`), 201, 0)
	opened := p.OpenPost(p.ann, forum, "Deploys fail", discordtest.Posting{Text: "Since today."})
	p.want("an answer", p.post(opened, `{"content":"Why?"}`), 200, 0)
	want := `== #help ==
    -- thread: News --
    09:00:00 Cairn:
      Read this.
    -- thread: Deploys fail --
    09:00:00 Ann:
      Since today.
    09:00:00 Cairn:
      Why?
`
	if got := p.Show(forum); got != want {
		t.Errorf("the forum reads\n%s\nwant\n%s", got, want)
	}
}

func TestPermissionsAreAsked(t *testing.T) {
	p := newPlace(t, discordtest.Options{})
	asked := p.Say(p.ann, p.general, "how?")
	deny := func(what discordtest.Permissions) { p.Overwrite(p.general, p.team.ID, 0, what) }
	messages := "/channels/" + p.general + "/messages"

	deny(discordtest.SendMessages)
	p.want("a message", p.post(p.general, `{"content":"x"}`), 403, 50013)
	p.want("typing", p.call("POST", "/channels/"+p.general+"/typing", ""), 403, 50013)
	deny(discordtest.EmbedLinks)
	p.want("an embed", p.post(p.general, `{"embeds":[{"title":"t"}]}`), 403, 50013)
	deny(discordtest.CreatePublicThreads)
	p.want("a thread", p.call("POST", messages+"/"+asked.ID+"/threads", `{"name":"n"}`), 403, 50013)
	deny(discordtest.ReadMessageHistory)
	p.want("a reply", p.post(p.general, `{"content":"x","message_reference":{"message_id":"`+asked.ID+`"}}`), 403, 160002)
	if got := p.call("GET", messages, ""); got.Body != "[]\n" {
		t.Errorf("the past without the permission to read it: %s", got.Body)
	}
	deny(discordtest.ViewChannel)
	p.want("anything", p.call("GET", "/channels/"+p.general, ""), 403, 50001)
	role := p.team.Role("bots", 0)
	p.team.Join(discordtest.Bot, role)
	p.Overwrite(p.general, role, discordtest.ViewChannel|discordtest.SendMessages, 0)
	p.want("a role allows what everybody is denied", p.post(p.general, `{"content":"x"}`), 200, 0)

	p.Overwrite(p.general, p.team.ID, 0, 0)
	p.want("somebody else's message", p.call("PATCH", messages+"/"+asked.ID, `{"content":"x"}`), 403, 50005)
	p.want("its deletion", p.call("DELETE", messages+"/"+asked.ID, ""), 403, 50013)
	p.want("no channel", p.call("GET", "/channels/1", ""), 404, 10003)
	p.want("no message", p.call("GET", messages+"/1", ""), 404, 10008)
	p.want("no member", p.call("GET", "/guilds/"+p.team.ID+"/members/1", ""), 404, 10007)
	p.CloseDMs(p.ann)
	p.want("a closed door", p.post(p.DM(p.ann), `{"content":"x"}`), 403, 50007)
	p.team.RemoveApp()
	p.want("a server that was left", p.call("GET", "/guilds/"+p.team.ID, ""), 403, 50001)
}

func TestWhoHasNoRightIsRefused(t *testing.T) {
	p := newPlace(t, discordtest.Options{})
	p.want("a token of nobody's", p.call("POST", "/webhooks/"+discordtest.AppID+"/nothing", `{"content":"x"}`), 401, 50027)
	p.want("another's webhook", p.call("POST", "/webhooks/1/nothing", `{"content":"x"}`), 404, 10015)
	p.want("no such interaction", p.call("POST", "/interactions/1/nothing/callback", `{"type":5}`), 404, 10062)
	if got := p.Refused(); len(got) != 3 || got[0].Route != "POST /webhooks/{webhook}/{token}" || string(got[0].Body) != `{"content":"x"}` {
		t.Errorf("refused: %+v", got)
	}
	if p.InvalidRequests() != 1 {
		t.Errorf("%d invalid requests, want the 401", p.InvalidRequests())
	}
}

func TestThePastIsReadInPages(t *testing.T) {
	p := newPlace(t, discordtest.Options{MessageContent: true})
	var ids []string
	for range 5 {
		ids = append(ids, p.Say(p.ann, p.general, "x").ID)
		p.clock.Advance(time.Second)
	}
	for query, want := range map[string][]string{
		"?limit=2":                        {ids[4], ids[3]},
		"?limit=2&before=" + ids[3]:       {ids[2], ids[1]},
		"?limit=2&after=" + ids[0]:        {ids[2], ids[1]},
		"?limit=100&after=" + ids[3]:      {ids[4]},
		"?limit=100&before=" + ids[0]:     {},
		"?after=" + ids[1] + "&limit=100": {ids[4], ids[3], ids[2]},
	} {
		var page []struct{ ID string }
		if err := json.Unmarshal([]byte(p.call("GET", "/channels/"+p.general+"/messages"+query, "").Body), &page); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, said := range page {
			got = append(got, said.ID)
		}
		if strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("%s: %v, want %v", query, got, want)
		}
	}
	p.want("101 at once", p.call("GET", "/channels/"+p.general+"/messages?limit=101", ""), 400, 50035)
}

func TestTheContentIntentDecidesWhatIsSeen(t *testing.T) {
	for _, granted := range []bool{false, true} {
		p := newPlace(t, discordtest.Options{MessageContent: granted})
		own := p.post(p.general, `{"content":"own"}`).ID
		cases := map[string]struct {
			id      string
			visible bool
		}{
			"plain":    {p.Say(p.ann, p.general, "plain").ID, granted},
			"mention":  {p.Say(p.ann, p.general, "<@"+discordtest.Bot+"> mention").ID, true},
			"reply":    {p.Reply(p.ann, own, "reply").ID, true},
			"silent":   {p.Post(p.ann, p.general, discordtest.Posting{Text: "silent", ReplyTo: own, Silent: true}).ID, granted},
			"own":      {own, true},
			"directly": {p.Say(p.ann, p.DM(p.ann), "directly").ID, true},
		}
		for name, is := range cases {
			channel := p.general
			if name == "directly" {
				channel = p.DM(p.ann)
			}
			got := p.call("GET", "/channels/"+channel+"/messages/"+is.id, "").Content
			if strings.Contains(got, name) != is.visible || got == "" == is.visible {
				t.Errorf("granted %v: %s by the API reads %q, want it visible: %v", granted, name, got, is.visible)
			}
		}
		for _, event := range p.Events("MESSAGE_CREATE") {
			var said struct{ ID, Content string }
			if err := json.Unmarshal(event.Data, &said); err != nil {
				t.Fatal(err)
			}
			for name, is := range cases {
				if is.id == said.ID && strings.Contains(said.Content, name) != is.visible {
					t.Errorf("granted %v: %s by the gateway reads %q", granted, name, said.Content)
				}
			}
		}
	}
}
