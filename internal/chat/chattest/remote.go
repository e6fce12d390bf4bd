package chattest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
)

// request and response are what Remote and ServeHTTP say to each other.
type request struct {
	Operation Operation
	Thread    chat.ThreadID
	Key       chat.PostKey
	Message   chat.MessageID
	Post      chat.Post
	Late      chat.Late
}

type response struct {
	ID    chat.MessageID
	Found bool
}

// maxRequest bounds a request, in bytes.
const maxRequest = 8 << 20

// ServeHTTP offers the platform to other processes.
func (p *Platform) ServeHTTP(out http.ResponseWriter, in *http.Request) {
	var asked request
	if err := json.NewDecoder(http.MaxBytesReader(out, in.Body, maxRequest)).Decode(&asked); err != nil {
		http.Error(out, err.Error(), http.StatusBadRequest)
		return
	}
	var given response
	var err error
	switch asked.Operation {
	case PostOperation:
		given.ID, err = p.Post(in.Context(), asked.Thread, asked.Key, asked.Post)
	case FindOperation:
		given.ID, given.Found, err = p.Find(in.Context(), asked.Thread, asked.Key)
	case EditOperation:
		err = p.Edit(in.Context(), asked.Thread, asked.Message, asked.Post)
	case TidyOperation:
		err = p.Tidy(in.Context(), asked.Thread, asked.Late)
	case RetractOperation:
		err = p.Retract(in.Context(), asked.Thread, asked.Message)
	default:
		http.Error(out, "no such operation", http.StatusBadRequest)
		return
	}
	if err != nil {
		writeRefusal(out, err)
		return
	}
	out.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(out).Encode(given); err != nil {
		panic(http.ErrAbortHandler) // the caller is gone: it will ask again
	}
}

func writeRefusal(out http.ResponseWriter, err error) {
	status := http.StatusInternalServerError
	if limited, ok := errors.AsType[*chat.RetryAfterError](err); ok {
		status = http.StatusTooManyRequests
		out.Header().Set("Retry-After", strconv.FormatFloat(limited.After.Seconds(), 'f', -1, 64))
	}
	switch {
	case errors.Is(err, chat.ErrGone):
		status = http.StatusGone
	case errors.Is(err, chat.ErrRefused):
		status = http.StatusUnprocessableEntity
	case errors.Is(err, chat.ErrNotPosted):
		status = http.StatusFailedDependency
	}
	http.Error(out, err.Error(), status)
}

// Remote is the chat.Poster of a Platform in another process.
type Remote struct {
	URL    string
	Client *http.Client
}

var (
	_ chat.Poster = (*Remote)(nil)
	_ chat.Tidier = (*Remote)(nil)
)

// Name is "platform".
func (r *Remote) Name() string { return "platform" }

// Run has no messages to hand over.
func (r *Remote) Run(ctx context.Context, _ chat.Handler) error {
	<-ctx.Done()
	return nil
}

// Post implements chat.Poster.
func (r *Remote) Post(ctx context.Context, thread chat.ThreadID, key chat.PostKey, post chat.Post) (chat.MessageID, error) {
	given, err := r.sendRequest(ctx, request{Operation: PostOperation, Thread: thread, Key: key, Post: post})
	return given.ID, err
}

// Find implements chat.Poster.
func (r *Remote) Find(ctx context.Context, thread chat.ThreadID, key chat.PostKey) (chat.MessageID, bool, error) {
	given, err := r.sendRequest(ctx, request{Operation: FindOperation, Thread: thread, Key: key})
	return given.ID, given.Found, err
}

// Edit implements chat.Poster.
func (r *Remote) Edit(ctx context.Context, thread chat.ThreadID, message chat.MessageID, post chat.Post) error {
	_, err := r.sendRequest(ctx, request{Operation: EditOperation, Thread: thread, Message: message, Post: post})
	return err
}

// Retract implements chat.Poster.
func (r *Remote) Retract(ctx context.Context, thread chat.ThreadID, message chat.MessageID) error {
	_, err := r.sendRequest(ctx, request{Operation: RetractOperation, Thread: thread, Message: message})
	return err
}

// Tidy implements chat.Tidier.
func (r *Remote) Tidy(ctx context.Context, thread chat.ThreadID, late chat.Late) error {
	_, err := r.sendRequest(ctx, request{Operation: TidyOperation, Thread: thread, Late: late})
	return err
}

func (r *Remote) sendRequest(ctx context.Context, asked request) (given response, err error) {
	body, err := json.Marshal(asked)
	if err != nil {
		return response{}, err
	}
	sent, err := http.NewRequestWithContext(ctx, http.MethodPost, r.URL, bytes.NewReader(body))
	if err != nil {
		return response{}, err
	}
	got, err := r.Client.Do(sent)
	if err != nil {
		return response{}, err
	}
	defer func() { err = errors.Join(err, got.Body.Close()) }()
	if got.StatusCode != http.StatusOK {
		return response{}, responseError(got)
	}
	return given, json.NewDecoder(io.LimitReader(got.Body, maxRequest)).Decode(&given)
}

// responseError returns the error that a response stands for.
func responseError(got *http.Response) error {
	said, err := io.ReadAll(io.LimitReader(got.Body, 1000))
	if err != nil {
		return err
	}
	cause := fmt.Errorf("%s: %s", got.Status, bytes.TrimSpace(said))
	switch got.StatusCode {
	case http.StatusTooManyRequests:
		seconds, err := strconv.ParseFloat(got.Header.Get("Retry-After"), 64)
		if err != nil {
			return errors.Join(cause, err)
		}
		return &chat.RetryAfterError{After: time.Duration(seconds * float64(time.Second)), Err: cause}
	case http.StatusGone:
		return fmt.Errorf("%w: %w", chat.ErrGone, cause)
	case http.StatusUnprocessableEntity:
		return fmt.Errorf("%w: %w", chat.ErrRefused, cause)
	}
	return cause
}
