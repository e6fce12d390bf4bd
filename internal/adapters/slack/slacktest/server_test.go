package slacktest_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/slack-go/slack"

	"github.com/cairn-bot/cairn/internal/adapters/slack/slacktest"
)

var start = time.Date(2026, 3, 14, 15, 0, 0, 0, time.UTC)

func world(t *testing.T) (*slacktest.Server, *slacktest.Manual, *slack.Client) {
	t.Helper()
	clock := slacktest.NewManual(start)
	server := slacktest.New(slacktest.Options{Clock: clock})
	t.Cleanup(server.Close)
	return server, clock, slack.New(slacktest.BotToken, slack.OptionAPIURL(server.APIURL()), slack.OptionAppLevelToken(slacktest.AppToken))
}

// refusal is Slack's name of an error and its messages.
func refusal(err error) (string, []string) {
	var refused slack.SlackErrorResponse
	if errors.As(err, &refused) {
		return refused.Err, refused.ResponseMetadata.Messages
	}
	if err != nil {
		return err.Error(), nil
	}
	return "", nil
}

func mrkdwn(text string) *slack.TextBlockObject {
	return slack.NewTextBlockObject("mrkdwn", text, false, false)
}

func TestRefusesWhatSlackRefuses(t *testing.T) {
	server, clock, api := world(t)
	general := server.Channel("C1", "general")
	section := func(n int) slack.Block {
		return slack.NewSectionBlock(mrkdwn(strings.Repeat("x", n)), nil, nil)
	}
	many := func(n int, of slack.Block) (blocks []slack.Block) {
		for range n {
			blocks = append(blocks, of)
		}
		return blocks
	}
	button := func(label, id, value string) slack.BlockElement {
		return slack.NewButtonBlockElement(id, value, slack.NewTextBlockObject("plain_text", label, false, false))
	}
	row := func(columns int, said string) (cells []slack.TableCell) {
		for range columns {
			cells = append(cells, slack.NewTableRichTextCell(slack.NewRichTextSection(slack.NewRichTextSectionTextElement(said, nil))))
		}
		return cells
	}
	table := func(rows, columns int) *slack.TableBlock {
		block := slack.NewTableBlock("")
		for range rows {
			block.AddRow(row(columns, "c")...)
		}
		return block
	}
	rich := func(elements ...slack.RichTextSectionElement) slack.Block {
		return slack.NewRichTextBlock("", slack.NewRichTextSection(elements...))
	}
	for name, test := range map[string]struct {
		blocks  []slack.Block
		want    string
		message string
	}{
		"50 blocks":             {many(50, slack.NewDividerBlock()), "", ""},
		"51 blocks":             {many(51, slack.NewDividerBlock()), "invalid_blocks", "no more than 50 items allowed [json-pointer:/blocks]"},
		"3,000 characters":      {[]slack.Block{section(3000)}, "", ""},
		"3,001 characters":      {[]slack.Block{section(3001)}, "invalid_blocks", "must be less than 3001 characters [json-pointer:/blocks/0/text/text]"},
		"empty section":         {[]slack.Block{section(0)}, "invalid_blocks", "must be more than 0 characters [json-pointer:/blocks/0/text/text]"},
		"13,000 in all":         {many(5, section(2900)), "msg_blocks_too_long", ""},
		"long button":           {[]slack.Block{slack.NewActionBlock("", button(strings.Repeat("b", 76), "a", ""))}, "invalid_blocks", "must be less than 76 characters [json-pointer:/blocks/0/elements/0/text/text]"},
		"long action id":        {[]slack.Block{slack.NewActionBlock("", button("b", strings.Repeat("a", 256), ""))}, "invalid_blocks", "must be less than 256 characters [json-pointer:/blocks/0/elements/0/action_id]"},
		"same action id":        {[]slack.Block{slack.NewActionBlock("", button("b", "a", ""), button("c", "a", ""))}, "invalid_blocks", `action_id "a" already exists [json-pointer:/blocks/0/elements/1/action_id]`},
		"6 context actions":     {[]slack.Block{slack.NewContextActionsBlock("", many2(6, slack.NewIconButtonBlockElement("trash", slack.NewTextBlockObject("plain_text", "x", false, false), ""))...)}, "invalid_blocks", "no more than 5 items allowed [json-pointer:/blocks/0/elements]"},
		"button among feedback": {[]slack.Block{slack.NewContextActionsBlock("", button("b", "a", ""))}, "invalid_blocks", "unsupported type: button [json-pointer:/blocks/0/elements/0/type]"},
		"12,001 of markdown":    {[]slack.Block{slack.NewMarkdownBlock("", strings.Repeat("m", 6001)), slack.NewMarkdownBlock("", strings.Repeat("m", 6000))}, "invalid_blocks", "markdown blocks must be less than 12001 characters in total [json-pointer:/blocks]"},
		"header in mrkdwn":      {[]slack.Block{slack.NewHeaderBlock(mrkdwn("h"))}, "invalid_blocks", "unsupported type: mrkdwn [json-pointer:/blocks/0/text/type]"},
		"a table":               {[]slack.Block{section(1), table(20, 3).AddRow(slack.NewTableRawTextCell("r"), row(1, "c")[0], row(1, "c")[0])}, "", ""},
		"two tables":            {[]slack.Block{table(1, 1), table(1, 1)}, "invalid_attachments", "only_one_table_allowed [json-pointer:/blocks]"},
		"101 rows":              {[]slack.Block{table(101, 1)}, "invalid_blocks", "no more than 100 items allowed [json-pointer:/blocks/0/rows]"},
		"21 columns":            {[]slack.Block{table(1, 21)}, "invalid_blocks", "no more than 20 items allowed [json-pointer:/blocks/0/rows/0]"},
		"10,001 in cells":       {[]slack.Block{slack.NewTableBlock("").AddRow(slack.NewTableRawTextCell(strings.Repeat("c", 5001)), row(1, strings.Repeat("c", 5000))[0])}, "invalid_blocks", "text of table cells must be less than 10001 characters in total [json-pointer:/blocks]"},
		"an empty cell":         {[]slack.Block{table(1, 1).AddRow(row(1, "")...)}, "invalid_blocks", "must be more than 0 characters [json-pointer:/blocks/0/rows/1/0/elements/0/elements/0/text]"},
		"a cell of nothing":     {[]slack.Block{table(1, 1).AddRow(nil)}, "invalid_blocks", "unsupported type:  [json-pointer:/blocks/0/rows/1/0/type]"},
		"a number in a cell":    {[]slack.Block{table(1, 1).AddRow(slack.NewTableRawNumberCell(1))}, "invalid_blocks", "invalid: unknown field \"value\" [json-pointer:/blocks/0/rows/1/0]"},
		"a short row":           {[]slack.Block{table(1, 2).AddRow(row(1, "c")...)}, "invalid_blocks", "must have as many cells as the first row [json-pointer:/blocks/0/rows/1]"},
		"no alignment":          {[]slack.Block{table(1, 1).WithColumnSettings(slack.ColumnSetting{IsWrapped: true})}, "invalid_blocks", "must be one of left, center, right [json-pointer:/blocks/0/column_settings/0/align]"},
		"rich text":             {[]slack.Block{rich(slack.NewRichTextSectionTextElement("t", &slack.RichTextSectionTextStyle{Bold: true}), slack.NewRichTextSectionLinkElement("https://a.example/", "a", nil))}, "", ""},
		"no address":            {[]slack.Block{rich(slack.NewRichTextSectionLinkElement("nowhere", "a", nil))}, "invalid_blocks", "must be a valid url [json-pointer:/blocks/0/elements/0/elements/0/url]"},
		"nested list":           {[]slack.Block{slack.NewRichTextBlock("", slack.NewRichTextList(slack.RTEListOrdered, 1, slack.NewRichTextSection(slack.NewRichTextSectionTextElement("t", nil))))}, "", ""},
		"input in a message":    {[]slack.Block{&slack.InputBlock{Type: "input", Label: slack.NewTextBlockObject("plain_text", "l", false, false), Element: slack.NewPlainTextInputBlockElement(nil, "a")}}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			clock.Advance(time.Minute)
			_, _, err := api.PostMessage(general, slack.MsgOptionBlocks(test.blocks...), slack.MsgOptionText("fallback", false))
			got, messages := refusal(err)
			if got != test.want || test.message != "" && !contains(messages, "[ERROR] "+test.message) {
				t.Errorf("got %q %q, want %q %q", got, messages, test.want, test.message)
			}
		})
	}
}

