package operations

import (
	"bytes"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"

	"github.com/cairn-bot/cairn/internal/adapters/web"
)

// responder answers requests with pages, assets and problems.
type responder struct {
	look   *web.Look
	logger *slog.Logger
}

// problem is an error whose text is for the person who looks.
type problem struct {
	status int
	text   string
}

func (e *problem) Error() string { return e.text }

// renderPage sends a template, or nothing at all when it fails.
func (r *responder) renderPage(out http.ResponseWriter, status int, name string, view any) error {
	page, err := r.renderFragment(name, view)
	if err != nil {
		return err
	}
	out.Header().Set("Content-Type", "text/html; charset=utf-8")
	out.WriteHeader(status)
	if _, err := out.Write([]byte(page)); err != nil {
		r.logger.Debug("send page", "error", err)
	}
	return nil
}

// renderFragment renders one template.
func (r *responder) renderFragment(name string, view any) (template.HTML, error) {
	var out bytes.Buffer
	if err := r.look.Templates.ExecuteTemplate(&out, name, view); err != nil {
		return "", fmt.Errorf("render %s: %w", name, err)
	}
	return template.HTML(out.String()), nil
}

// refuseRequest answers with an error: a problem as it says, all else without its cause.
func (r *responder) refuseRequest(out http.ResponseWriter, request *http.Request, err error) {
	if told, ok := errors.AsType[*problem](err); ok {
		r.renderFailure(out, request, told.status, told.text)
		return
	}
	if request.Context().Err() != nil {
		return // nobody waits for it
	}
	r.logger.Error("operations page", "path", request.URL.Path, "error", err)
	r.renderFailure(out, request, http.StatusInternalServerError, "That could not be read. The log has the cause.")
}

// renderFailure says what is wrong, on a page that tells nothing else.
func (r *responder) renderFailure(out http.ResponseWriter, request *http.Request, status int, text string) {
	if err := r.renderPage(out, status, "operations-problem", text); err != nil {
		r.logger.Error("show problem", "path", request.URL.Path, "error", err)
		http.Error(out, text, status)
	}
}

// maxForm bounds what a form may hold, in bytes.
const maxForm = 64 << 10

// withForm reads a form within bounds.
func (r *responder) withForm(next http.HandlerFunc) http.HandlerFunc {
	return func(out http.ResponseWriter, request *http.Request) {
		request.Body = http.MaxBytesReader(out, request.Body, maxForm)
		if err := request.ParseForm(); err != nil {
			status := http.StatusBadRequest
			if _, tooLong := errors.AsType[*http.MaxBytesError](err); tooLong {
				status = http.StatusRequestEntityTooLarge
			}
			r.renderFailure(out, request, status, "The form could not be read: it is broken, or too long.")
			return
		}
		next(out, request)
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

func (r *responder) continueAt(out http.ResponseWriter, request *http.Request, address string) {
	if err := r.renderPage(out, http.StatusOK, "operations-arrive", address); err != nil {
		r.refuseRequest(out, request, err)
	}
}
