package slacktest

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"
)

// Delivery is something that Slack tells the app, with all attempts to do so.
type Delivery struct {
	ID       string // the event's, or of the interaction
	Kind     string // "events_api", "interactive" or "slash_commands"
	Type     string // of the event or interaction
	Body     json.RawMessage
	Attempts []Attempt
	Acked    bool
	Response json.RawMessage // what the app answered with, if anything
}

// Attempt is one try to deliver.
type Attempt struct {
	At     time.Time
	Retry  int    // 0 is the first
	Reason string // why this retry is made
	Status int    // HTTP status, 0 where none came
	Failed string // reason of the next retry, "" where the app acknowledged
}

// Slack's retries: at once, after a minute, after five.
var retryAfter = []time.Duration{0, time.Minute, 5 * time.Minute}

type endpoints struct{ events, interactive, command string }

// Subscribe has Slack deliver over HTTP, to three addresses of the app.
func (s *Server) Subscribe(events, interactive, command string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endpoints = endpoints{events, interactive, command}
}

// Verify asks the events endpoint for its challenge, as Slack does when its address is
// entered, and tells what is wrong with the answer.
func (s *Server) Verify() error {
	challenge := "3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P"
	body := mustJSON(struct {
		Token     string `json:"token"`
		Challenge string `json:"challenge"`
		Type      string `json:"type"`
	}{"token", challenge, "url_verification"})
	status, response, err := s.postSigned(s.endpoints.events, "application/json", body, nil)
	if err != nil {
		return err
	}
	var told struct {
		Challenge string `json:"challenge"`
	}
	if status != http.StatusOK || string(response) != challenge && (json.Unmarshal(response, &told) != nil || told.Challenge != challenge) {
		return fmt.Errorf("the app answered %d without the challenge", status)
	}
	return nil
}

// Deliveries returns all that the app was told, in its order.
func (s *Server) Deliveries() []Delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []Delivery
	for _, delivery := range s.deliveries {
		copied := *delivery
		copied.Attempts = slices.Clone(delivery.Attempts)
		all = append(all, copied)
	}
	return all
}

// envelope is the outer part of an event.
type envelope struct {
	Token          string          `json:"token"`
	TeamID         string          `json:"team_id"`
	ContextTeamID  string          `json:"context_team_id"`
	APIAppID       string          `json:"api_app_id"`
	Event          json.RawMessage `json:"event"`
	Type           string          `json:"type"`
	EventID        string          `json:"event_id"`
	EventTime      int64           `json:"event_time"`
	Authorizations []authorization `json:"authorizations"`
	IsExtShared    bool            `json:"is_ext_shared_channel"`
}

type authorization struct {
	EnterpriseID *string `json:"enterprise_id"`
	TeamID       string  `json:"team_id"`
	UserID       string  `json:"user_id"`
	IsBot        bool    `json:"is_bot"`
}

// Event tells the app of an event and returns after the first attempt, and the retry at
// once where that failed. It is nil where the app is not subscribed.
func (s *Server) Event(event any) *Delivery {
	raw := mustJSON(event)
	var is kind
	if err := json.Unmarshal(raw, &is); err != nil {
		panic("slacktest: an event must be an object: " + err.Error())
	}
	if slices.Contains(s.options.Quiet, is.Type) {
		return nil
	}
	s.mu.Lock()
	id := s.nextID("Ev")
	team, shared := s.eventOrigin(raw)
	s.mu.Unlock()
	return s.Send(mustJSON(envelope{
		"verification-token", team, Team, AppID, raw, "event_callback", id, s.clock.Now().Unix(),
		[]authorization{{nil, Team, Bot, true}}, shared,
	}))
}

// eventOrigin tells whose workspace an event comes from, and whether its channel is shared. In a shared
// channel it comes under the workspace of who did it. The caller holds the lock.
func (s *Server) eventOrigin(event json.RawMessage) (team string, shared bool) {
	var told struct {
		Channel string `json:"channel"`
		User    string `json:"user"`
		Message *struct {
			User string `json:"user"`
		} `json:"message"`
	}
	if json.Unmarshal(event, &told) != nil {
		return Team, false
	}
	if told.Message != nil {
		told.User = told.Message.User
	}
	if at := s.channels[told.Channel]; at == nil || !at.shared {
		return Team, false
	}
	if who := s.people[told.User]; who != nil && !s.isBot(told.User) {
		return who.homeWorkspace(), true
	}
	return Team, true
}

// Send tells the app of an event with its envelope, such as a recorded one.
func (s *Server) Send(body json.RawMessage) *Delivery {
	var is struct {
		EventID string `json:"event_id"`
		Type    string `json:"type"`
		Event   kind   `json:"event"`
	}
	if err := json.Unmarshal(body, &is); err != nil {
		panic("slacktest: an envelope must be an object: " + err.Error())
	}
	delivery := &Delivery{ID: is.EventID, Kind: "events_api", Type: is.Event.Type, Body: body}
	s.mu.Lock()
	s.deliveries = append(s.deliveries, delivery)
	s.mu.Unlock()
	s.attemptDelivery(delivery, 0, "")
	return delivery
}

