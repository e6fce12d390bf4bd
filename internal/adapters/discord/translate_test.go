package discord

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/interact"
	"github.com/cairn-bot/cairn/internal/chat/settings"
)

// recordedBot is the bot of the recorded traffic, recordedRole its role in the server.
const (
	recordedBot  = "1457469483726668048"
	recordedRole = "1457473602180878604"
)

func recordedIdentity() identity {
	return identity{user: recordedBot, role: func(string) string { return recordedRole }}
}

// recorded reads one file of recorded payloads.
func recorded(t testing.TB, name string) map[string]json.RawMessage {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "recorded", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var payloads map[string]json.RawMessage
	if err := json.Unmarshal(raw, &payloads); err != nil {
		t.Fatal(err)
	}
	return payloads
}

// meaningOf translates a payload of any kind.
func meaningOf(t testing.TB, payload json.RawMessage) signal {
	t.Helper()
	var is struct {
		Type json.RawMessage
		Data json.RawMessage
		T    string
		D    json.RawMessage
	}
	if err := json.Unmarshal(payload, &is); err != nil {
		t.Fatal(err)
	}
	event, data := "INTERACTION_CREATE", payload
	var wrapped string
	if json.Unmarshal(is.Type, &wrapped) == nil {
		event, data = strings.TrimPrefix(wrapped, "GATEWAY_"), is.Data
	}
	if is.T != "" {
		event, data = is.T, is.D
	}
	found, err := translateEvent(event, data, recordedIdentity())
	if err != nil {
		t.Fatal(err)
	}
	return found
}

var kinds = map[kind]string{
	kindIgnored: "ignored", kindSaid: "said", kindEdited: "edited", kindRetracted: "retracted", kindLearned: "learned", kindPressed: "pressed",
	kindCommanded: "commanded", kindCompleted: "completed", kindManaged: "managed", kindPinged: "pinged",
}

// line tells a signal in one line.
func line(of signal) string {
	out := kinds[of.kind]
	switch of.kind {
	case kindIgnored:
		return out + ": " + of.reason
	case kindLearned:
		var names []string
		for _, channel := range of.learned {
			names = append(names, fmt.Sprintf("%s of type %d in %s", channel.ID, channel.Type, channel.ParentID))
		}
		return out + ": " + strings.Join(names, ", ")
	case kindRetracted:
		return fmt.Sprintf("%s: %s in %s", out, strings.Join(of.gone, ", "), of.at.channel)
	}
	if of.called {
		out += " to the bot"
	}
	if of.toOther {
		out += " to somebody else"
	}
	text := "nothing"
	if of.message.Text != "" {
		text = fmt.Sprintf("%q", of.message.Text)
	}
	out += fmt.Sprintf(": %s %s in %s by %s at %s", of.message.ID, text, of.conversationPlace(settings.ReplyInThread).threadID(), of.by, of.message.At.Format("15:04:05"))
	for _, file := range of.message.Files {
		out += ", with " + file.Name
	}
	return out
}

