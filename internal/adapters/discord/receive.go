package discord

import (
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"time"
)

// Bounds of a request of Discord's.
const (
	maxBody = 1 << 20
	// maxAge is how old a signature may be.
	maxAge = 5 * time.Minute
	// workWithin is how long what an interaction asks for may take, after Discord has its
	// first answer.
	workWithin = 30 * time.Second
)

// Handler takes Discord's interactions over HTTP, where they don't come by the gateway.
func (a *Adapter) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			http.Error(w, http.StatusText(http.StatusMethodNotAllowed), http.StatusMethodNotAllowed)
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		var large *http.MaxBytesError
		switch {
		case errors.As(err, &large):
			a.refuse(w, r, http.StatusRequestEntityTooLarge, err)
			return
		case err != nil:
			a.refuse(w, r, http.StatusBadRequest, err)
			return
		}
		if err := a.verify(r.Header, body); err != nil {
			a.refuse(w, r, http.StatusUnauthorized, err)
			return
		}
		found, err := interpret(body)
		if err != nil {
			a.refuse(w, r, http.StatusBadRequest, err)
			return
		}
		a.serve(w, r, found)
	})
}

// serve does what an interaction asks for. The answer goes the way that it goes for the
// gateway, and the request is answered by nothing: so Discord is known to have the first
// answer before a worker, which may be another process, writes the next.
func (a *Adapter) serve(w http.ResponseWriter, r *http.Request, found signal) {
	if found.kind == pinged {
		w.Header().Set("Content-Type", "application/json")
		if _, err := w.Write([]byte(`{"type":1}`)); err != nil {
			a.options.Logger.DebugContext(r.Context(), "discord hung up", slog.Any("error", err))
		}
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), workWithin)
	defer cancel()
	err := a.dispatch(ctx, found, a.callback)
	switch {
	case errors.Is(err, errNotRunning):
		a.refuse(w, r, http.StatusServiceUnavailable, err)
	case err != nil:
		a.refuse(w, r, http.StatusInternalServerError, err)
	default:
		w.WriteHeader(http.StatusAccepted)
	}
}

func (a *Adapter) refuse(w http.ResponseWriter, r *http.Request, status int, err error) {
	a.options.Logger.WarnContext(r.Context(), "discord interaction refused", slog.Int("status", status), slog.Any("error", err))
	http.Error(w, http.StatusText(status), status)
}

// verify checks that a body was signed by Discord, lately.
func (a *Adapter) verify(header http.Header, body []byte) error {
	if len(a.key) == 0 {
		return errors.New("no public key is configured; interactions come by the gateway")
	}
	stamp := header.Get("X-Signature-Timestamp")
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		return errors.New("no timestamp")
	}
	if age := a.now().Sub(time.Unix(seconds, 0)).Abs(); age > maxAge {
		return fmt.Errorf("a timestamp %s away from now; check the clock of this machine", age.Round(time.Second))
	}
	signature, err := hex.DecodeString(header.Get("X-Signature-Ed25519"))
	if err != nil || len(signature) != ed25519.SignatureSize {
		return errors.New("no signature")
	}
	if !ed25519.Verify(a.key, append([]byte(stamp), body...), signature) {
		return errors.New("a wrong signature; check the public key")
	}
	return nil
}
