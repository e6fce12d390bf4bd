package browser

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/chromedp/chromedp"
)

// Login is an account for tests that pages are looked at with: what a page shows it is shown to
// everybody who asks.
type Login struct {
	Page     string // with the form to sign in; "" for none. It has to be listed in Options.Pages
	User     string
	Password string // never logged, and left out of what pages show
}

// loginLimit is how long signing in may take.
const loginLimit = 10 * time.Second

// fillLogin fills in the form of a page and sends it. It tells whether there is one.
//
//go:embed login.js
var fillLogin string

// errNoForm says that a page has no form to sign in.
var errNoForm = errors.New("the page has no field for a password, or still has it")

// signIn fills in the form of the configured page, before anything of the window is recorded.
func (l *look) signIn() error {
	login := l.browser.options.Login
	if login.Page == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(l.tab, loginLimit)
	defer cancel()
	address := ""
	if err := chromedp.Run(ctx, chromedp.Navigate(login.Page), chromedp.Location(&address)); err != nil {
		return fmt.Errorf("open the page to sign in: %w", err)
	}
	if !isSameSite(address, login.Page) {
		return errors.New("the page leads to another site, which is not given the password")
	}
	sent := false
	for {
		has, err := callPage[bool](ctx, fillLogin, login.User, login.Password, !sent)
		switch {
		case ctx.Err() != nil:
			return errNoForm
		case err == nil && has && !sent:
			sent = true
		case err == nil && !has && sent:
			return nil
		}
		select { // the form appears, or the page behind it does
		case <-time.After(appearPause):
		case <-ctx.Done():
			return errNoForm
		}
	}
}

// callPage calls a function of ours in the page, with arguments that never become code.
func callPage[R any](ctx context.Context, function string, arguments ...any) (R, error) {
	var none R
	var values []map[string]any
	for _, argument := range arguments {
		values = append(values, map[string]any{"value": argument})
	}
	var result R
	err := chromedp.Run(ctx, chromedp.ActionFunc(func(ctx context.Context) error {
		whole, err := execute[struct {
			Result remote `json:"result"`
		}](ctx, "Runtime.evaluate", map[string]any{"expression": "globalThis"})
		if err != nil {
			return err
		}
		called, err := execute[struct {
			Result struct {
				Value R `json:"value"`
			} `json:"result"`
		}](ctx, "Runtime.callFunctionOn", map[string]any{
			"functionDeclaration": function, "objectId": whole.Result.ID, "arguments": values, "returnByValue": true, "silent": true,
		})
		result = called.Result.Value
		return err
	}))
	if err != nil {
		return none, err
	}
	return result, nil
}

func isSameSite(one, other string) bool {
	a, err := url.Parse(one)
	if err != nil {
		return false
	}
	b, err := url.Parse(other)
	return err == nil && a.Scheme == b.Scheme && a.Host == b.Host
}
