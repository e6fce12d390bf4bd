package slack

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/slack-go/slack"

	"github.com/cairn-bot/cairn/internal/chat"
)

// ManyOptions is what Many needs; all but APIURL, AuthorizeURL, Client and Now.
type ManyOptions struct {
	Installs     Installs
	Key          []byte // 32 bytes that installs are sealed with
	ClientID     string
	ClientSecret string
	Address      string // where people reach the install page: "https://cairn.example.com/slack"
	Logger       *slog.Logger
	APIURL       string       // "" is Slack's
	AuthorizeURL string       // the page on which a workspace lets the app in; "" is Slack's
	Client       *http.Client // nil is one with time limits
	Now          func() time.Time
	// Teams are the ids of the workspaces and enterprises that may have the app; AnyTeam among them
	// lets in all. Empty: none may.
	Teams []string
	// Changed is told of workspaces that come and go, to write it down; by is who let the
	// app in, "" where Slack does not tell. nil: nobody is told.
	Changed func(ctx context.Context, id InstallID, installed bool, by string) error
}

// Many is the app in all workspaces that have installed it. Its Handler has the page to do
// so.
type Many struct {
	options ManyOptions
	sealer  sealer
	wait    func(ctx context.Context, d time.Duration) error

	mu     sync.Mutex
	opened map[InstallID]readInstall
}

// readInstall is an install as it was read lately.
type readInstall struct {
	of install
	at time.Time
}

// Bounds of what is remembered of installs.
const (
	maxOpened = 2048
	// openedFor is how long an install is used as it was read: an uninstall that another
	// process heard of is known after that.
	openedFor = time.Minute
)

// NewMany checks the options; it connects to nothing.
func NewMany(options ManyOptions) (*Many, error) {
	if options.Installs == nil || options.ClientID == "" || options.ClientSecret == "" || options.Address == "" || options.Logger == nil {
		return nil, errors.New("many Slack workspaces need installs, a client id and secret, the address of the install page, and a logger")
	}
	sealer, err := newSealer(options.Key)
	if err != nil {
		return nil, fmt.Errorf("many Slack workspaces: %w", err)
	}
	if options.APIURL == "" {
		options.APIURL = slack.APIURL
	}
	if options.AuthorizeURL == "" {
		options.AuthorizeURL = "https://slack.com/oauth/v2/authorize"
	}
	if options.Client == nil {
		options.Client = newClient()
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	return &Many{options: options, sealer: sealer, wait: waitFor, opened: map[InstallID]readInstall{}}, nil
}

var _ Workspaces = (*Many)(nil)

// Workspace implements Workspaces.
func (m *Many) Workspace(ctx context.Context, team, enterprise string) (Workspace, error) {
	id, of, err := m.findInstall(ctx, InstallID(team), InstallID(enterprise))
	if err == nil && !m.isListed(team, string(id), of.Enterprise) {
		return Workspace{}, fmt.Errorf("team %s is not among slack.teams: %w", team, chat.ErrGone)
	}
	if errors.Is(err, ErrNotInstalled) {
		return Workspace{}, fmt.Errorf("%w: %w", chat.ErrGone, err)
	}
	if err != nil {
		return Workspace{}, err
	}
	if of, err = m.ensureFresh(ctx, id, of); err != nil {
		return Workspace{}, err
	}
	found := Workspace{Token: of.Token, Bot: of.Bot, URL: of.URL, Enterprise: of.Enterprise}
	if strings.HasPrefix(string(id), "T") {
		found.Team = string(id)
	} else {
		found.Enterprise = string(id)
	}
	return found, nil
}

// AnyTeam among teams is every one.
const AnyTeam = "*"

// isListed tells whether one of a workspace's and its enterprise's ids may have the app.
func (m *Many) isListed(ids ...string) bool {
	return slices.ContainsFunc(m.options.Teams, func(team string) bool { return team == AnyTeam || slices.Contains(ids, team) })
}

// findInstall gives the install that a team is part of: its own, or its enterprise's. That of an
// enterprise is noted for the team, so that it is found where the enterprise is not told.
func (m *Many) findInstall(ctx context.Context, team, enterprise InstallID) (InstallID, install, error) {
	of, err := m.loadInstall(ctx, team)
	switch {
	case errors.Is(err, ErrNotInstalled) && enterprise != "":
		if of, err = m.loadInstall(ctx, enterprise); err != nil {
			return "", install{}, err
		}
		return enterprise, of, m.saveInstall(ctx, team, install{For: enterprise})
	case err != nil:
		return "", install{}, err
	case of.For != "":
		whole, err := m.loadInstall(ctx, of.For)
		return of.For, whole, err
	}
	return team, of, nil
}

// loadInstall reads an install, or gives what was read a moment ago.
func (m *Many) loadInstall(ctx context.Context, id InstallID) (install, error) {
	now := m.options.Now()
	m.mu.Lock()
	found, ok := m.opened[id]
	m.mu.Unlock()
	if ok && now.Sub(found.at) < openedFor {
		return found.of, nil
	}
	return m.reloadInstall(ctx, id)
}

func (m *Many) reloadInstall(ctx context.Context, id InstallID) (install, error) {
	sealed, err := m.options.Installs.Load(ctx, id)
	if err != nil {
		m.dropCached(id)
		return install{}, fmt.Errorf("load install %s: %w", id, err)
	}
	of, err := m.sealer.openInstall(id, sealed)
	if err != nil {
		return install{}, err
	}
	m.cacheInstall(id, of)
	return of, nil
}

func (m *Many) saveInstall(ctx context.Context, id InstallID, of install) error {
	sealed, err := m.sealer.sealInstall(id, of)
	if err != nil {
		return err
	}
	if err := m.options.Installs.Save(ctx, id, sealed); err != nil {
		return fmt.Errorf("save install %s: %w", id, err)
	}
	m.cacheInstall(id, of)
	return nil
}

func (m *Many) cacheInstall(id InstallID, of install) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.opened) >= maxOpened {
		clear(m.opened) // they are read again
	}
	m.opened[id] = readInstall{of, m.options.Now()}
}

