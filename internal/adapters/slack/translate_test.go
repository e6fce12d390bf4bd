package slack

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/interact"
	"github.com/cairn-bot/cairn/internal/chat/settings"
)

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
	var is struct{ Type, Command string }
	if err := json.Unmarshal(payload, &is); err != nil {
		t.Fatal(err)
	}
	var found signal
	var err error
	switch {
	case is.Type == "event_callback":
		found, err = translateEvent(payload, "")
	case is.Command != "":
		var fields map[string]string
		if err := json.Unmarshal(payload, &fields); err != nil {
			t.Fatal(err)
		}
		form := url.Values{}
		for name, value := range fields {
			form.Set(name, value)
		}
		found = parseCommand(form, time.Unix(1770000000, 0))
	default:
		found, err = parseInteraction(payload)
	}
	if err != nil {
		t.Fatal(err)
	}
	return found
}

var kinds = map[kind]string{
	kindIgnored: "ignored", kindSaid: "said", kindEdited: "edited", kindRetracted: "retracted", kindPressed: "pressed",
	kindAsked: "asked", kindSubmitted: "submitted", kindOpened: "opened", kindHalted: "halted", kindLeft: "left", kindLimited: "limited", kindReacted: "reacted",
}

// line tells a signal in one line.
func line(of signal) string {
	if of.kind == kindIgnored {
		return "ignored: " + of.reason
	}
	out := kinds[of.kind]
	if of.direct {
		out += " directly"
	}
	if of.called {
		out += " to the bot"
	}
	if of.toOther {
		out += " to somebody else"
	}
	out += fmt.Sprintf(": %s %s in %s by %s", of.message.ID, quoted(of.message.Text), of.message.Thread, of.message.Author)
	if of.message.Answers != nil {
		out += fmt.Sprintf(", choice %s of %s", of.message.Answers.Choice, of.message.Answers.Question)
	}
	for _, file := range of.message.Files {
		out += ", with " + file.Name
	}
	return out
}

func quoted(text string) string {
	if text == "" {
		return "nothing"
	}
	return fmt.Sprintf("%q", text)
}

func TestRecordedTraffic(t *testing.T) {
	const (
		notOurs = "ignored: a press of a button that is not Cairn's"
		closed  = "ignored: a modal that asks for nothing was closed"
	)
	table := map[string]map[string]string{
		"mentions": {
			"mention":  `said to the bot: 1767224888.280449 "Hey" in slack:T00FAKE00AA:C00FAKECHAN1:1767224888.280449 by U00FAKEUSER1`,
			"followUp": `said: 1767224901.701849 "Hi" in slack:T00FAKE00AA:C00FAKECHAN1:1767224888.280449 by U00FAKEUSER1`,
		},
		"direct": {
			"mention":   `said to the bot: 1767376988.871629 "Hey" in slack:T00FAKE00AA:C00FAKECHAN1:1767376988.871629 by U00FAKEUSER1`,
			"dmRequest": `said: 1767376993.596659 "DM me" in slack:T00FAKE00AA:C00FAKECHAN1:1767376988.871629 by U00FAKEUSER1`,
			"dmMessage": `said directly: 1767377001.319859 "Hey!" in slack:T00FAKE00AA:D0A5319PS02:1767377001.319859 by U00FAKEUSER1`,
		},
		"actions": {
			"mention":            `said to the bot: 1767326125.870439 "Test" in slack:T00FAKE00AA:C00FAKECHAN1:1767326125.870439 by U00FAKEUSER1`,
			"action":             notOurs,
			"reaction":           "reacted:  nothing in  by ",
			"staticSelectAction": notOurs,
			"radioButtonsAction": notOurs,
		},
		"modals": {
			"mention":                 `said to the bot: 1769220155.940449 "Hello" in slack:T00FAKE00BB:C00FAKECHAN2:1769220155.940449 by U00FAKEUSER2`,
			"action":                  notOurs,
			"viewSubmission":          closed,
			"ephemeralAction":         notOurs,
			"ephemeralViewSubmission": closed,
		},
		"commands": {
			"slashCommand":         `asked: command/10520020890661.10229338706656.2e2188a074adf3bf9f8456b30180f405 "/cairn help" in slack:T00FAKE00BB:C00FAKECHAN3:U00FAKEUSER2/10520020890661.10229338706656.2e2188a074adf3bf9f8456b30180f405 by U00FAKEUSER2`,
			"slashCommandWithArgs": `asked: command/10520020890661.10229338706656.2e2188a074adf3bf9f8456b30180f405 "/cairn some arguments here" in slack:T00FAKE00BB:C00FAKECHAN3:U00FAKEUSER2/10520020890661.10229338706656.2e2188a074adf3bf9f8456b30180f405 by U00FAKEUSER2`,
			"viewSubmission":       closed,
		},
		"streaming": {
			"aiMention":         `said to the bot: 1767406613.568609 "AI What is love?" in slack:T00FAKE00AA:C00FAKECHAN1:1767406613.568609 by U00FAKEUSER1`,
			"followUp":          `said: 1767406631.679539 "Who are you?" in slack:T00FAKE00AA:C00FAKECHAN1:1767406613.568609 by U00FAKEUSER1`,
			"aiMentionWithFile": `said to the bot: 1770241970.822989 "[AI] I don't really understand this explanation." in slack:T00FAKE00BB:C00FAKECHAN3:1770241970.822989 by U00FAKEUSER2, with image.png`,
			"promptMessage":     `ignored: a message of a bot`,
			"buttonAction":      notOurs,
			"threadFollowUp":    `said: 1775407883.655979 "ping?" in slack:T08REALTEAM1:C08REALCHAN1:1775407823.782829 by U08REALUSER1`,
		},
		"workspace": {
			"mention": `said to the bot: 1770676954.663639 "testing" in slack:T0A8YAUUGMU:C0A9D9RTBMF:1770676954.663639 by U0A8WUV28QM`,
		},
		"edit": {
			"original": `said: 1775407883.655979 "ping?" in slack:T08REALTEAM1:C08REALCHAN1:1775407823.782829 by U08REALUSER1`,
			"changed":  `edited: 1775407883.655979 "ping? I meant the staging cluster" in slack:T08REALTEAM1:C08REALCHAN1:1775407823.782829 by U08REALUSER1`,
			"deleted":  `retracted: 1775407883.655979 "ping? I meant the staging cluster" in slack:T08REALTEAM1:C08REALCHAN1:1775407823.782829 by U08REALUSER1`,
		},
	}
	for file, wants := range table {
		payloads := recorded(t, file)
		if len(payloads) != len(wants) {
			t.Errorf("%s holds %d payloads, the table %d", file, len(payloads), len(wants))
		}
		for name, payload := range payloads {
			if got := line(meaningOf(t, payload)); got != wants[name] {
				t.Errorf("%s %s:\n got %s\nwant %s", file, name, got, wants[name])
			}
		}
	}
}

