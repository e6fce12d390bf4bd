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

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/render"
	"github.com/cairn-bot/cairn/internal/chat/webhook"
)

// Bounds of a request of Slack's.
const (
	// ackWithin is how long intake may take; Slack waits for 3 s.
	ackWithin = 2500 * time.Millisecond
)

// receiver takes what Slack delivers, over HTTP and by Socket Mode.
type receiver struct {
	adapter  *Adapter
	refusals *webhook.RefusalLog // of deliveries over HTTP
	silence  time.Duration       // how long a Socket Mode connection may go without a ping
}

// Handler takes Slack's deliveries over HTTP: POST events, interactive and commands,
// below the path that it is mounted at. A delivery is acknowledged when it is durable; one
// that could not be made so is answered by 500, for Slack to try again.
func (a *Adapter) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /events", a.receiver.verifySigned(a.receiver.takeEvent))
	mux.HandleFunc("POST /interactive", a.receiver.verifySigned(a.receiver.takeInteraction))
	mux.HandleFunc("POST /commands", a.receiver.verifySigned(a.receiver.takeCommand))
	return mux
}

// verifySigned reads a body of Slack's and hands it on once it is proven to be that.
func (in receiver) verifySigned(take func(ctx context.Context, body []byte) (answer []byte, err error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, status, err := webhook.Body(w, r, in.verifySignature)
		if err != nil {
			in.refuseRequest(w, r, status, err)
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), ackWithin)
		defer cancel()
		answer, err := take(ctx, body)
		var malformed *malformedError
		switch {
		case errors.As(err, &malformed):
			in.refuseRequest(w, r, http.StatusBadRequest, err)
		case errors.Is(err, errNotRunning):
			in.refuseRequest(w, r, http.StatusServiceUnavailable, err)
		case err != nil:
			in.refuseRequest(w, r, http.StatusInternalServerError, err)
		default:
			w.Header().Set("Content-Type", "application/json")
			if _, err := w.Write(answer); err != nil {
				in.adapter.options.Logger.DebugContext(ctx, "slack hung up", slog.Any("error", err))
			}
		}
	}
}

// malformedError is a body that is none of Slack's, signed all the same.
type malformedError struct{ err error }

func (e *malformedError) Error() string { return e.err.Error() }
func (e *malformedError) Unwrap() error { return e.err }

func (in receiver) refuseRequest(w http.ResponseWriter, r *http.Request, status int, err error) {
	in.refusals.Refused(r.Context(), r.URL.Path, status, err)
	http.Error(w, http.StatusText(status), status)
}

// verifySignature checks that a body was signed by Slack, lately.
func (in receiver) verifySignature(header http.Header, body []byte) error {
	if in.adapter.options.SigningSecret == "" {
		return &webhook.RefusedError{Reason: webhook.NotConfigured, Err: errors.New("no signing secret is configured; events come by Socket Mode")}
	}
	stamp := header.Get("X-Slack-Request-Timestamp")
	if err := webhook.Fresh(stamp, in.adapter.clock.now()); err != nil {
		return err
	}
	signature, found := strings.CutPrefix(header.Get("X-Slack-Signature"), "v0=")
	given, err := hex.DecodeString(signature)
	if !found || err != nil {
		return &webhook.RefusedError{Reason: webhook.NoSignature, Err: errors.New("no signature")}
	}
	mac := hmac.New(sha256.New, []byte(in.adapter.options.SigningSecret))
	fmt.Fprintf(mac, "v0:%s:", stamp)
	mac.Write(body)
	if !hmac.Equal(mac.Sum(nil), given) {
		return errors.New("a wrong signature; check the signing secret")
	}
	return nil
}

func (in receiver) takeEvent(ctx context.Context, body []byte) ([]byte, error) {
	var asks struct {
		Type      string `json:"type"`
		Challenge string `json:"challenge"`
	}
	if err := webhook.Decode(body, &asks); err != nil {
		return nil, &malformedError{fmt.Errorf("read an event of Slack's: %w", err)}
	}
	if asks.Type == "url_verification" {
		return json.Marshal(struct {
			Challenge string `json:"challenge"`
		}{asks.Challenge})
	}
	found, err := translateEvent(body, "")
	if err != nil {
		return nil, &malformedError{err}
	}
	if found.kind == kindIgnored || found.kind == kindLeft || found.kind == kindLimited {
		return in.adapter.dispatcher.dispatchSignal(ctx, found)
	}
	home, err := in.findWorkspace(ctx, found)
	if errors.Is(err, chat.ErrGone) {
		in.adapter.control.Skip(ctx, "the app is not installed there any more")
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if found.told == "" { // the event did not tell who the bot is
		if found, err = translateEvent(body, home.Bot); err != nil {
			return nil, &malformedError{err}
		}
	}
	return in.adapter.dispatcher.dispatchSignal(ctx, found.withWorkspace(home))
}

// findWorkspace is the workspace that a signal comes from.
func (in receiver) findWorkspace(ctx context.Context, of signal) (Workspace, error) {
	workspace, err := in.adapter.options.Workspaces.Workspace(ctx, of.place.team, of.enterprise)
	if err != nil {
		return Workspace{}, fmt.Errorf("access Slack's team %s: %w", of.place.team, err)
	}
	return workspace, nil
}

// withWorkspace gives a signal as one of the workspace that hears of it: in a channel that is shared with
// another company it may have come under that company's team.
func (s signal) withWorkspace(home Workspace) signal {
	if home.Team == "" || s.place.team == home.Team || s.kind == kindIgnored {
		return s
	}
	if s.userTeam == "" {
		s.userTeam = s.place.team
	}
	s.place.team = home.Team
	if s.message.Thread != "" {
		s.message.Thread = s.place.threadID()
	}
	return s
}

func (in receiver) takeInteraction(ctx context.Context, body []byte) ([]byte, error) {
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, &malformedError{fmt.Errorf("read an interaction of Slack's: %w", err)}
	}
	return in.handleInteraction(ctx, []byte(form.Get("payload")))
}

// handleInteraction does what a payload of an interaction asks for.
func (in receiver) handleInteraction(ctx context.Context, payload []byte) ([]byte, error) {
	found, err := parseInteraction(payload)
	if err != nil {
		return nil, &malformedError{err}
	}
	return in.dispatchFrom(ctx, found)
}

// dispatchFrom is dispatch for what is answered: where the app is not installed that is nothing.
func (in receiver) dispatchFrom(ctx context.Context, of signal) (answer []byte, err error) {
	if of.kind == kindIgnored {
		return in.adapter.dispatcher.dispatchSignal(ctx, of)
	}
	home, err := in.findWorkspace(ctx, of)
	if errors.Is(err, chat.ErrGone) {
		in.adapter.control.Skip(ctx, "the app is not installed there any more")
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return in.adapter.dispatcher.dispatchSignal(ctx, of.withWorkspace(home))
}

func (in receiver) takeCommand(ctx context.Context, body []byte) ([]byte, error) {
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, &malformedError{fmt.Errorf("read a command of Slack's: %w", err)}
	}
	return in.handleCommand(ctx, form)
}

// handleCommand hands a slash command over and gives what its author is shown at once.
func (in receiver) handleCommand(ctx context.Context, form url.Values) ([]byte, error) {
	found := parseCommand(form, in.adapter.clock.now())
	found.enterprise = form.Get("enterprise_id")
	answer, err := in.dispatchFrom(ctx, found)
	if err != nil || answer != nil || found.kind != kindAsked {
		return answer, err
	}
	return privateAnswer("On it: " + escapeText(render.Cut(found.message.Text, maxNotification)))
}
