package slack

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"cairn/internal/chat"
	"cairn/internal/chat/rich"
	"cairn/internal/chat/webhook"
	"cairn/internal/chat/wire"
)

// Bounds of a request of Slack's.
const (
	// ackWithin is how long intake may take; Slack waits for 3 s.
	ackWithin = 2500 * time.Millisecond
)

// Handler takes Slack's deliveries over HTTP: POST events, interactive and commands,
// below the path that it is mounted at. A delivery is acknowledged when it is durable; one
// that could not be made so is answered by 500, for Slack to try again.
func (a *Adapter) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /events", a.signed(a.takeEvent))
	mux.HandleFunc("POST /interactive", a.signed(a.takeInteraction))
	mux.HandleFunc("POST /commands", a.signed(a.takeCommand))
	return mux
}

// signed reads a body of Slack's and hands it on once it is proven to be that.
func (a *Adapter) signed(take func(ctx context.Context, body []byte) (answer []byte, err error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, status, err := webhook.Body(w, r, a.verify)
		if err != nil {
			a.refuse(w, r, status, err)
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), ackWithin)
		defer cancel()
		answer, err := take(ctx, body)
		var malformed *malformedError
		switch {
		case errors.As(err, &malformed):
			a.refuse(w, r, http.StatusBadRequest, err)
		case errors.Is(err, errNotRunning):
			a.refuse(w, r, http.StatusServiceUnavailable, err)
		case err != nil:
			a.refuse(w, r, http.StatusInternalServerError, err)
		default:
			w.Header().Set("Content-Type", "application/json")
			if _, err := w.Write(answer); err != nil {
				a.options.Logger.DebugContext(ctx, "slack hung up", slog.Any("error", err))
			}
		}
	}
}

// malformedError is a body that is none of Slack's, signed all the same.
type malformedError struct{ err error }

func (e *malformedError) Error() string { return e.err.Error() }
func (e *malformedError) Unwrap() error { return e.err }

func (a *Adapter) refuse(w http.ResponseWriter, r *http.Request, status int, err error) {
	a.refusals.Refused(r.Context(), r.URL.Path, status, err)
	http.Error(w, http.StatusText(status), status)
}

// verify checks that a body was signed by Slack, lately.
func (a *Adapter) verify(header http.Header, body []byte) error {
	if a.options.SigningSecret == "" {
		return &webhook.RefusedError{Reason: webhook.NotConfigured, Err: errors.New("no signing secret is configured; events come by Socket Mode")}
	}
	stamp := header.Get("X-Slack-Request-Timestamp")
	if err := webhook.Fresh(stamp, a.clock.now()); err != nil {
		return err
	}
	signature, found := strings.CutPrefix(header.Get("X-Slack-Signature"), "v0=")
	given, err := hex.DecodeString(signature)
	if !found || err != nil {
		return &webhook.RefusedError{Reason: webhook.NoSignature, Err: errors.New("no signature")}
	}
	mac := hmac.New(sha256.New, []byte(a.options.SigningSecret))
	fmt.Fprintf(mac, "v0:%s:", stamp)
	mac.Write(body)
	if !hmac.Equal(mac.Sum(nil), given) {
		return errors.New("a wrong signature; check the signing secret")
	}
	return nil
}

func (a *Adapter) takeEvent(ctx context.Context, body []byte) ([]byte, error) {
	var asks struct {
		Type       string `json:"type"`
		Challenge  string `json:"challenge"`
		TeamID     string `json:"team_id"`
		Enterprise string `json:"enterprise_id"`
	}
	if err := wire.Decode(body, &asks); err != nil {
		return nil, &malformedError{fmt.Errorf("read an event of Slack's: %w", err)}
	}
	if asks.Type == "url_verification" {
		return json.Marshal(struct {
			Challenge string `json:"challenge"`
		}{asks.Challenge})
	}
	found, err := translate(body, "")
	if err != nil {
		return nil, &malformedError{err}
	}
	if found.kind == ignored || found.kind == left || found.kind == limited {
		return a.dispatch(ctx, found)
	}
	bot, installed, err := a.bot(ctx, asks.TeamID, asks.Enterprise)
	if err != nil || !installed {
		return nil, err
	}
	if found.told == "" { // the event did not tell who the bot is
		if found, err = translate(body, bot); err != nil {
			return nil, &malformedError{err}
		}
	}
	return a.dispatch(ctx, found)
}

// bot is the bot's user id in a team, of an enterprise if it is told. installed is false
// where the app was removed: what still comes from there is acknowledged, and means nothing.
func (a *Adapter) bot(ctx context.Context, team, enterprise string) (id string, installed bool, err error) {
	workspace, err := a.options.Workspaces.Workspace(ctx, team, enterprise)
	if errors.Is(err, chat.ErrGone) {
		a.skip(ctx, "the app is not installed there any more")
		return "", false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("access Slack's team %s: %w", team, err)
	}
	return workspace.Bot, true, nil
}

func (a *Adapter) takeInteraction(ctx context.Context, body []byte) ([]byte, error) {
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, &malformedError{fmt.Errorf("read an interaction of Slack's: %w", err)}
	}
	return a.interaction(ctx, []byte(form.Get("payload")))
}

// interaction does what a payload of an interaction asks for.
func (a *Adapter) interaction(ctx context.Context, payload []byte) ([]byte, error) {
	found, err := interpret(payload)
	if err != nil {
		return nil, &malformedError{err}
	}
	if found.kind != ignored {
		if _, installed, err := a.bot(ctx, found.place.team, found.enterprise); err != nil || !installed {
			return nil, err
		}
	}
	return a.dispatch(ctx, found)
}

func (a *Adapter) takeCommand(ctx context.Context, body []byte) ([]byte, error) {
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, &malformedError{fmt.Errorf("read a command of Slack's: %w", err)}
	}
	return a.take(ctx, form)
}

// take hands a slash command over and gives what its author is shown at once.
func (a *Adapter) take(ctx context.Context, form url.Values) ([]byte, error) {
	found := command(form, a.clock.now())
	if found.kind != ignored {
		if _, installed, err := a.bot(ctx, found.place.team, form.Get("enterprise_id")); err != nil || !installed {
			return nil, err
		}
	}
	if _, err := a.dispatch(ctx, found); err != nil {
		return nil, err
	}
	if found.kind == ignored {
		return nil, nil
	}
	return json.Marshal(struct {
		ResponseType string `json:"response_type"`
		Text         string `json:"text"`
	}{"ephemeral", "On it: " + escape(rich.Cut(found.message.Text, maxNotification))})
}