func many2(n int, of slack.BlockElement) (elements []slack.BlockElement) {
	for range n {
		elements = append(elements, of)
	}
	return elements
}

func contains(all []string, one string) bool {
	for _, s := range all {
		if s == one {
			return true
		}
	}
	return false
}

func TestRefusesWhereNothingMayBePosted(t *testing.T) {
	server, clock, api := world(t)
	closed, left, general := server.Channel("C1", "closed"), server.Channel("C2", "left"), server.Channel("C3", "general")
	server.Archive(closed)
	server.Remove(left)
	post := func(channel string, options ...slack.MsgOption) string {
		clock.Advance(time.Minute)
		_, _, err := api.PostMessage(channel, options...)
		name, _ := refusal(err)
		return name
	}
	text := slack.MsgOptionText("x", false)
	for _, test := range []struct{ got, want string }{
		{post("C9", text), "channel_not_found"},
		{post(closed, text), "is_archived"},
		{post(left, text), "not_in_channel"},
		{post(general), "no_text"},
		{post(general, text, slack.MsgOptionTS("1.1")), "thread_not_found"},
		{post(general, slack.MsgOptionText(strings.Repeat("x", 40001), false)), "msg_too_long"},
		{post(general, text, slack.MsgOptionMetadata(slack.SlackMetadata{})), "invalid_metadata_schema"},
		{post(general, text), ""},
	} {
		if test.got != test.want {
			t.Errorf("got %q, want %q", test.got, test.want)
		}
	}
	stranger := slack.New("xoxb-stranger", slack.OptionAPIURL(server.APIURL()))
	if _, err := stranger.AuthTest(); err == nil || err.Error() != "invalid_auth" {
		t.Errorf("a stranger was told %v", err)
	}
}

