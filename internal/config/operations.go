package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Operations is the page for those who run Cairn, and who may open it.
type Operations struct {
	Listen string // address of its own, "host:port"; "": it is on the web page's
	URL    string // the address that people reach it at, without a / at its end; "" where unknown

	Token HiddenText // that lets in

	Issuer       string // an OpenID Connect provider, "" for none
	ClientID     string
	ClientSecret HiddenText
	Allowed      []string // e-mail addresses, and names of groups
}

// shortestToken is how many characters the token has at least.
const shortestToken = 16

// HasSignIn tells whether people sign in to the page.
func (o Operations) HasSignIn() bool { return !o.Token.IsZero() || o.Issuer != "" }

// OperationsOnWeb tells whether the page is on the web page's address: it has none of its
// own, and is open to those alone who sign in, or sit at this machine.
func (c Config) OperationsOnWeb() bool {
	return c.Operations.Listen == "" && (c.Operations.HasSignIn() || isLoopback(c.Web.Listen))
}

// isLoopback tells whether an address to listen at, "host:port", is reached from this
// machine alone.
func isLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}

// operationsAlone gives what is missing or does not fit together.
func (c Config) operationsAlone() error {
	o := c.Operations
	var faults []error
	if o.Listen != "" && !o.HasSignIn() && !isLoopback(o.Listen) {
		faults = append(faults, fmt.Errorf("operations.listen: %q is open to others: set CAIRN_OPERATIONS_TOKEN or operations.oidc_issuer, or listen at 127.0.0.1", o.Listen))
	}
	if token := o.Token.Reveal(); token != "" && len(token) < shortestToken {
		faults = append(faults, fmt.Errorf("operations.token: has %d characters, want %d or more, such as `openssl rand -hex 24` prints", len(token), shortestToken))
	}
	if o.Issuer == "" {
		if o.ClientID != "" || !o.ClientSecret.IsZero() || len(o.Allowed) > 0 {
			faults = append(faults, errors.New("operations.oidc_issuer: is missing: the other settings of OpenID Connect are there"))
		}
		return errors.Join(faults...)
	}
	for _, needed := range []struct {
		key     string
		missing bool
		why     string
	}{
		{"oidc_client_id", o.ClientID == "", "the issuer knows Cairn by it"},
		{"oidc_client_secret", o.ClientSecret.IsZero(), "set CAIRN_OPERATIONS_OIDC_CLIENT_SECRET or oidc_client_secret_file"},
		{"oidc_allowed", len(o.Allowed) == 0, "name the e-mail addresses or groups that may open the page"},
		{"url", o.URL == "", "people come back to it from the issuer"},
	} {
		if needed.missing {
			faults = append(faults, fmt.Errorf("operations.%s: is missing: %s (see docs/operations-page.md)", needed.key, needed.why))
		}
	}
	return errors.Join(append(faults, encrypted("operations.oidc_issuer", o.Issuer), encrypted("operations.url", o.URL))...)
}

// signInAlone gives what is missing for people to sign in to the web page.
func (c Config) signInAlone() error {
	if c.Access.Web != WebSignIn {
		return nil
	}
	var faults []error
	if c.Operations.Issuer == "" {
		faults = append(faults, errors.New("access.web: people sign in at the provider of the operations page: set operations.oidc_issuer (see docs/access.md)"))
	}
	if c.Web.URL == "" {
		faults = append(faults, errors.New("web.url: is missing: people come back to it from the issuer"))
	}
	return errors.Join(append(faults, encrypted("web.url", c.Web.URL))...)
}

// encrypted refuses an address that others could read along with.
func encrypted(key, address string) error {
	parsed, err := url.Parse(address)
	if err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	if address == "" || parsed.Scheme == "https" || isLoopback(net.JoinHostPort(parsed.Hostname(), "0")) {
		return nil
	}
	return fmt.Errorf("%s: people sign in there: want an https address", key)
}

var operationsSettings = slices.Concat([]setting[Config]{
	{
		key: "operations.listen", env: "CAIRN_OPERATIONS_LISTEN",
		set: func(c *Config, text string, _ base) (err error) {
			c.Operations.Listen, err = optionalAddress(text)
			return err
		},
		get: func(c Config) []string { return []string{c.Operations.Listen} },
	},
	chatAddress("operations.url", func(c *Config) *string { return &c.Operations.URL }, func(text string) string { return strings.TrimRight(text, "/") }),
	chatAddress("operations.oidc_issuer", func(c *Config) *string { return &c.Operations.Issuer }, func(text string) string { return text }),
	{
		key: "operations.oidc_client_id", env: "CAIRN_OPERATIONS_OIDC_CLIENT_ID",
		set: func(c *Config, text string, _ base) (err error) {
			if text != "" {
				c.Operations.ClientID, err = name(text)
			}
			return err
		},
		get: func(c Config) []string { return []string{c.Operations.ClientID} },
	},
	{
		key: "operations.oidc_allowed", env: "CAIRN_OPERATIONS_OIDC_ALLOWED", list: true,
		set: func(c *Config, text string, _ base) error {
			if text == "" || len(text) > 320 {
				return fmt.Errorf("%q: want an e-mail address or the name of a group", text)
			}
			c.Operations.Allowed = append(c.Operations.Allowed, text)
			return nil
		},
		get:   func(c Config) []string { return c.Operations.Allowed },
		clear: func(c *Config) { c.Operations.Allowed = nil },
	},
},
	chatSecret("operations.token", func(c *Config) *HiddenText { return &c.Operations.Token }),
	chatSecret("operations.oidc_client_secret", func(c *Config) *HiddenText { return &c.Operations.ClientSecret }),
)

// Shown is one setting as it may be shown.
type Shown struct {
	Key      string
	Value    string // the entries of a list are divided by commas; "" for a secret
	Variable string // of the environment; "" where it has none
	Secret   bool
	Set      bool // of a secret: whether there is one
}

// Shown gives all settings as they may be shown, secrets without their text. The entries of
// the lists "models" and "sources" are numbered from 1.
func (c Config) Shown() []Shown {
	shown := shownOf("", settings, c)
	for i, model := range c.Models {
		prefix := modelsKey + "." + strconv.Itoa(i+1) + "."
		shown = append(shown, shownOf(prefix, modelSettings, model)...)
		shown = append(shown, Shown{Key: prefix + "key", Secret: true, Set: !model.Key.Secret.IsZero()})
	}
	for i, source := range c.Sources {
		shown = append(shown, shownOf(sourcesKey+"."+strconv.Itoa(i+1)+".", sourceSettings, source)...)
	}
	return shown
}

func shownOf[T any](prefix string, settings []setting[T], of T) []Shown {
	var shown []Shown
	for _, s := range settings {
		one := Shown{Key: prefix + s.key, Variable: s.env}
		if s.held != nil {
			one.Secret, one.Set = true, s.held(of)
		} else {
			one.Value = strings.Join(s.get(of), ", ")
		}
		shown = append(shown, one)
	}
	return shown
}