func TestRecordedTraffic(t *testing.T) {
	const (
		notOurs = "ignored: a press of a button that is not Cairn's"
		byBot   = "ignored: a message of a bot"
		thread  = "discord:1457468924290662599:1457536551830421524"
	)
	for file, table := range map[string]map[string]string{
		"traffic": {
			"gatewayMention":           `said to the bot: 1457510428359004343.1457536551830421524 "Hey" in ` + thread + ` by 1033044521375764530 at 00:49:53`,
			"gatewayAIMention":         `said to the bot: 1457510428359004343.1457536647464747051 "AI What is love" in discord:1457468924290662599:1457536647464747051 by 1033044521375764530 at 00:50:16`,
			"gatewayRoleMention":       `said to the bot: 1457510428359004343.1457536600000000001 "AI Still there?" in discord:1457468924290662599:1457536600000000001 by 1033044521375764530 at 00:50:00`,
			"gatewaySubscribedMessage": `said: 1457536551830421524.1457536593454825552 "Hey" in ` + thread + ` by 1033044521375764530 at 00:50:03`,
			"gatewayThreadUserHey":     `said: 1457536551830421524.1457536593454825552 "Hey" in ` + thread + ` by 1033044521375764530 at 00:50:03`,
			"gatewayThreadNice":        `said: 1457536551830421524.1457536775990804596 "Nice" in ` + thread + ` by 1033044521375764530 at 00:50:47`,
			"gatewayThreadNum1":        `said: 1457536551830421524.1457536782416613469 "1" in ` + thread + ` by 1033044521375764530 at 00:50:48`,
			"gatewayDMRequest":         `said: 1457536551830421524.1457536952676126810 "DM me" in ` + thread + ` by 1033044521375764530 at 00:51:29`,
			"gatewayThreadDMRequest":   `said: 1457536551830421524.1457536952676126810 "DM me" in ` + thread + ` by 1033044521375764530 at 00:51:29`,
			"gatewayBotWelcome":        byBot,
			"gatewayThreadWelcome":     byBot,
			"gatewayThreadCreate":      "learned: 1457536551830421524 of type 11 in 1457510428359004343",
			"gatewayReactionAdd":       ":  nothing in discord:1457468924290662599:1457536551830421524:1457536955662471180 by 1033044521375764530 at 00:00:00",
			"buttonClickHello":         notOurs,
			"buttonClickMessages":      notOurs,
			"buttonClickInfo":          notOurs,
			"buttonClickGoodbye":       notOurs,
			"dmButtonClick":            notOurs,
			"differentUser":            notOurs,
		},
		"slash": {
			"guild": `commanded: 1457536551830421524..1457540000000000001 "/cairn ask How do I rotate the signing key?" in ` + thread + ` by 1033044521375764530 at 01:03:35`,
			"dm":    `commanded: DM_CHANNEL_123..1457540000000000002 "/cairn ask Who approves travel?" in discord:@me:DM_CHANNEL_123 by 1033044521375764530 at 01:03:35`,
		},
		"edit": {
			"create": `said: 1457536551830421524.1457536593454825552 "Hey" in ` + thread + ` by 1033044521375764530 at 00:50:03`,
			"update": `edited: 1457536551830421524.1457536593454825552 "Hey, which policy applies to contractors?" in ` + thread + ` by 1033044521375764530 at 00:50:31`,
			"delete": "retracted: 1457536593454825552 in 1457536551830421524",
		},
	} {
		payloads := recorded(t, file)
		for name, payload := range payloads {
			if name == "metadata" { // the recorder's own
				continue
			}
			if got := line(meaningOf(t, payload)); table[name] == "" || got != table[name] {
				t.Errorf("%s/%s means\n\t%s\nwant\n\t%s", file, name, got, table[name])
			}
		}
		for name := range table {
			if payloads[name] == nil {
				t.Errorf("there is no %s/%s", file, name)
			}
		}
	}
}

func TestThreadIDs(t *testing.T) {
	for _, at := range []place{
		{guild: "1", channel: "2"}, {guild: directGuild, channel: "2"}, {guild: "1", channel: "2", root: "3"}, {guild: "1", channel: "2", root: "3", private: "4"},
	} {
		if got, err := parseThread(at.threadID()); err != nil || got != at {
			t.Errorf("%s is read as %+v, %v", at.threadID(), got, err)
		}
	}
	for _, id := range []chat.ThreadID{"", "discord:1", "slack:1:2", "discord:1:2:", "discord:1:2:3:4:5", "discord::2", "discord:1:2:3:", "discord:1:2:x y"} {
		if got, err := parseThread(id); err == nil {
			t.Errorf("%q is read as %+v", id, got)
		}
	}
}