func TestRateLimits(t *testing.T) {
	server, clock, api := world(t)
	general, other := server.Channel("C1", "general"), server.Channel("C2", "other")
	post := func(channel string) error {
		_, _, err := api.PostMessage(channel, slack.MsgOptionText("x", false))
		return err
	}
	if err := post(general); err != nil {
		t.Fatal(err)
	}
	var limited *slack.RateLimitedError
	if err := post(general); !errors.As(err, &limited) || limited.RetryAfter != time.Second {
		t.Errorf("the second message in a second: %v", err)
	}
	if err := post(other); err != nil {
		t.Errorf("another channel: %v", err)
	}
	clock.Advance(time.Second)
	if err := post(general); err != nil {
		t.Errorf("a second later: %v", err)
	}
}

func TestMetadataIsReadBackFromTheThread(t *testing.T) {
	server, clock, api := world(t)
	ann, general := server.Person("U1", "Ann"), server.Channel("C1", "general")
	root := ann.Says(general, "", "hello")
	key := slack.SlackMetadata{EventType: "k", EventPayload: map[string]any{"key": "K7"}}
	_, ts, err := api.PostMessage(general, slack.MsgOptionTS(root), slack.MsgOptionText("hi", false), slack.MsgOptionMetadata(key))
	if err != nil {
		t.Fatal(err)
	}
	clock.Advance(time.Second)
	for range 3 {
		ann.Says(general, root, "more")
	}
	ask := &slack.GetConversationRepliesParameters{ChannelID: general, Timestamp: root, Limit: 2, IncludeAllMetadata: true}
	var found, seen int
	for {
		messages, more, cursor, err := api.GetConversationReplies(ask)
		if err != nil {
			t.Fatal(err)
		}
		for _, message := range messages {
			seen++
			if message.Metadata.EventPayload["key"] == "K7" && message.Timestamp == ts {
				found++
			}
		}
		if !more {
			break
		}
		ask.Cursor = cursor
	}
	if found != 1 || seen != 5 {
		t.Errorf("found %d of %d", found, seen)
	}
	ask.IncludeAllMetadata, ask.Cursor = false, ""
	messages, _, _, err := api.GetConversationReplies(ask)
	if err != nil || messages[1].Metadata.EventType != "" {
		t.Errorf("metadata that nobody asked for: %v, %v", messages, err)
	}
}

