package slack

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/slack-go/slack"
)

// Diagnosis is what is to be looked into. What is "" is left out.
type Diagnosis struct {
	Token         string // of the bot
	AppToken      string // for Socket Mode
	SigningSecret string // for events over HTTP
	URL           string // that Slack reaches events at: "https://cairn.example.com"
	// Channel is one in which the whole way is tried: an event is sent to URL as Slack would
	// send it, and the answer waited for in Slack.
	Channel string
	// Many tells that workspaces install the app themselves; Teams are those that may. External and
	// Guests tell whom else than members the bot answers.
	Many             bool
	Teams            []string
	External, Guests bool
	APIURL           string       // "" is Slack's
	Client           *http.Client // nil is one with time limits
}

// Finding is what one check found.
type Finding struct {
	What    string // "scopes"
	Told    string // what there is, in a few words
	Problem error  // nil: all is well
	Remedy  string // what to do about Problem
	Minor   bool   // the bot works with the problem
}

// Diagnose checks what Slack needs, one thing after another; what rests on something that
// failed is left out.
func Diagnose(ctx context.Context, of Diagnosis) []Finding {
	if of.APIURL == "" {
		of.APIURL = slack.APIURL
	}
	if of.Client == nil {
		of.Client = newClient()
	}
	var found []Finding
	var bot string
	if of.Token != "" {
		told := of.checkToken(ctx)
		found, bot = append(found, told.findings...), told.bot
		if bot != "" {
			found = append(found, of.checkChannels(ctx))
		}
	}
	found = append(found, of.checkDoors()...)
	if of.AppToken != "" {
		found = append(found, of.checkSocket(ctx))
	}
	if of.SigningSecret == "" || of.URL == "" {
		return found
	}
	delivery := of.checkDelivery(ctx)
	found = append(found, delivery)
	if of.Channel != "" && delivery.Problem == nil && bot != "" {
		found = append(found, of.checkEcho(ctx, bot))
	}
	return found
}

func (d Diagnosis) newClient() *slack.Client {
	return slack.New(d.Token, slack.OptionAPIURL(d.APIURL), slack.OptionHTTPClient(d.Client), slack.OptionAppLevelToken(d.AppToken))
}

type tokenFindings struct {
	findings []Finding
	bot      string
}

// checkToken asks who the bot is, and what it may do.
func (d Diagnosis) checkToken(ctx context.Context) tokenFindings {
	told, err := d.newClient().AuthTestContext(ctx)
	if err != nil {
		return tokenFindings{findings: []Finding{{
			What: "bot token", Problem: fmt.Errorf("Slack refuses it: %w", err), //nolint:staticcheck // Slack is a name
			Remedy: "api.slack.com/apps → your app → OAuth & Permissions: copy the Bot User OAuth Token (xoxb-…); install the app first if there is none",
		}}}
	}
	found := []Finding{{What: "bot token", Told: fmt.Sprintf("@%s in %s", told.User, told.Team)}}
	granted := strings.FieldsFunc(told.Header.Get("X-OAuth-Scopes"), func(r rune) bool { return r == ',' || r == ' ' })
	var missing []string
	for _, name := range scopeNames() {
		if !slices.Contains(granted, name) {
			missing = append(missing, name)
		}
	}
	scopes := Finding{What: "scopes", Told: fmt.Sprintf("all %d", len(scopeNames()))}
	var without []string
	missing = slices.DeleteFunc(missing, func(name string) bool {
		optional := slices.Contains(optionalScopes, name)
		if optional {
			without = append(without, name)
		}
		return optional
	})
	if len(without) > 0 {
		scopes.Told = "all but the optional " + strings.Join(without, ", ")
	}
	if slices.Equal(missing, groupScopes) {
		scopes.Told, missing = "all but those for group conversations", nil
		if len(without) > 0 {
			scopes.Told += " and the optional " + strings.Join(without, ", ")
		}
	}
	if len(missing) > 0 {
		scopes.Told, scopes.Problem = "", fmt.Errorf("these are missing: %s", strings.Join(missing, ", "))
		scopes.Remedy = "api.slack.com/apps → your app → App Manifest: paste what `cairn slack manifest` prints, save, then Install App → Reinstall"
	}
	return tokenFindings{append(found, scopes), told.UserID}
}

// maxChannelNames is how many channels are named.
const maxChannelNames = 10

// checkChannels tells where the bot was invited to.
func (d Diagnosis) checkChannels(ctx context.Context) Finding {
	const remedy = "in Slack, open the channel and write: /invite @Cairn"
	joined, more, err := d.newClient().GetConversationsForUserContext(ctx, &slack.GetConversationsForUserParameters{
		Types: []string{"public_channel", "private_channel"}, ExcludeArchived: true, Limit: 200,
	})
	if err != nil {
		return Finding{What: "channels", Problem: fmt.Errorf("Slack does not tell them: %w", err), Remedy: "see scopes"} //nolint:staticcheck // Slack is a name
	}
	var names []string
	for _, channel := range joined {
		names = append(names, "#"+channel.Name)
		if channel.ID == d.Channel {
			d.Channel = ""
		}
	}
	switch {
	case len(joined) == 0:
		return Finding{What: "channels", Problem: errors.New("Cairn is in none: it answers in direct conversations alone"), Remedy: remedy} //nolint:staticcheck // Cairn is a name
	case d.Channel != "" && more == "":
		return Finding{What: "channels", Problem: fmt.Errorf("Cairn is not in %s", d.Channel), Remedy: remedy} //nolint:staticcheck // Cairn is a name
	}
	told := strings.Join(names[:min(len(names), maxChannelNames)], " ")
	if len(names) > maxChannelNames || more != "" {
		told += " …"
	}
	return Finding{What: "channels", Told: told}
}