func TestSourceIDs(t *testing.T) {
	for _, from := range []source{{channel: "1", message: "2"}, {channel: "1", interaction: "3"}, {channel: "1", message: "2", interaction: "3"}} {
		if got := parseSource(from.messageID()); got != from {
			t.Errorf("%s is read as %+v", from.messageID(), got)
		}
	}
	for _, id := range []chat.MessageID{"", "1", "1.2.3.4", ".2"} {
		if got := parseSource(id); got != (source{}) {
			t.Errorf("%q is read as %+v", id, got)
		}
	}
}

func TestMarks(t *testing.T) {
	for _, m := range []mark{
		{}, {root: "1457536551830421524"}, {key: "KEY000000000000000000001", of: 1}, {key: "k1", index: 3, of: 4, root: "DM_CHANNEL_123", private: true},
		{key: "KEY000000000000000000001", index: 35, of: 35, root: "18446744073709551615", private: true},
	} {
		id, err := customID(interact.CloseHelp, "run-"+strings.Repeat("A", 32), "")
		if err != nil {
			t.Fatal(err)
		}
		id += m.String()
		if len(id) > maxCustomID {
			t.Errorf("%s has %d characters", id, len(id))
		}
		if got, ok := parseAction(id); !ok || got.mark == nil || *got.mark != m {
			t.Errorf("%s is read as %+v, %v", id, got, ok)
		}
	}
}

func FuzzIDs(f *testing.F) {
	for _, seed := range []string{
		"why:run-1~KEY000000000000000000001.01.2f8n!", "answer:q-1:2", "none:~.00._DM_1", "discord:1:2:3:4", "1.2.3", "rate:r:u~k.zz", "~~..",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if does, ok := parseAction(text); ok && does.mark != nil {
			if again, ok := parseMark(strings.TrimPrefix(does.mark.String(), "~")); !ok || again != *does.mark {
				t.Errorf("the mark %+v of %q is read as %+v", *does.mark, text, again)
			}
		}
		if at, err := parseThread(chat.ThreadID(text)); err == nil && string(at.threadID()) != text {
			t.Errorf("%q is read as %+v", text, at)
		}
		if from := parseSource(chat.MessageID(text)); from != (source{}) && parseSource(from.messageID()) != from {
			t.Errorf("%q is read as %+v", text, from)
		}
	})
}

func FuzzTranslate(f *testing.F) {
	for _, file := range []string{"traffic", "slash", "edit"} {
		for _, payload := range recorded(f, file) {
			var is struct {
				Data, D json.RawMessage
			}
			if err := json.Unmarshal(payload, &is); err != nil {
				f.Fatal(err)
			}
			f.Add("INTERACTION_CREATE", []byte(payload))
			f.Add("MESSAGE_CREATE", []byte(is.Data))
			f.Add("MESSAGE_UPDATE", []byte(is.D))
		}
	}
	f.Add("GUILD_CREATE", []byte(`{"id":"1","channels":[{"id":"2"}],"threads":[{}],"roles":[{"id":"3","tags":{"bot_id":"`+recordedBot+`"}}]}`))
	f.Add("MESSAGE_DELETE_BULK", []byte(`{"ids":["1","2"],"channel_id":"3"}`))
	f.Fuzz(func(t *testing.T, event string, data []byte) {
		found, err := translateEvent(event, data, recordedIdentity())
		if err != nil || found.kind == kindIgnored || found.kind == kindLearned || found.kind == kindRetracted || found.kind == kindPinged {
			return
		}
		thread := found.conversationPlace(settings.ReplyInThread).threadID()
		if _, err := parseThread(thread); err != nil && found.kind != kindCompleted && found.kind != kindManaged {
			t.Errorf("%s of %s: %v", kinds[found.kind], data, err)
		}
		if from := parseSource(found.message.ID); from == (source{}) && found.kind != kindCompleted && found.kind != kindManaged {
			t.Errorf("%s of %s: the message is %q", kinds[found.kind], data, found.message.ID)
		}
	})
}
