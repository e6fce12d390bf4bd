package slack

import (
	"cmp"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"github.com/cairn-bot/cairn/internal/chat/render"
)

//go:embed install.html
var installPage string

var installTemplate = template.Must(template.New("install").Parse(installPage))

// shownInstall is what the install page shows.
type shownInstall struct {
	Title, Text string
	Link        string // of the button; "" for none
}

// Handler has the page on which people add the app to their workspace, at …/install, and
// the one that Slack sends them back to, at …/oauth.
func (m *Many) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /slack/install", m.serveBegin)
	mux.HandleFunc("GET /slack/oauth", m.serveComplete)
	return mux
}

// stateFor is how long somebody may take to add the app.
const stateFor = 15 * time.Minute

// stateCookie ties the state to the browser in which adding began: somebody else's link
// back installs nothing.
const stateCookie = "cairn_slack_state"

// newState makes a state: when it ends and what tells it apart, signed.
func (m *Many) newState() (string, error) {
	var random [18]byte
	if _, err := rand.Read(random[:]); err != nil {
		return "", fmt.Errorf("make a state: %w", err)
	}
	stated := strconv.FormatInt(m.options.Now().Add(stateFor).Unix(), 10) + "." + base64.RawURLEncoding.EncodeToString(random[:])
	return stated + "." + m.signState(stated), nil
}

