package discord

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/cairn-bot/cairn/internal/chat"
)

// Discord's codes of errors.
const (
	noSuchChannel   = 10003
	unknownMessage  = 10008
	unknownWebhook  = 10015
	unknownInteract = 10062
	acknowledged    = 40060
	expiredToken    = 50027
	threadArchived  = 50083
	threadIsThere   = 160004
)

// goneCodes are those after which nothing was posted and never will be: what was to be
// posted in is gone or locked, or the bot may not.
var goneCodes = []int{
	noSuchChannel, 10004, unknownMessage, unknownWebhook, unknownInteract, // unknown channel, server, message, webhook, interaction
	30046, 50001, 50005, 50007, 50013, 50024, expiredToken, threadArchived, 160002, 160005, // no access, another's message, no DMs, no permission, wrong channel, archived, locked
}

// codeOf is Discord's code of an error, 0 where it gave none.
func codeOf(err error) int {
	var refused *discordgo.RESTError
	if errors.As(err, &refused) && refused.Message != nil {
		return refused.Message.Code
	}
	return 0
}

// classifyError makes the error of a call one of chat's where Discord's answer says so.
func classifyError(operation string, err error) error {
	if err == nil {
		return nil
	}
	var limited *discordgo.RateLimitError
	if errors.As(err, &limited) {
		after := time.Second
		if limited.RateLimit != nil && limited.TooManyRequests != nil && limited.RetryAfter > 0 {
			after = limited.RetryAfter
		}
		return &chat.RetryAfterError{After: after, Err: fmt.Errorf("%s in Discord: too many requests", operation)}
	}
	var refused *discordgo.RESTError
	if !errors.As(err, &refused) || refused.Response == nil {
		return fmt.Errorf("%s in Discord: %w", operation, hideAddress(err))
	}
	said := fmt.Errorf("status %d, code %d: %.300s", refused.Response.StatusCode, codeOf(err), refused.ResponseBody)
	switch status := refused.Response.StatusCode; {
	case slices.Contains(goneCodes, codeOf(err)), status == http.StatusForbidden, status == http.StatusNotFound:
		return fmt.Errorf("%s in Discord: %w: %w", operation, chat.ErrGone, &codedError{codeOf(err), refused.Response.StatusCode, said})
	case status == http.StatusBadRequest, status == http.StatusRequestEntityTooLarge:
		return fmt.Errorf("%s in Discord: %w: %w", operation, chat.ErrRefused, &codedError{codeOf(err), refused.Response.StatusCode, said})
	}
	return fmt.Errorf("%s in Discord: %w", operation, &codedError{codeOf(err), refused.Response.StatusCode, said})
}

// codedError keeps Discord's code with what it said.
type codedError struct {
	code   int
	status int
	err    error
}

func (e *codedError) Error() string { return e.err.Error() }
func (e *codedError) Unwrap() error { return e.err }

// isCode tells whether Discord gave an error one of the codes.
func isCode(err error, codes ...int) bool {
	var coded *codedError
	return errors.As(err, &coded) && slices.Contains(codes, coded.code)
}

// isStatus tells whether Discord answered with a status.
func isStatus(err error, status int) bool {
	var coded *codedError
	return errors.As(err, &coded) && coded.status == status
}

func parseSeconds(text string) time.Duration {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || n <= 0 || n > 86400 {
		return time.Second
	}
	return time.Duration(n * float64(time.Second))
}