// event is an envelope around an event.
func event(inner string) []byte {
	return []byte(`{"type":"event_callback","team_id":"T1","event_id":"Ev1","authorizations":[{"user_id":"UBOT","is_bot":true}],"event":` + inner + `}`)
}

func TestEventsThatNobodyRecorded(t *testing.T) {
	for name, test := range map[string]struct{ inner, want string }{
		"own message":     {`{"type":"message","user":"UBOT","text":"x","ts":"1.1","channel":"C1"}`, "ignored: a message of a bot"},
		"another bot":     {`{"type":"message","user":"U9","bot_id":"B9","text":"<@UBOT> x","ts":"1.1","channel":"C1"}`, "ignored: a message of a bot"},
		"a bot mentions":  {`{"type":"app_mention","user":"U9","bot_id":"B9","text":"<@UBOT> x","ts":"1.1","channel":"C1"}`, "ignored: a message of a bot"},
		"bot_message":     {`{"type":"message","subtype":"bot_message","text":"x","ts":"1.1","channel":"C1"}`, `ignored: messages of subtype "bot_message" are not what a person says`},
		"joined":          {`{"type":"message","subtype":"channel_join","user":"U1","ts":"1.1","channel":"C1"}`, `ignored: messages of subtype "channel_join" are not what a person says`},
		"file":            {`{"type":"message","subtype":"file_share","user":"U1","text":"see <@UBOT>","ts":"1.1","channel":"C1","files":[{"name":"a.md"}]}`, `said to the bot: 1.1 "see" in slack:T1:C1:1.1 by U1, with a.md`},
		"broadcast":       {`{"type":"message","subtype":"thread_broadcast","user":"U1","text":"so","ts":"1.2","thread_ts":"1.1","channel":"C1"}`, `said: 1.2 "so" in slack:T1:C1:1.1 by U1`},
		"own edit":        {`{"type":"message","subtype":"message_changed","channel":"C1","message":{"user":"UBOT","text":"y","ts":"1.1"},"previous_message":{"user":"UBOT","text":"x","ts":"1.1"}}`, "ignored: a changed message that is not a person's"},
		"unfurled":        {`{"type":"message","subtype":"message_changed","channel":"C1","message":{"user":"U1","text":"x","ts":"1.1"},"previous_message":{"user":"U1","text":"x","ts":"1.1"}}`, "ignored: a changed message that says the same: Slack unfurled a link, or counted a reply"},
		"own deletion":    {`{"type":"message","subtype":"message_deleted","channel":"C1","deleted_ts":"1.1","previous_message":{"user":"UBOT","ts":"1.1"}}`, "ignored: a deleted message that was not a person's"},
		"unknown block":   {`{"type":"message","user":"U1","text":"x","ts":"1.1","channel":"C1","blocks":[{"type":"hologram","elements":7}]}`, `said: 1.1 "x" in slack:T1:C1:1.1 by U1`},
		"to somebody":     {`{"type":"message","user":"U1","text":"<@U2|Ben> &lt;look&gt; &amp; <https://a.example|a.example> <https://b.example/x|the page> <#C2|ops> <!here>","ts":"1.1","channel":"C1"}`, `said to somebody else: 1.1 "@Ben <look> & a.example the page (https://b.example/x) #ops @here" in slack:T1:C1:1.1 by U1`},
		"channel renamed": {`{"type":"channel_rename","channel":{"id":"C1","name":"n"}}`, `ignored: events of type "channel_rename" mean nothing to Cairn`},
		"team joined":     {`{"type":"team_join","user":{"id":"U1"}}`, `ignored: events of type "team_join" mean nothing to Cairn`},
		"odd channel":     {`{"type":"message","user":"U1","text":"x","ts":"1.1","channel":"C:1"}`, "ignored: a message of no channel or time"},
		"odd time":        {`{"type":"message","user":"U1","text":"x","ts":"1:1","channel":"C1"}`, "ignored: a message of no channel or time"},
	} {
		found, err := translateEvent(event(test.inner), "")
		if err != nil || line(found) != test.want {
			t.Errorf("%s:\n got %s %v\nwant %s", name, line(found), err, test.want)
		}
	}
}

