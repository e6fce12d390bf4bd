package config

import (
	"errors"
	"fmt"
	"net"
	"net/url"
)

// Operations is the page for those who run Cairn, and who may open it.
type Operations struct {
	// Listen is an address of its own, "host:port"; "": it is on the web page's.
	Listen string `key:"listen" form:"listen" optional:"true"`
	// URL is the address that people reach it at, without a / at its end; "" where unknown.
	URL string `key:"url" form:"address" optional:"true"`

	Issuer   string   `key:"oidc_issuer" form:"issuer" optional:"true"` // an OpenID Connect provider, "" for none
	ClientID string   `key:"oidc_client_id" form:"name" optional:"true"`
	Allowed  []string `key:"oidc_allowed" form:"person"` // e-mail addresses, and names of groups

	Token        HiddenText `key:"token"` // that lets in
	ClientSecret HiddenText `key:"oidc_client_secret"`
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

// validate gives what is missing or does not fit together.
func (o Operations) validate() error {
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
	return errors.Join(append(faults, checkEncrypted("operations.oidc_issuer", o.Issuer), checkEncrypted("operations.url", o.URL))...)
}

// validateSignIn gives what is missing for people to sign in to the web page.
func (c Config) validateSignIn() error {
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
	return errors.Join(append(faults, checkEncrypted("web.url", c.Web.URL))...)
}

// checkEncrypted refuses an address that others could read along with.
func checkEncrypted(key, address string) error {
	parsed, err := url.Parse(address)
	if err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	if address == "" || parsed.Scheme == "https" || isLoopback(net.JoinHostPort(parsed.Hostname(), "0")) {
		return nil
	}
	return fmt.Errorf("%s: people sign in there: want an https address", key)
}