// checkSocket asks for a Socket Mode connection, and makes none.
func (d Diagnosis) checkSocket(ctx context.Context) Finding {
	if _, _, err := d.newClient().StartSocketModeContext(ctx); err != nil {
		return Finding{
			What: "Socket Mode", Problem: fmt.Errorf("Slack gives no connection: %w", err), //nolint:staticcheck // Slack is a name
			Remedy: "api.slack.com/apps → your app → Socket Mode: enable it; Basic Information → App-Level Tokens: make one with connections:write (xapp-…)",
		}
	}
	return Finding{What: "Socket Mode", Told: "Slack gives connections"}
}

// postSigned sends a body to the events endpoint, signed as Slack signs.
func (d Diagnosis) postSigned(ctx context.Context, body []byte) (answer []byte, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimRight(d.URL, "/")+"/slack/events", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	stamp := strconv.FormatInt(time.Now().Unix(), 10)
	mac := hmac.New(sha256.New, []byte(d.SigningSecret))
	fmt.Fprintf(mac, "v0:%s:%s", stamp, body)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("X-Slack-Request-Timestamp", stamp)
	request.Header.Set("X-Slack-Signature", "v0="+hex.EncodeToString(mac.Sum(nil)))
	response, err := d.Client.Do(request)
	if err != nil {
		return nil, err
	}
	answer, err = io.ReadAll(io.LimitReader(response.Body, 1<<16))
	if err = errors.Join(err, response.Body.Close()); err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("it answers %s", response.Status)
	}
	return answer, err
}

// checkDelivery asks the public address for the challenge, as Slack does.
func (d Diagnosis) checkDelivery(ctx context.Context) Finding {
	challenge := rand.Text()
	body, err := json.Marshal(map[string]string{"type": "url_verification", "challenge": challenge})
	if err == nil {
		var answer []byte
		if answer, err = d.postSigned(ctx, body); err == nil && !bytes.Contains(answer, []byte(challenge)) {
			err = errors.New("what answers there is not Cairn")
		}
	}
	if err != nil {
		return Finding{
			What: "event delivery", Problem: fmt.Errorf("%s/slack/events: %w", d.URL, err),
			Remedy: "start `cairn serve` and have that address lead to slack.listen; on 401 the signing secrets differ: api.slack.com/apps → your app → Basic Information → Signing Secret",
		}
	}
	return Finding{What: "event delivery", Told: d.URL + "/slack/events answers"}
}

// echoWithin is how long the answer to a test message may take.
const echoWithin = 30 * time.Second

// checkEcho has a message answered by the echo flow, and waits for the answer in Slack.
func (d Diagnosis) checkEcho(ctx context.Context, bot string) Finding {
	finding := Finding{What: "an answer", Told: "an echo came back in " + d.Channel}
	if err := d.tryEcho(ctx, bot); err != nil {
		finding.Told, finding.Problem = "", err
		finding.Remedy = "`cairn runs` tells what became of it; look into the log of `cairn serve`"
	}
	return finding
}

func (d Diagnosis) tryEcho(ctx context.Context, bot string) error {
	ctx, cancel := context.WithTimeout(ctx, echoWithin)
	defer cancel()
	api := d.newClient()
	_, root, err := api.PostMessageContext(ctx, d.Channel, slack.MsgOptionText("`cairn doctor` looks whether questions are answered here.", false))
	if err != nil {
		return fmt.Errorf("post in %s: %w", d.Channel, err)
	}
	author, err := d.findMember(ctx, bot)
	if err != nil {
		return err
	}
	team, err := api.AuthTestContext(ctx)
	if err != nil {
		return err
	}
	word := "doctor-" + strings.ToLower(rand.Text()[:8])
	event := map[string]string{
		"type": "message", "user": author, "text": "<@" + bot + "> echo " + word, "channel": d.Channel, "channel_type": "channel",
		"ts": fmt.Sprintf("%d.%06d", time.Now().Unix(), time.Now().Nanosecond()/1000), "thread_ts": root,
	}
	body, err := json.Marshal(struct {
		Type  string            `json:"type"`
		Team  string            `json:"team_id"`
		ID    string            `json:"event_id"`
		Event map[string]string `json:"event"`
	}{"event_callback", team.TeamID, "Ev" + rand.Text()[:12], event})
	if err != nil {
		return err
	}
	if _, err := d.postSigned(ctx, body); err != nil {
		return fmt.Errorf("send an event to %s: %w", d.URL, err)
	}
	return d.awaitWord(ctx, root, word)
}

// findMember gives a member of the channel that is not the bot.
func (d Diagnosis) findMember(ctx context.Context, bot string) (string, error) {
	members, _, err := d.newClient().GetUsersInConversationContext(ctx, &slack.GetUsersInConversationParameters{ChannelID: d.Channel, Limit: 20})
	if err != nil {
		return "", fmt.Errorf("list who is in %s: %w", d.Channel, err)
	}
	for _, member := range members {
		if member != bot {
			return member, nil
		}
	}
	return "", fmt.Errorf("nobody but Cairn is in %s: join it", d.Channel)
}

// awaitWord waits for a word in a thread.
func (d Diagnosis) awaitWord(ctx context.Context, root, word string) error {
	tick := time.NewTicker(2 * time.Second)
	defer tick.Stop()
	for {
		messages, _, _, err := d.newClient().GetConversationRepliesContext(ctx, &slack.GetConversationRepliesParameters{ChannelID: d.Channel, Timestamp: root, Limit: 20})
		if err == nil && slices.ContainsFunc(messages, func(m slack.Message) bool { return strings.Contains(m.Text, word) }) {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("no answer came within %s", echoWithin), err)
		case <-tick.C:
		}
	}
}
