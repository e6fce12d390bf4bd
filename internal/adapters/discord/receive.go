package discord

import (
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/cairn-bot/cairn/internal/chat/webhook"
)

// workWithin is how long what an interaction asks for may take, after Discord has its first
// answer.
const workWithin = 30 * time.Second

// receiver takes the interactions that come over HTTP.
type receiver struct {
	adapter  *Adapter
	key      ed25519.PublicKey
	refusals *webhook.RefusalLog
}

// Handler takes Discord's interactions over HTTP, where they don't come by the gateway.
func (a *Adapter) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			http.Error(w, http.StatusText(http.StatusMethodNotAllowed), http.StatusMethodNotAllowed)
			return
		}
		body, status, err := webhook.Body(w, r, a.receiver.verifySignature)
		if err != nil {
			a.receiver.refuseRequest(w, r, status, err)
			return
		}
		found, err := parseInteraction(body)
		if err != nil {
			a.receiver.refuseRequest(w, r, http.StatusBadRequest, err)
			return
		}
		a.receiver.serveInteraction(w, r, found)
	})
}

// serveInteraction does what an interaction asks for. The answer goes the way that it goes for the
// gateway, and the request is answered by nothing: so Discord is known to have the first
// answer before a worker, which may be another process, writes the next.
func (in receiver) serveInteraction(w http.ResponseWriter, r *http.Request, found signal) {
	if found.kind == kindPinged {
		w.Header().Set("Content-Type", "application/json")
		if _, err := w.Write([]byte(`{"type":1}`)); err != nil {
			in.adapter.options.Logger.DebugContext(r.Context(), "discord hung up", slog.Any("error", err))
		}
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), workWithin)
	defer cancel()
	err := in.adapter.dispatcher.dispatchSignal(ctx, found, in.adapter.answerInteraction)
	switch {
	case errors.Is(err, errNotRunning):
		in.refuseRequest(w, r, http.StatusServiceUnavailable, err)
	case err != nil:
		in.refuseRequest(w, r, http.StatusInternalServerError, err)
	default:
		w.WriteHeader(http.StatusAccepted)
	}
}

func (in receiver) refuseRequest(w http.ResponseWriter, r *http.Request, status int, err error) {
	in.refusals.Refused(r.Context(), r.URL.Path, status, err)
	http.Error(w, http.StatusText(status), status)
}

// verifySignature checks that a body was signed by Discord, lately.
func (in receiver) verifySignature(header http.Header, body []byte) error {
	if len(in.key) == 0 {
		return &webhook.RefusedError{Reason: webhook.NotConfigured, Err: errors.New("no public key is configured; interactions come by the gateway")}
	}
	stamp := header.Get("X-Signature-Timestamp")
	if err := webhook.Fresh(stamp, in.adapter.now()); err != nil {
		return err
	}
	signature, err := hex.DecodeString(header.Get("X-Signature-Ed25519"))
	if err != nil || len(signature) != ed25519.SignatureSize {
		return &webhook.RefusedError{Reason: webhook.NoSignature, Err: errors.New("no signature")}
	}
	if !ed25519.Verify(in.key, append([]byte(stamp), body...), signature) {
		return errors.New("a wrong signature; check the public key")
	}
	return nil
}
