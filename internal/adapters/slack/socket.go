package slack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/url"
	"sync"
	"time"

	"github.com/slack-go/slack"
	"github.com/slack-go/slack/socketmode"

	"github.com/cairn-bot/cairn/internal/chat/webhook"
)

// Bounds of Socket Mode.
const (
	// maxSilence is how long a connection may go without a ping of Slack's. Some stall
	// without an end.
	maxSilence = 30 * time.Second
	// maxFrame is the largest message that is read.
	maxFrame = 4 << 20
	// maxPresses is how many presses and commands are worked at at once: they may wait for
	// Slack, and must not keep messages waiting.
	maxPresses = 16
	// pause is between two tries to connect.
	pause = 5 * time.Second
)

// runSockets holds Socket Mode connections until ctx ends. Slack sends a payload to any
// of them.
func (in receiver) runSockets(ctx context.Context) error {
	var all sync.WaitGroup
	for range in.adapter.options.Sockets {
		all.Go(func() { in.runSocket(ctx) })
	}
	all.Wait()
	return nil
}

// runSocket holds one connection, and opens another when it ends.
func (in receiver) runSocket(ctx context.Context) {
	for ctx.Err() == nil {
		// The client itself connects again; it gives up where Slack refuses the token.
		err := in.serveSocket(ctx)
		if ctx.Err() != nil {
			return
		}
		in.adapter.options.Logger.ErrorContext(ctx, "slack socket mode failed; trying again", slog.Any("error", err))
		if err := in.adapter.clock.wait(ctx, pause); err != nil {
			return
		}
	}
}

func (in receiver) serveSocket(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	api := slack.New("", slack.OptionAPIURL(in.adapter.options.APIURL), slack.OptionHTTPClient(in.adapter.options.Client), slack.OptionAppLevelToken(in.adapter.options.AppToken))
	client := socketmode.New(api,
		socketmode.OptionPingInterval(in.silence), socketmode.OptionReadLimit(maxFrame),
		socketmode.OptionLog(log.New(io.Discard, "", 0)))
	var workers sync.WaitGroup
	workers.Go(func() { in.readSocket(ctx, client) })
	err := client.RunContext(ctx)
	cancel()
	workers.Wait()
	return err
}

// frame is a message of Socket Mode.
type frame struct {
	Type       string          `json:"type"`
	EnvelopeID string          `json:"envelope_id"`
	Payload    json.RawMessage `json:"payload"`
}

// readSocket takes what comes, messages one after another so that they keep their
// order, until ctx ends.
func (in receiver) readSocket(ctx context.Context, client *socketmode.Client) {
	var presses sync.WaitGroup
	defer presses.Wait()
	slots := make(chan struct{}, maxPresses)
	for {
		select {
		case <-ctx.Done():
			return
		case event := <-client.Events:
			got, ok := frameOf(event)
			if !ok {
				continue
			}
			if got.Type == socketmode.RequestTypeEventsAPI {
				in.serveFrame(ctx, client, got)
				continue
			}
			select {
			case slots <- struct{}{}:
			case <-ctx.Done():
				return
			}
			presses.Go(func() {
				defer func() { <-slots }()
				in.serveFrame(ctx, client, got)
			})
		}
	}
}

// frameOf gives the message of an event of the client's. One that the client could not
// read is read again from its bytes: a block that the SDK does not know is no reason to
// lose what a person said.
func frameOf(event socketmode.Event) (frame, bool) {
	if bad, ok := event.Data.(*socketmode.ErrorBadMessage); ok {
		var got frame
		return got, webhook.Decode(bad.Message, &got) == nil && got.EnvelopeID != ""
	}
	if event.Request == nil || event.Request.EnvelopeID == "" {
		return frame{}, false
	}
	return frame{event.Request.Type, event.Request.EnvelopeID, event.Request.Payload}, true
}

// serveFrame does what a message asks for and acknowledges it. One that failed is not
// acknowledged, and Slack sends it again.
func (in receiver) serveFrame(ctx context.Context, client *socketmode.Client, got frame) {
	within, cancel := context.WithTimeout(ctx, ackWithin)
	defer cancel()
	answer, err := in.takeFrame(within, got)
	if err == nil {
		var payload any
		if answer != nil {
			payload = json.RawMessage(answer)
		}
		err = client.AckCtx(ctx, got.EnvelopeID, payload)
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		in.adapter.options.Logger.WarnContext(ctx, "slack delivery failed", slog.String("type", got.Type), slog.Any("error", err))
	}
}

func (in receiver) takeFrame(ctx context.Context, got frame) ([]byte, error) {
	switch got.Type {
	case socketmode.RequestTypeEventsAPI:
		return in.takeEvent(ctx, got.Payload)
	case socketmode.RequestTypeInteractive:
		return in.handleInteraction(ctx, got.Payload)
	case socketmode.RequestTypeSlashCommands:
		var fields struct {
			Team    string `json:"team_id"`
			Channel string `json:"channel_id"`
			User    string `json:"user_id"`
			Trigger string `json:"trigger_id"`
			Text    string `json:"text"`
			Whole   string `json:"enterprise_id"`
		}
		if err := webhook.Decode(got.Payload, &fields); err != nil {
			return nil, fmt.Errorf("read a command of Slack's: %w", err)
		}
		return in.handleCommand(ctx, url.Values{
			"team_id": {fields.Team}, "channel_id": {fields.Channel}, "user_id": {fields.User},
			"trigger_id": {fields.Trigger}, "text": {fields.Text}, "enterprise_id": {fields.Whole},
		})
	}
	return nil, fmt.Errorf("a message of type %q came by Socket Mode", got.Type)
}