func TestStreamsDieWhenIdle(t *testing.T) {
	server, clock, api := world(t)
	ann, general := server.Person("U1", "Ann"), server.Channel("C1", "general")
	root := ann.Says(general, "", "hello")
	if _, _, err := api.StartStream(general, slack.MsgOptionTS(root)); err == nil || err.Error() != "missing_recipient_team_id" {
		t.Errorf("a stream in a channel for nobody: %v", err)
	}
	_, ts, err := api.StartStream(general, slack.MsgOptionTS(root), slack.MsgOptionRecipientTeamID(slacktest.Team), slack.MsgOptionRecipientUserID("U1"))
	if err != nil {
		t.Fatal(err)
	}
	appendText := func(text string) string {
		_, _, err := api.AppendStream(general, ts, slack.MsgOptionMarkdownText(text))
		name, _ := refusal(err)
		return name
	}
	if got := appendText("a"); got != "" {
		t.Errorf("append: %s", got)
	}
	if got := appendText(strings.Repeat("x", 12001)); got != "msg_too_long" {
		t.Errorf("12,001 at once: %q", got)
	}
	if _, _, _, err := api.UpdateMessage(general, ts, slack.MsgOptionText("x", false)); err == nil || err.Error() != "streaming_state_conflict" {
		t.Errorf("update of a stream: %v", err)
	}
	clock.Advance(4 * time.Minute)
	if got := appendText("b"); got != "" {
		t.Errorf("append after 4 minutes: %s", got)
	}
	clock.Advance(5 * time.Minute)
	if got := appendText("c"); got != "message_not_in_streaming_state" {
		t.Errorf("append after 5 idle minutes: %q", got)
	}
	if _, _, _, err := api.UpdateMessage(general, ts, slack.MsgOptionText("the end", false)); err != nil {
		t.Errorf("update of a stream that died: %v", err)
	}
}

// app is an app that answers events with the statuses it is given, then with 200.
type app struct {
	*httptest.Server
	mu       sync.Mutex
	statuses []int
	noRetry  bool
	got      []http.Header
	bodies   []string
}

func newApp(t *testing.T, server *slacktest.Server, statuses ...int) *app {
	a := &app{statuses: statuses}
	a.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		verifier, err := slack.NewSecretsVerifier(fresh(r.Header, server, body), slacktest.SigningSecret)
		if err != nil {
			t.Errorf("signature: %v", err)
		}
		if _, err := verifier.Write(body); err != nil {
			t.Error(err)
		}
		if err := verifier.Ensure(); err != nil {
			t.Errorf("signature: %v", err)
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		a.got, a.bodies = append(a.got, r.Header), append(a.bodies, string(body))
		if a.noRetry {
			w.Header().Set("X-Slack-No-Retry", "1")
		}
		if len(a.statuses) > 0 {
			w.WriteHeader(a.statuses[0])
			a.statuses = a.statuses[1:]
		}
	}))
	t.Cleanup(a.Close)
	server.Subscribe(a.URL, a.URL, a.URL)
	return a
}