// outcome is what became of an attempt.
type outcome struct {
	status   int
	failed   string // reason of the next retry, "" where the app acknowledged
	final    bool   // the app wants no retry
	response json.RawMessage
}

// HoldBack tells the app that it gets more than 30,000 events an hour.
func (s *Server) HoldBack() *Delivery {
	return s.Send(mustJSON(struct {
		Type   string `json:"type"`
		Token  string `json:"token"`
		TeamID string `json:"team_id"`
		Minute int64  `json:"minute_rate_limited"`
		AppID  string `json:"api_app_id"`
	}{"app_rate_limited", "verification-token", Team, s.clock.Now().Unix() / 60 * 60, AppID}))
}

// attemptDelivery delivers once, and plans the next attempt of what failed.
func (s *Server) attemptDelivery(delivery *Delivery, retry int, reason string) {
	at := s.clock.Now()
	became := s.tryDelivery(delivery, retry, reason)
	s.mu.Lock()
	delivery.Attempts = append(delivery.Attempts, Attempt{at, retry, reason, became.status, became.failed})
	delivery.Acked = delivery.Acked || became.failed == ""
	if became.failed == "" {
		delivery.Response = became.response
	}
	s.mu.Unlock()
	if became.failed == "" || became.final || retry == len(retryAfter) || delivery.Kind != "events_api" {
		return
	}
	if wait := retryAfter[retry]; wait > 0 {
		s.clock.AfterFunc(wait, func() { s.attemptDelivery(delivery, retry+1, became.failed) })
		return
	}
	s.attemptDelivery(delivery, retry+1, became.failed)
}

// tryDelivery makes one attempt, over a socket where the app has one.
func (s *Server) tryDelivery(delivery *Delivery, retry int, reason string) outcome {
	if connection := s.nextConnection(); connection != nil {
		response, err := s.overSocket(connection, delivery, retry, reason)
		if err != nil {
			return outcome{failed: "timeout"}
		}
		return outcome{status: http.StatusOK, response: response}
	}
	address, media, body := s.endpoints.events, "application/json", delivery.Body
	switch delivery.Kind {
	case "interactive":
		address, media = s.endpoints.interactive, "application/x-www-form-urlencoded"
		body = []byte(url.Values{"payload": {string(delivery.Body)}}.Encode())
	case "slash_commands":
		address, media = s.endpoints.command, "application/x-www-form-urlencoded"
		body = []byte(formOf(delivery.Body).Encode())
	}
	header := http.Header{}
	if retry > 0 {
		header.Set("X-Slack-Retry-Num", strconv.Itoa(retry))
		header.Set("X-Slack-Retry-Reason", reason)
	}
	status, response, err := s.postSigned(address, media, body, header)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return outcome{failed: "http_timeout"}
	case err != nil:
		return outcome{failed: "connection_failed"}
	case status == errNoRetry:
		return outcome{status: http.StatusInternalServerError, failed: "http_error", final: true}
	case status < 200 || status > 299:
		return outcome{status: status, failed: "http_error"}
	}
	return outcome{status: status, response: response}
}

// errNoRetry stands for an error after which the app wants no retry.
const errNoRetry = -1

// formOf makes the form of a slash command of its JSON.
func formOf(body json.RawMessage) url.Values {
	var fields map[string]string
	if err := json.Unmarshal(body, &fields); err != nil {
		panic("slacktest: a slash command must be an object of strings: " + err.Error())
	}
	form := url.Values{}
	for name, value := range fields {
		form.Set(name, value)
	}
	return form
}

// Sign returns the two headers that prove that a body is from Slack.
func (s *Server) Sign(body []byte) http.Header {
	stamp := strconv.FormatInt(s.clock.Now().Unix(), 10)
	mac := hmac.New(sha256.New, []byte(SigningSecret))
	fmt.Fprintf(mac, "v0:%s:%s", stamp, body)
	header := http.Header{}
	header.Set("X-Slack-Request-Timestamp", stamp)
	header.Set("X-Slack-Signature", "v0="+hex.EncodeToString(mac.Sum(nil)))
	return header
}

// postSigned sends a signed request to the app and reads the answer.
func (s *Server) postSigned(address, media string, body []byte, header http.Header) (int, json.RawMessage, error) {
	ctx, cancel := context.WithTimeout(context.Background(), s.options.AckWithin)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	request.Header = s.Sign(body)
	for name, values := range header {
		request.Header[name] = values
	}
	request.Header.Set("Content-Type", media)
	request.Header.Set("User-Agent", "Slackbot 1.0 (+https://api.slack.com/robots)")
	response, err := s.http.Client().Do(request)
	if err != nil {
		return 0, nil, err
	}
	answered, err := io.ReadAll(response.Body)
	if err = errors.Join(err, response.Body.Close()); err != nil {
		return 0, nil, err
	}
	if response.StatusCode > 299 && response.Header.Get("X-Slack-No-Retry") == "1" {
		return errNoRetry, answered, nil
	}
	return response.StatusCode, answered, nil
}
