package openai

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"

	wire "github.com/sashabaranov/go-openai"

	"github.com/cairn-bot/cairn/internal/llm"
)

// The ends of patience, as causes of a cancelled try.
var (
	errFirstToken = errors.New("no token came in time")
	errStalled    = errors.New("the reply stalled")
	errTooSlow    = errors.New("the reply did not end in time")
)

var (
	errCut       = errors.New("the connection ended before the reply did")
	errMalformed = errors.New("the server's answer can't be read")
	errEmpty     = errors.New("the reply is empty")
)

// serverError is an error that the server gave. Its text is not kept, only what was
// found in it.
type serverError struct {
	status  int // 0: within a stream
	code    string
	about   feature
	tooLong bool
	refusal bool
}

// Error tells status and code.
func (e *serverError) Error() string {
	text := "error within the stream"
	if e.status > 0 {
		text = fmt.Sprintf("status %d %s", e.status, http.StatusText(e.status))
	}
	if e.code != "" {
		text += ", " + e.code
	}
	return text
}

// knownCodes may be told: others could hold anything.
var knownCodes = map[string]bool{
	"invalid_api_key": true, "insufficient_quota": true, "rate_limit_exceeded": true, "model_not_found": true,
	"context_length_exceeded": true, "content_filter": true, "content_policy_violation": true, "invalid_request_error": true,
	"unsupported_parameter": true, "unsupported_value": true, "server_error": true, "deploymentnotfound": true,
	"exceed_context_size_error": true, "tokens_exceeded": true, "billing_hard_limit_reached": true, "account_deactivated": true,
	"invalid_type": true, "invalid_value": true, "missing_required_parameter": true, "unsupported_country_region_territory": true,
	"string_above_max_length": true, "engine_overloaded": true, "overloaded_error": true, "not_found_error": true,
}

// newServerError looks through what the server said.
func newServerError(status int, said *wire.APIError) *serverError {
	e := &serverError{status: status}
	if said == nil {
		return e
	}
	if code, ok := said.Code.(int); ok && status == 0 && code >= http.StatusBadRequest && code < 600 {
		e.status = code // gateways put the status of what is behind them into the stream
	}
	for _, code := range []string{fmt.Sprint(said.Code), said.Type} {
		if code = strings.ToLower(code); knownCodes[code] {
			e.code = code
			break
		}
	}
	param := ""
	if said.Param != nil {
		param = *said.Param
	}
	text := strings.ToLower(said.Message)
	e.about = featureIn(strings.ToLower(param))
	if e.about == "" {
		e.about = featureIn(text)
	}
	e.refusal = e.code == "content_filter" || e.code == "content_policy_violation"
	for _, sign := range []string{"context length", "context_length", "context size", "context window", "exceeds the available context"} {
		e.tooLong = e.tooLong || strings.Contains(text, sign) || strings.Contains(e.code, "context")
	}
	return e
}

// failure is what stands for an error of the wire, and whether asking again may help.
func (x *exchange) failure(ctx context.Context, err error) (failure *llm.Error, again bool) {
	var api *wire.APIError
	var request *wire.RequestError
	switch {
	case errors.As(err, &api):
		return x.served(newServerError(api.HTTPStatusCode, api))
	case errors.As(err, &request):
		return x.served(newServerError(request.HTTPStatusCode, nil))
	}
	for _, slow := range []error{errFirstToken, errStalled, errTooSlow} {
		if errors.Is(context.Cause(ctx), slow) {
			return &llm.Error{Failure: llm.Slow, Cause: slow}, false
		}
	}
	if ctx.Err() != nil {
		return llm.Ended(ctx), false
	}
	for _, wrong := range []error{
		errRedirect, errNotStatus, errNoStream, wire.ErrReasoningToolsRequireResponses, wire.ErrReasoningSamplingUnsupported,
		wire.ErrReasoningEffortUnsupported, wire.ErrReasoningModelMaxTokensDeprecated, wire.ErrReasoningModelLimitationsOther,
		wire.ErrChatCompletionInvalidModel,
	} {
		if errors.Is(err, wrong) {
			return &llm.Error{Failure: llm.Rejected, Cause: wrong}, false
		}
	}
	return &llm.Error{Failure: llm.Unavailable, Cause: connection(err)}, !errors.Is(err, errTooLong)
}

// served is the failure that an error of the server stands for.
func (x *exchange) served(e *serverError) (failure *llm.Error, again bool) {
	failure = &llm.Error{Failure: llm.Rejected, Cause: e, RetryAfter: x.retryAfter}
	switch {
	case e.refusal:
		failure.Failure = llm.Refused
	case e.tooLong && e.status < http.StatusInternalServerError:
		failure.Failure = llm.TooLong
	case e.status == http.StatusTooManyRequests:
		failure.Failure = llm.Limited
		// An account without credit has none a moment later.
		return failure, e.code != "insufficient_quota" && e.code != "billing_hard_limit_reached"
	case e.status == 0, e.status == http.StatusRequestTimeout, e.status == http.StatusConflict, e.status >= http.StatusInternalServerError:
		failure.Failure = llm.Unavailable
		return failure, e.status != http.StatusNotImplemented
	}
	return failure, false
}

// connection is what may be told of an error of the network: addresses and system
// errors, but neither URLs nor what was read.
func connection(err error) error {
	var dial *net.OpError
	var lookup *net.DNSError
	var system syscall.Errno
	switch {
	case errors.As(err, &lookup):
		return lookup
	case errors.As(err, &dial):
		return dial
	case errors.As(err, &system):
		return system
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errCut
	case errors.Is(err, os.ErrDeadlineExceeded):
		return os.ErrDeadlineExceeded
	}
	for _, known := range []error{errCut, errMalformed, errEmpty, errTooLong} {
		if errors.Is(err, known) {
			return known
		}
	}
	return errMalformed
}