func TestAMentionHasOneIdentityInItsTwoDeliveries(t *testing.T) {
	mention, err := translateEvent([]byte(strings.Replace(string(event(`{"type":"app_mention","user":"U1","text":"<@UBOT> x","ts":"1.1","channel":"C1"}`)), "Ev1", "Ev2", 1)), "")
	if err != nil {
		t.Fatal(err)
	}
	message, err := translateEvent(event(`{"type":"message","user":"U1","text":"<@UBOT> x","ts":"1.1","channel":"C1","channel_type":"channel"}`), "")
	if err != nil {
		t.Fatal(err)
	}
	one, two := mention.dedupeKeys(), message.dedupeKeys()
	if one[0] == two[0] || one[1] != two[1] || mention.message.Thread != message.message.Thread || mention.message.ID != message.message.ID {
		t.Errorf("%q and %q", one, two)
	}
}

func TestPresses(t *testing.T) {
	press := func(container, action string) string {
		found, err := parseInteraction([]byte(`{"type":"block_actions","team":{"id":"T1"},"user":{"id":"U1A"},"trigger_id":"t","container":` + container + `,"actions":[` + action + `]}`))
		if err != nil {
			t.Fatal(err)
		}
		return line(found)
	}
	const inThread = `{"type":"message","message_ts":"1.2","thread_ts":"1.1","channel_id":"C1"}`
	private := `{"type":"message","message_ts":"1.2","channel_id":"C1","is_ephemeral":true}`
	for name, test := range map[string]struct{ container, action, want string }{
		"choice":         {inThread, `{"action_id":"answer:q:7:0","value":"api","action_ts":"2.2","text":{"text":"The API"}}`, `pressed: press/U1A/2.2 "The API" in slack:T1:C1:1.1 by U1A, choice api of q:7`},
		"field":          {inThread, `{"action_id":"reply:q7","value":" the other one ","action_ts":"2.2"}`, `pressed: press/U1A/2.2 "the other one" in slack:T1:C1:1.1 by U1A`},
		"empty field":    {inThread, `{"action_id":"reply:q7","value":" ","action_ts":"2.2"}`, "ignored: an empty answer"},
		"top of channel": {`{"message_ts":"1.2","channel_id":"C1"}`, `{"action_id":"why:r1","action_ts":"2.2"}`, `pressed: press/U1A/2.2 nothing in slack:T1:C1:1.2 by U1A`},
		"private":        {private, `{"action_id":"why:r1","block_id":"in0/slack:T1:C1:U1A/t.1","action_ts":"2.2"}`, `pressed: press/U1A/2.2 nothing in slack:T1:C1:U1A/t.1 by U1A`},
		"another's":      {private, `{"action_id":"why:r1","block_id":"in0/slack:T1:C1:U2B/t.1","action_ts":"2.2"}`, "ignored: a press in a thread that is not the person's"},
		"another team's": {private, `{"action_id":"why:r1","block_id":"in0/slack:T2:C1:U1A/t.1","action_ts":"2.2"}`, "ignored: a press in a thread that is not the person's"},
		"unknown":        {inThread, `{"action_id":"explode:r1","action_ts":"2.2"}`, "ignored: a press of a button that is not Cairn's"},
	} {
		if got := press(test.container, test.action); got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, test.want)
		}
	}
}