// fresh replaces the signature by one of now, by the machine's clock, where that of the
// server's clock is right: the SDK's verifier knows no other clock.
func fresh(header http.Header, server *slacktest.Server, body []byte) http.Header {
	if header.Get("X-Slack-Signature") != server.Sign(body).Get("X-Slack-Signature") {
		return header
	}
	now := slacktest.New(slacktest.Options{})
	defer now.Close()
	return now.Sign(body)
}

func TestEventsAreRetriedOnSchedule(t *testing.T) {
	server, clock, _ := world(t)
	ann, general := server.Person("U1", "Ann"), server.Channel("C1", "general")
	received := newApp(t, server, 500, 503, 500)
	ann.Says(general, "", "hello")
	if len(received.got) != 2 { // the first attempt and the retry at once
		t.Fatalf("%d attempts", len(received.got))
	}
	clock.Advance(59 * time.Second)
	if len(received.got) != 2 {
		t.Errorf("a retry after 59 s")
	}
	clock.Advance(time.Second)
	clock.Advance(5 * time.Minute)
	if len(received.got) != 4 {
		t.Fatalf("%d attempts", len(received.got))
	}
	if last := received.got[3]; last.Get("X-Slack-Retry-Num") != "3" || last.Get("X-Slack-Retry-Reason") != "http_error" {
		t.Errorf("last retry: %v", last)
	}
	delivery := server.Deliveries()[0]
	if !delivery.Acked || len(delivery.Attempts) != 4 || received.bodies[0] != received.bodies[3] {
		t.Errorf("delivery: %+v", delivery)
	}
	clock.Advance(time.Hour)
	if len(received.got) != 4 {
		t.Error("a retry of what was acknowledged")
	}
}

func TestNoRetryWhereTheAppWantsNone(t *testing.T) {
	server, clock, _ := world(t)
	ann, general := server.Person("U1", "Ann"), server.Channel("C1", "general")
	received := newApp(t, server, 500, 500, 500, 500)
	received.noRetry = true
	ann.Says(general, "", "hello")
	clock.Advance(time.Hour)
	if len(received.got) != 1 {
		t.Errorf("%d attempts", len(received.got))
	}
}

func TestTriggersAndViews(t *testing.T) {
	server, clock, api := world(t)
	ann, general := server.Person("U1", "Ann"), server.Channel("C1", "general")
	newApp(t, server)
	trigger := func() string {
		delivery := ann.Command(general, "/cairn", "help")
		var command struct {
			Trigger string `json:"trigger_id"`
		}
		if err := json.Unmarshal(delivery.Body, &command); err != nil {
			t.Fatal(err)
		}
		return command.Trigger
	}
	view := slack.ModalViewRequest{Type: "modal", Title: slack.NewTextBlockObject("plain_text", "Why", false, false), Blocks: slack.Blocks{BlockSet: []slack.Block{slack.NewSectionBlock(mrkdwn("x"), nil, nil)}}}
	id := trigger()
	if _, err := api.OpenView(id, view); err != nil {
		t.Fatal(err)
	}
	if _, err := api.OpenView(id, view); err == nil || err.Error() != "exchanged_trigger_id" {
		t.Errorf("a trigger used twice: %v", err)
	}
	id = trigger()
	clock.Advance(4 * time.Second)
	if _, err := api.OpenView(id, view); err == nil || err.Error() != "expired_trigger_id" {
		t.Errorf("a trigger after 4 s: %v", err)
	}
	view.Title.Text = strings.Repeat("t", 25)
	if _, err := api.OpenView(trigger(), view); err == nil || err.Error() != "invalid_arguments" {
		t.Errorf("a title of 25: %v", err)
	}
	if ann.Open() == nil {
		t.Error("no modal is open")
	}
}