func (m *Many) dropCached(id InstallID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.opened, id)
}

// Leave ends the install of a workspace, or where none is named of a whole enterprise.
func (m *Many) Leave(ctx context.Context, team, enterprise string) error {
	id := InstallID(team)
	if id == "" {
		id = InstallID(enterprise)
	}
	m.dropCached(id)
	if err := m.options.Installs.Delete(ctx, id); err != nil {
		return fmt.Errorf("end install %s: %w", id, err)
	}
	return m.logChange(ctx, id, false, "")
}

// logChange tells of an install that came or went.
func (m *Many) logChange(ctx context.Context, id InstallID, installed bool, by string) error {
	if m.options.Changed == nil {
		return nil
	}
	return m.options.Changed(ctx, id, installed, by)
}

// Bounds of the rotation of tokens, which live for 12 hours.
const (
	// refreshBefore is how long before its end a token is replaced.
	refreshBefore = time.Hour
	// refreshLimit is how long one process may take for it.
	refreshLimit = 45 * time.Second
	// refreshPause is between two looks at whether another process is done.
	refreshPause = 500 * time.Millisecond
)

// ensureFresh replaces a token that is about to end. One process at a time does it, for Slack
// takes a refresh token once; the others go on with the old token while it is good.
func (m *Many) ensureFresh(ctx context.Context, id InstallID, of install) (install, error) {
	for m.isDue(of) {
		held, unlock, err := m.options.Installs.Lock(ctx, id, refreshLimit)
		switch {
		case err != nil:
			return install{}, fmt.Errorf("refresh the token of install %s: %w", id, err)
		case held:
			of, err = m.refreshToken(ctx, id)
			return of, errors.Join(err, unlock(context.WithoutCancel(ctx)))
		case m.options.Now().Before(of.Expires):
			return of, nil
		}
		if err := m.wait(ctx, refreshPause); err != nil {
			return install{}, fmt.Errorf("wait for the token of install %s: %w", id, err)
		}
		if of, err = m.reloadInstall(ctx, id); err != nil {
			return install{}, err
		}
	}
	return of, nil
}

func (m *Many) isDue(of install) bool {
	return !of.Expires.IsZero() && of.Refresh != "" && m.options.Now().Add(refreshBefore).After(of.Expires)
}

// refreshToken gets a new token and saves it before anything is done with it. The caller holds
// the install.
func (m *Many) refreshToken(ctx context.Context, id InstallID) (install, error) {
	of, err := m.reloadInstall(ctx, id)
	if err != nil || !m.isDue(of) { // another process was first
		return of, err
	}
	given, err := slack.RefreshOAuthV2TokenContext(ctx, m.options.Client, m.options.ClientID, m.options.ClientSecret, of.Refresh,
		slack.OAuthOptionAPIURL(m.options.APIURL))
	if refusalName(err) == "invalid_refresh_token" {
		return install{}, fmt.Errorf("refresh the token of install %s: Slack has revoked it: install the app there anew: %w", id, chat.ErrGone)
	}
	if err != nil {
		return install{}, fmt.Errorf("refresh the token of install %s: %w", id, withoutAddress(err))
	}
	of.Token, of.Refresh, of.Expires = given.AccessToken, given.RefreshToken, m.tokenExpiry(given)
	// What Slack has given is lost where it is not saved.
	return of, m.saveInstall(context.WithoutCancel(ctx), id, of)
}

func (m *Many) tokenExpiry(given *slack.OAuthV2Response) time.Time {
	if given.ExpiresIn <= 0 {
		return time.Time{}
	}
	return m.options.Now().Add(time.Duration(given.ExpiresIn) * time.Second)
}