func TestHears(t *testing.T) {
	inThread := signal{reply: true}
	for _, test := range []struct {
		text string
		of   signal
		how  settings.Mode
		now  interact.Part
		want bool
	}{
		{"hello", signal{direct: true}, settings.ModeOff, interact.Part{}, true},
		{"hello", signal{called: true}, settings.ModeMention, interact.Part{}, true},
		{"hello", signal{called: true}, settings.ModeOff, interact.Part{}, false},
		{"hello", signal{}, settings.ModeMention, interact.Part{}, false},
		{"and on staging?", inThread, settings.ModeMention, interact.Part{Taken: true}, true},
		{"and on staging?", inThread, settings.ModeMention, interact.Part{}, false},
		{"and on staging?", inThread, settings.ModeThread, interact.Part{}, true},
		{"see you", inThread, settings.ModeThread, interact.Part{}, false},
		{"thanks!", inThread, settings.ModeMention, interact.Part{Taken: true}, false},
		{"ok", inThread, settings.ModeMention, interact.Part{Taken: true, Waiting: true}, true},
		{"what do you think?", signal{reply: true, toOther: true}, settings.ModeMention, interact.Part{Taken: true}, false},
		{"how do I deploy", signal{}, settings.ModeQuestions, interact.Part{}, true},
		{"deployed it", signal{}, settings.ModeQuestions, interact.Part{}, false},
		{"how do I deploy?", signal{}, settings.ModeThread, interact.Part{}, false},
	} {
		test.of.message.Text = test.text
		if got := test.of.toIncoming(test.how).Decide(test.now); got.Hear != test.want {
			t.Errorf("%q, %s, %+v: %+v", test.text, test.how, test.now, got)
		}
	}
}

func TestThreadIDsAreReadBack(t *testing.T) {
	for _, at := range []place{
		{team: "T1", channel: "C1", root: "1772445600.123456"},
		{team: "T1", channel: "D1", private: "U0ANN", request: "12.34.abc"},
		{team: "T1", channel: "C1", whole: true},
	} {
		got, err := parseThread(at.threadID())
		if err != nil || got != at {
			t.Errorf("%q is %+v, %v", at.threadID(), got, err)
		}
	}
	for _, id := range []chat.ThreadID{"", "slack:", "web:K7", "slack:T1:C1:", "slack:T1:C1:x", "slack:T1:C1:U1", "slack::C1:1.1", "slack:T1:C1:x/1"} {
		if at, err := parseThread(id); err == nil {
			t.Errorf("%q is %+v", id, at)
		}
	}
}

func FuzzTranslate(f *testing.F) {
	for _, file := range []string{"mentions", "direct", "actions", "modals", "commands", "streaming", "workspace", "edit"} {
		for _, payload := range recorded(f, file) {
			f.Add([]byte(payload))
		}
	}
	f.Add(event(`{"type":"message","user":"U1","text":"<@UBOT><!here|x><https://a|b>","ts":"1.1","channel":"C1"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		form := url.Values{"team_id": {"T1"}, "channel_id": {"C1"}, "user_id": {"U1A"}, "trigger_id": {string(body)}, "text": {string(body)}}
		found := []signal{parseCommand(form, time.Unix(0, 0))}
		if event, err := translateEvent(body, "UBOT"); err == nil {
			found = append(found, event)
		}
		if press, err := parseInteraction(body); err == nil {
			found = append(found, press)
		}
		for _, of := range found {
			switch of.kind {
			case kindIgnored:
				if of.reason == "" {
					t.Errorf("ignored without a reason: %+v", of)
				}
			case kindSubmitted:
				if !of.place.isValid() || of.by == "" {
					t.Errorf("a form of nobody: %+v", of)
				}
			case kindSaid, kindEdited, kindRetracted, kindPressed, kindAsked:
				if at, err := parseThread(of.message.Thread); err != nil || at != of.place {
					t.Errorf("thread %q of %+v: %v", of.message.Thread, of.place, err)
				}
				if of.message.ID == "" || of.message.Author == "" {
					t.Errorf("a message of nobody: %+v", of.message)
				}
			}
		}
	})
}

func TestAssistantThreadsAreGreeted(t *testing.T) {
	found, err := translateEvent(event(`{"type":"assistant_thread_started","assistant_thread":{"user_id":"U1","channel_id":"D1","thread_ts":"1.1"}}`), "")
	if err != nil || found.kind != kindOpened || found.tab != "messages" || found.place != (place{team: "T1", channel: "D1", root: "1.1"}) {
		t.Errorf("%+v, %v", found, err)
	}
}
