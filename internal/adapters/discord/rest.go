package discord

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/cairn-bot/cairn/internal/adapters/discord/fleet"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/webhook"
)

// request is one call of Discord's REST interface.
type request struct {
	does   string // in a few words, for errors: "post a message"
	method string
	url    string
	body   any
	files  []upload
	public bool // of webhooks and interactions: their address is the permission
}

// upload is a file that goes with a message.
type upload struct {
	name      string
	mediaType string
	content   []byte
}

// requestTimeout is a bit longer than the bot waits for a platform.
const requestTimeout = 35 * time.Second

// newClient is an HTTP client with time limits, that keeps connections to Discord for all
// that is posted at the same time.
func newClient() *http.Client {
	return &http.Client{Timeout: requestTimeout, Transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 32, IdleConnTimeout: 90 * time.Second,
		TLSHandshakeTimeout: 10 * time.Second, ExpectContinueTimeout: time.Second,
	}}
}

// callREST calls Discord and reads the answer into answer, unless that is nil.
//
// The pace is the client's transport's, which knows of all processes. The SDK's own limiter
// knows of one, and sleeps without heed of ctx: each call gets a fresh one that never does.
// Nor does the SDK try again by itself: what it could not know to be undone must be looked
// for first.
func callREST(ctx context.Context, client *http.Client, token string, asks request, answer any) error {
	session := &discordgo.Session{
		Client: client, Ratelimiter: discordgo.NewRatelimiter(), UserAgent: "DiscordBot (https://cairn.invalid, 1)", Token: "Bot " + token,
	}
	if asks.public {
		session.Token = ""
	}
	options := []discordgo.RequestOption{discordgo.WithContext(ctx), discordgo.WithRetryOnRatelimit(false), discordgo.WithRestRetries(0)}
	got, err := sendRequest(session, asks, options)
	if err != nil {
		var later *fleet.TurnError
		if errors.As(err, &later) { // nothing was sent
			return &chat.RetryAfterError{After: later.After, Err: fmt.Errorf("%s in Discord: %w", asks.does, later)}
		}
		if ctx.Err() != nil {
			return fmt.Errorf("%s in Discord: %w", asks.does, ctx.Err())
		}
		return classifyError(asks.does, err)
	}
	if answer == nil || len(got) == 0 {
		return nil
	}
	if err := webhook.Decode(got, answer); err != nil {
		return fmt.Errorf("%s in Discord: read the answer: %w", asks.does, err)
	}
	return nil
}

func sendRequest(session *discordgo.Session, asks request, options []discordgo.RequestOption) ([]byte, error) {
	if len(asks.files) == 0 {
		return session.RequestWithBucketID(asks.method, asks.url, asks.body, asks.url, options...)
	}
	files := make([]*discordgo.File, len(asks.files))
	for i, file := range asks.files {
		files[i] = &discordgo.File{Name: file.name, ContentType: file.mediaType, Reader: bytes.NewReader(file.content)}
	}
	kind, body, err := discordgo.MultipartBodyWithJSON(asks.body, files)
	if err != nil {
		return nil, err
	}
	return session.RequestRaw(asks.method, asks.url, kind, body, asks.url, 0, options...)
}

// hideAddress leaves the address out of an error: those of webhooks hold a token.
func hideAddress(err error) error {
	var of *url.Error
	if errors.As(err, &of) {
		return fmt.Errorf("%s: %w", of.Op, of.Err)
	}
	return err
}

// callAPI calls Discord as the bot. While Discord fails most calls are held back: nothing was sent
// then.
func (a *Adapter) callAPI(ctx context.Context, asks request, answer any) error {
	if wait := a.outage.Admit(a.now()); wait > 0 {
		return &chat.RetryAfterError{After: wait, Err: fmt.Errorf("%s in Discord: Discord fails at the moment", asks.does)}
	}
	err := callREST(ctx, a.options.Client, a.options.Token, asks, answer)
	answered, ok := errors.AsType[*codedError](err)
	switch {
	case ok && answered.status >= http.StatusInternalServerError:
		a.outage.NoteFailure(a.now())
	case ok || err == nil:
		a.outage.NoteAnswer()
	}
	return err
}
