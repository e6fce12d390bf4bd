package operations

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/web"
	"github.com/cairn-bot/cairn/internal/agent/reports"
	"github.com/cairn-bot/cairn/internal/audit"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/runs"
	"github.com/cairn-bot/cairn/internal/session"
)

// Records are the records of runs, to be looked at: see runs.Registry and runs.Records.
type Records interface {
	List(ctx context.Context, filter runs.Filter, limit int) ([]runs.Record, error)
	Load(ctx context.Context, run chat.RunID) (runs.Record, error)
}

// Sessions are the threads' memories, to be looked at: see session.Store.
type Sessions interface {
	Load(ctx context.Context, thread chat.ThreadID) (session.Session, error)
}

// Control does what an operator asks of a run.
type Control interface {
	// Cancel ends a run that works or waits: ErrNotGoingOn.
	Cancel(ctx context.Context, run chat.RunID) error
	// Replay has a run gone on with that failed, was cancelled or put aside: chat.ErrRunOver.
	Replay(ctx context.Context, run chat.RunID) error
}

// ErrNotGoingOn is the error for a run that neither works nor waits at this moment.
var ErrNotGoingOn = errors.New("the run neither works nor waits for an answer")

// Source is a configured source.
type Source struct {
	Name   string
	Every  time.Duration // how often it is read; 0: not by itself
	Paused bool
}

// Ingests tells how sources were read: see index.IngestStates.
type Ingests interface {
	IngestStates(ctx context.Context) ([]index.IngestState, error)
}

// Agents tells how the agents of all processes are: see reports.Store.
type Agents interface {
	List(ctx context.Context) ([]reports.Report, error)
}

// Setting is one setting as it may be shown.
type Setting struct {
	Key      string
	Value    string // "" for a secret
	Variable string // of the environment; "" where it has none
	Secret   bool
	Set      bool // of a secret: whether there is one
}

// SignIn says who may look. With neither a token nor an issuer it is whoever sits at this
// machine, and nobody else.
type SignIn struct {
	Token string // that lets in; "" for none
	// Issuer is an OpenID Connect provider, "" for none. People come back from it to
	// Options.URL.
	Issuer                 string
	ClientID, ClientSecret string
	// Allowed are those whom the issuer may let in: an entry with an @ is an e-mail address,
	// which it must have verified, any other the name of a group.
	Allowed []string
}

// newSealer has a change of the token, or of who is allowed, end all sessions.
func (s SignIn) newSealer() (*web.Sealer, error) {
	allowed := slices.Sorted(slices.Values(s.Allowed))
	return web.NewSealer("cairn operations session", append([]string{s.Token, s.Issuer, s.ClientID, s.ClientSecret}, allowed...)...)
}

func (s SignIn) isConfigured() bool { return s.Token != "" || s.Issuer != "" }

// Options are what New needs. All but Ingests, URL, Now and Refresh are required; lists may
// be empty.
type Options struct {
	Records  Records
	Queues   runs.Operator
	Sessions Sessions
	Agents   Agents
	Control  Control
	Graphs   chat.Graphs
	Redactor Redactor
	Pins     Pins
	Ingests  Ingests // nil: the index keeps no such states
	Audit    audit.Log
	Logger   *slog.Logger

	Flows, Adapters []string // their names, to filter by
	// Sources gives the sources that are configured at this moment; nil: none are.
	Sources  func() ([]Source, error)
	Settings []Setting
	// Channel names where a run was asked for, by which answered questions are counted; nil: the
	// name of the adapter.
	Channel func(record runs.Record) string

	SignIn SignIn
	// URL is where people reach the page's server, without a / at its end:
	// "https://cairn.example.com". An issuer needs it.
	URL string
	// Pages is where people make pages, to which a question is added for a draft; "": nowhere.
	Pages   string
	Now     func() time.Time // nil: time.Now
	Refresh time.Duration    // between two looks for what is live; 0: 2 s
}

const defaultRefresh = 2 * time.Second

func (o *Options) complete() error {
	for _, required := range []struct {
		name    string
		missing bool
	}{
		{"Records", o.Records == nil}, {"Queues", o.Queues == nil}, {"Sessions", o.Sessions == nil}, {"Agents", o.Agents == nil}, {"Control", o.Control == nil},
		{"Graphs", o.Graphs == nil}, {"Redactor", o.Redactor == nil}, {"Pins", o.Pins == nil}, {"Audit", o.Audit == nil}, {"Logger", o.Logger == nil},
	} {
		if required.missing {
			return fmt.Errorf("option %s is missing", required.name)
		}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Refresh == 0 {
		o.Refresh = defaultRefresh
	}
	if o.SignIn.Issuer == "" {
		return nil
	}
	if address, err := url.Parse(o.URL); err != nil || address.Host == "" {
		return errors.New("people can't come back from the issuer: Options.URL is no address")
	}
	if o.SignIn.ClientID == "" || len(o.SignIn.Allowed) == 0 {
		return errors.New("an issuer needs SignIn.ClientID and SignIn.Allowed")
	}
	return nil
}
