package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"

	"golang.org/x/sync/errgroup"

	"github.com/cairn-bot/cairn/internal/adapters/web"
	"github.com/cairn-bot/cairn/internal/config"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/graph/flows/inspect"
	"github.com/cairn-bot/cairn/internal/inspect/browser"
	"github.com/cairn-bot/cairn/internal/inspect/relay"
	"github.com/cairn-bot/cairn/internal/inspect/session"
)

// screenOptions are where projects of apps are, and what shows the apps.
type screenOptions struct {
	projects   repositoryOptions
	configured config.Inspect
	relays     *relay.Pool      // nil: running apps can't be asked
	browser    *browser.Browser // nil: no web page may be looked at
}

// newScreens makes the flow that answers questions about the screens of an app; there may be no
// models.
func newScreens(options screenOptions, models Models) (flows.Flow, error) {
	made := inspect.Options{Open: newOpener(options.projects).Open, Project: options.configured.Project, Model: models.Answer, Verifier: models.Verify}
	if options.configured.Session != "" {
		made.Layer = session.NewFile(options.configured.Session)
	}
	if options.relays != nil {
		made.Join = options.relays.Join
	}
	if options.browser != nil {
		made.Web = options.browser
	}
	return inspect.New(made)
}

// openRelays makes what connects to the relays that apps may be asked over.
func openRelays(configured config.Inspect) (*relay.Pool, error) {
	relays, err := relay.NewPool(relay.Options{Relays: configured.AllowedRelays()})
	if err != nil {
		return nil, fmt.Errorf("inspect.relays: %w", err)
	}
	return relays, nil
}

// openBrowser makes what looks at the web pages that are listed; nil where none are.
func openBrowser(configured config.Inspect) (*browser.Browser, error) {
	if len(configured.Pages) == 0 {
		return nil, nil
	}
	b, err := browser.New(browser.Options{
		Program: configured.Chromium, Remote: configured.ChromiumURL, Pages: configured.Pages, NoSandbox: configured.ChromiumNoSandbox,
		Login: browser.Login{Page: configured.LoginPage, User: configured.LoginUser, Password: configured.LoginPassword.Reveal()},
	})
	if err != nil {
		return nil, fmt.Errorf("inspect.pages and inspect.chromium_url: %w", err)
	}
	return b, nil
}

// CheckBrowser starts what looks at the web pages that are listed, or connects to it, and gives its
// name and version; "" where none are listed.
func CheckBrowser(ctx context.Context, configured config.Inspect) (version string, err error) {
	looker, err := openBrowser(configured)
	if looker == nil || err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, looker.Close()) }()
	return looker.Version(ctx)
}

// startRelay is a relay for apps, until ctx ends.
func startRelay(ctx context.Context, c *Cairn, parts *errgroup.Group, out io.Writer) error {
	address := c.Config.Inspect.RelayListen
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("listen for apps: %w: choose another address with inspect.relay_listen", err)
	}
	server := relay.NewServer(relay.ServerOptions{})
	parts.Go(func() error {
		stop := context.AfterFunc(ctx, server.Close) // polls end, so that the listener can
		defer stop()
		defer server.Close()
		return web.Serve(ctx, listener, server, c.Logger)
	})
	_, err = fmt.Fprintf(out, "Relay for apps at http://%s\n", listener.Addr())
	return err
}