func (m *Many) signState(stated string) string {
	mac := hmac.New(sha256.New, m.options.Key)
	mac.Write([]byte("slack install state " + stated))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// checkState tells why a state is none of ours, or too old.
func (m *Many) checkState(state string) error {
	stated, signature, found := cutLast(state, ".")
	if !found || !hmac.Equal([]byte(signature), []byte(m.signState(stated))) {
		return errors.New("the state is not ours")
	}
	until, _, _ := strings.Cut(stated, ".")
	unix, err := strconv.ParseInt(until, 10, 64)
	if err != nil || m.options.Now().Unix() > unix {
		return errors.New("the state is too old")
	}
	return nil
}

// serveBegin shows the button that leads to Slack.
func (m *Many) serveBegin(w http.ResponseWriter, r *http.Request) {
	if len(m.options.Teams) == 0 {
		m.servePage(w, r, http.StatusForbidden, shownInstall{
			Title: "No workspace can add this app yet",
			Text:  "Whoever runs it has to list the workspaces that may, under slack.teams in its configuration.",
		})
		return
	}
	state, err := m.newState()
	if err != nil {
		m.serveFailure(w, r, http.StatusInternalServerError, err)
		return
	}
	http.SetCookie(w, &http.Cookie{
		Name: stateCookie, Value: state, Path: "/slack/", MaxAge: int(stateFor.Seconds()),
		HttpOnly: true, Secure: strings.HasPrefix(m.options.Address, "https:"), SameSite: http.SameSiteLaxMode,
	})
	to := m.options.AuthorizeURL + "?" + url.Values{
		"client_id": {m.options.ClientID}, "scope": {strings.Join(scopeNames(), ",")},
		"redirect_uri": {m.redirectURL()}, "state": {state},
	}.Encode()
	m.servePage(w, r, http.StatusOK, shownInstall{
		Title: "Add Cairn to Slack", Link: to,
		Text: "Only workspaces that are listed by whoever runs Cairn can add it. Slack shows next what it asks for.",
	})
}

// consentRefused is the error that Slack sends people back with who choose Cancel.
const consentRefused = "access_denied"

func (m *Many) redirectURL() string { return m.options.Address + "/oauth" }

// serveComplete takes the code that Slack sends people back with, and keeps the install.
func (m *Many) serveComplete(w http.ResponseWriter, r *http.Request) {
	asked := r.URL.Query()
	if asked.Get("error") == consentRefused { // there is nothing that a state would protect
		http.SetCookie(w, &http.Cookie{Name: stateCookie, Path: "/slack/", MaxAge: -1})
		m.servePage(w, r, http.StatusOK, shownInstall{
			Title: "You chose Cancel", Link: m.options.Address + "/install",
			Text: "So Cairn was not added, and nothing has changed. You can begin again whenever you like. " +
				"If your workspace has an admin approve apps, send them this page: the button leads them to the same place.",
		})
		return
	}
	cookie, err := r.Cookie(stateCookie)
	if err == nil && !hmac.Equal([]byte(cookie.Value), []byte(asked.Get("state"))) {
		err = errors.New("the state is another browser's")
	}
	if err == nil {
		err = m.checkState(asked.Get("state"))
	}
	switch {
	case err != nil:
		m.serveFailure(w, r, http.StatusForbidden, err)
		return
	case asked.Get("code") == "":
		m.serveFailure(w, r, http.StatusBadRequest, fmt.Errorf("Slack sent no code but the error %q", render.Head(asked.Get("error"), 60))) //nolint:staticcheck // Slack is a name
		return
	}
	given, err := slack.GetOAuthV2ResponseContext(r.Context(), m.options.Client, m.options.ClientID, m.options.ClientSecret,
		asked.Get("code"), m.redirectURL(), slack.OAuthOptionAPIURL(m.options.APIURL))
	if err != nil {
		m.serveFailure(w, r, http.StatusBadGateway, fmt.Errorf("exchange a code: %w", withoutAddress(err)))
		return
	}
	if !m.isListed(given.Team.ID, given.Enterprise.ID) {
		m.refuseTeam(w, r, given)
		return
	}
	if err := m.saveGranted(r, given); err != nil {
		m.serveFailure(w, r, http.StatusInternalServerError, err)
		return
	}
	http.SetCookie(w, &http.Cookie{Name: stateCookie, Path: "/slack/", MaxAge: -1})
	m.servePage(w, r, http.StatusOK, shownInstall{Title: "Cairn was added", Text: "Open Slack, invite @Cairn to a channel with /invite, and ask."})
}

// refuseTeam gives back what Slack has granted for a workspace that is not listed, keeps nothing of
// it, and says so.
func (m *Many) refuseTeam(w http.ResponseWriter, r *http.Request, given *slack.OAuthV2Response) {
	id := cmp.Or(given.Team.ID, given.Enterprise.ID)
	api := slack.New(given.AccessToken, slack.OptionAPIURL(m.options.APIURL), slack.OptionHTTPClient(m.options.Client))
	if _, err := api.SendAuthRevokeContext(r.Context(), given.AccessToken); err != nil {
		m.options.Logger.WarnContext(r.Context(), "revoke the token of a Slack workspace that is not listed", slog.String("install", id), slog.Any("error", withoutAddress(err)))
	}
	m.options.Logger.WarnContext(r.Context(), "refuse a Slack workspace: add it to slack.teams if it should have the app", slog.String("install", id))
	m.servePage(w, r, http.StatusForbidden, shownInstall{
		Title: "Cairn was not added", Text: "This workspace is not listed. Nothing was kept. Whoever runs Cairn can list it, by its id " + id + ".",
	})
}

// saveGranted saves what Slack has granted.
func (m *Many) saveGranted(r *http.Request, given *slack.OAuthV2Response) error {
	id, name := InstallID(given.Team.ID), given.Team.Name
	if given.IsEnterpriseInstall || id == "" {
		id, name = InstallID(given.Enterprise.ID), given.Enterprise.Name
	}
	if !slackID.MatchString(string(id)) {
		return errors.New("Slack named no workspace") //nolint:staticcheck // Slack is a name
	}
	api := slack.New(given.AccessToken, slack.OptionAPIURL(m.options.APIURL), slack.OptionHTTPClient(m.options.Client))
	told, err := api.AuthTestContext(r.Context())
	if err != nil {
		return fmt.Errorf("ask Slack who the bot is in %s: %w", id, withoutAddress(err))
	}
	err = m.saveInstall(r.Context(), id, install{
		Token: given.AccessToken, Refresh: given.RefreshToken, Expires: m.tokenExpiry(given), Bot: given.BotUserID,
		URL: told.URL, Name: name, Enterprise: given.Enterprise.ID, Installed: m.options.Now(),
	})
	if err != nil {
		return err
	}
	m.options.Logger.InfoContext(r.Context(), "slack workspace added the app", slog.String("install", string(id)))
	return m.logChange(r.Context(), id, true, given.AuthedUser.ID)
}

// serveFailure shows people that it did not work, and operators why.
func (m *Many) serveFailure(w http.ResponseWriter, r *http.Request, status int, err error) {
	m.options.Logger.WarnContext(r.Context(), "slack install failed", slog.Int("status", status), slog.Any("error", err))
	m.servePage(w, r, status, shownInstall{
		Title: "That did not work", Text: "Cairn was not added. Begin again; if that does not help, ask who runs Cairn to look into its log.",
		Link: m.options.Address + "/install",
	})
}

func (m *Many) servePage(w http.ResponseWriter, r *http.Request, status int, page shownInstall) {
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	if err := installTemplate.Execute(w, page); err != nil {
		m.options.Logger.DebugContext(r.Context(), "browser hung up", slog.Any("error", err))
	}
}

// withoutAddress is an error of the SDK's without the address that it asked, which may have had a
// secret in it.
func withoutAddress(err error) error {
	var asked *url.Error
	if errors.As(err, &asked) {
		return asked.Err
	}
	return err
}
