package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
)

// responder answers requests with pages, parts of pages, assets and problems.
type responder struct {
	look   *Look
	logger *slog.Logger
}

// renderPage sends a template, or nothing at all when it fails.
func (r *responder) renderPage(out http.ResponseWriter, status int, name string, view any) error {
	return r.look.Render(out, status, name, view)
}

// renderFragment renders one template.
func (r *responder) renderFragment(name string, v any) (string, error) {
	var out bytes.Buffer
	if err := r.look.Templates.ExecuteTemplate(&out, name, v); err != nil {
		return "", fmt.Errorf("render %s: %w", name, err)
	}
	return out.String(), nil
}

// renderFailure tells what is wrong, as the one who asks reads it.
func (r *responder) renderFailure(out http.ResponseWriter, request *http.Request, status int, problem string) {
	if isScripted(request) {
		r.sendJSON(out, status, accepted{Error: problem})
		return
	}
	if err := r.renderPage(out, status, "problem", problem); err != nil {
		r.logger.Error("show problem", "error", err)
		http.Error(out, problem, status)
	}
}

// refuseForm tells an error that people may read; any other goes to the log.
func (r *responder) refuseForm(out http.ResponseWriter, request *http.Request, err error) {
	for _, known := range refusals {
		if errors.Is(err, known.err) {
			r.renderFailure(out, request, known.status, errorSentence(known.err))
			return
		}
	}
	r.logger.Error("serve request", "path", request.URL.Path, "error", err)
	r.renderFailure(out, request, http.StatusInternalServerError, "Something went wrong on this side. Try again in a minute.")
}

func (r *responder) sendJSON(out http.ResponseWriter, status int, answer accepted) {
	out.Header().Set("Content-Type", "application/json")
	out.WriteHeader(status)
	if err := json.NewEncoder(out).Encode(answer); err != nil {
		r.logger.Debug("send answer", "error", err)
	}
}

func (r *responder) serveAsset(out http.ResponseWriter, request *http.Request) {
	known, err := r.look.ServeAsset(out, request.PathValue("path"))
	if !known {
		r.renderFailure(out, request, http.StatusNotFound, "There is no such file.")
		return
	}
	if err != nil {
		r.logger.Debug("send asset", "error", err)
	}
}
