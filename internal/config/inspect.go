package config

import (
	"errors"
	"net"
)

// Inspect is what questions about the screens of an app are answered from.
type Inspect struct {
	// Project is opened where a question and its thread name none: a folder or an https address.
	Project string `key:"project" form:"name" optional:"true"`
	// Session is a file that was recorded of the app; "" for none.
	Session string `key:"session" form:"path" optional:"true"` // absolute
	// Relays are the addresses of relays that apps may be asked over; the first is meant where
	// a question names none.
	Relays []string `key:"relays" form:"address"`
	// RelayListen is where Cairn is a relay itself, "host:port"; "" for nowhere. RelayURL is
	// where apps reach it, "" where unknown.
	RelayListen string `key:"relay_listen" form:"listen" optional:"true"`
	RelayURL    string `key:"relay_url" form:"address" optional:"true"`
	// Pages are what the addresses of web pages begin with that may be looked at.
	Pages []string `key:"pages" form:"address"`
	// LoginPage has the form at which those pages are signed in to as LoginUser; "" for none.
	LoginPage     string     `key:"login_page" form:"address" optional:"true"`
	LoginUser     string     `key:"login_user" form:"name" optional:"true"`
	LoginPassword HiddenText `key:"login_password"`
	// Chromium is the program that looks at them; "" is the one in PATH.
	Chromium string `key:"chromium" form:"path" optional:"true"`
	// ChromiumNoSandbox has Chromium go without its sandbox, which most containers do not allow.
	ChromiumNoSandbox bool `key:"chromium_no_sandbox"`
	// ChromiumURL is where one that runs beside Cairn is debugged; "" for none.
	ChromiumURL string `key:"chromium_url" form:"address" optional:"true"`
}

// AllowedRelays are the relays that apps may be asked over: where none is listed, Cairn's own.
func (i Inspect) AllowedRelays() []string {
	switch {
	case len(i.Relays) > 0:
		return i.Relays
	case i.RelayURL != "":
		return []string{i.RelayURL}
	case i.RelayListen != "":
		if _, port, err := net.SplitHostPort(i.RelayListen); err == nil {
			return []string{"http://127.0.0.1:" + port}
		}
	}
	return nil
}

// validate gives what is missing of the test login, and what goes against each other.
func (i Inspect) validate() error {
	switch {
	case i.Chromium != "" && i.ChromiumURL != "":
		return errors.New("inspect.chromium_url: is one that runs already: leave inspect.chromium out")
	case i.LoginPage == "" && i.LoginUser != "":
		return errors.New("inspect.login_page: is missing: login_user signs in there")
	case i.LoginPage != "" && i.LoginUser == "":
		return errors.New("inspect.login_user: is missing: it signs in at login_page")
	case i.LoginPage != "" && i.LoginPassword.IsZero():
		return errors.New("inspect.login_password: is missing: set CAIRN_INSPECT_LOGIN_PASSWORD or login_password_file")
	}
	return nil
}
