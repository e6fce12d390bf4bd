// Package openidtest is a strict OpenID Connect provider to test against.
package openidtest

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"
)

// The client of the issuer.
const (
	ClientID     = "cairn"
	ClientSecret = "s3cret-of-the-client"
)

// Claims is what an id token says.
type Claims struct {
	Issuer   string   `json:"iss"`
	Subject  string   `json:"sub"`
	Audience string   `json:"aud"`
	Expires  int64    `json:"exp"`
	Issued   int64    `json:"iat"`
	Nonce    string   `json:"nonce"`
	Email    string   `json:"email,omitempty"`
	Verified bool     `json:"email_verified"`
	Groups   []string `json:"groups,omitempty"`
}

// Issuer is a strict OpenID Connect provider: it takes a code once, from the client that
// it was given to, with the verifier that it was asked for with.
type Issuer struct {
	*httptest.Server
	t      *testing.T
	key    *rsa.PrivateKey
	Signer *rsa.PrivateKey // of tokens; another than key is a forger's
	Back   string          // the one address that it sends people back to
	Person func(*Claims)   // changes what is said of Ann

	challenge, nonce string // of the sign-in under way
	code             string // "" once it was taken
}

// New starts an issuer, which ends with the test.
func New(t *testing.T) *Issuer {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	i := &Issuer{t: t, key: key, Signer: key, Person: func(*Claims) {}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", i.discovery)
	mux.HandleFunc("GET /keys", i.keys)
	mux.HandleFunc("GET /authorize", i.authorize)
	mux.HandleFunc("POST /token", i.token)
	i.Server = httptest.NewServer(mux)
	t.Cleanup(i.Close)
	return i
}

func (i *Issuer) send(out http.ResponseWriter, status int, value any) {
	out.Header().Set("Content-Type", "application/json")
	out.WriteHeader(status)
	if err := json.NewEncoder(out).Encode(value); err != nil {
		i.t.Error(err)
	}
}

func (i *Issuer) discovery(out http.ResponseWriter, _ *http.Request) {
	i.send(out, http.StatusOK, struct {
		Issuer        string   `json:"issuer"`
		Authorization string   `json:"authorization_endpoint"`
		Token         string   `json:"token_endpoint"`
		Keys          string   `json:"jwks_uri"`
		Algorithms    []string `json:"id_token_signing_alg_values_supported"`
		Scopes        []string `json:"scopes_supported"`
	}{i.URL, i.URL + "/authorize", i.URL + "/token", i.URL + "/keys", []string{"RS256"}, []string{"openid", "email", "groups"}})
}

func (i *Issuer) keys(out http.ResponseWriter, _ *http.Request) {
	type key struct {
		Kind      string `json:"kty"`
		Use       string `json:"use"`
		Algorithm string `json:"alg"`
		ID        string `json:"kid"`
		N         string `json:"n"`
		E         string `json:"e"`
	}
	i.send(out, http.StatusOK, struct {
		Keys []key `json:"keys"`
	}{[]key{{"RSA", "sig", "RS256", "1", base64url(i.key.N.Bytes()), base64url(big.NewInt(int64(i.key.E)).Bytes())}}})
}

func base64url(data []byte) string { return base64.RawURLEncoding.EncodeToString(data) }

// authorize signs Ann in and sends her back.
func (i *Issuer) authorize(out http.ResponseWriter, request *http.Request) {
	query := request.URL.Query()
	if query.Get("client_id") != ClientID || query.Get("redirect_uri") != i.Back || query.Get("response_type") != "code" ||
		query.Get("code_challenge_method") != "S256" || query.Get("scope") != "openid email groups" || query.Get("state") == "" {
		i.t.Errorf("authorize: %s", request.URL.RawQuery)
		http.Error(out, "refused", http.StatusBadRequest)
		return
	}
	i.challenge, i.nonce, i.code = query.Get("code_challenge"), query.Get("nonce"), rand.Text()
	http.Redirect(out, request, i.Back+"?"+url.Values{"state": {query.Get("state")}, "code": {i.code}}.Encode(), http.StatusFound)
}

func (i *Issuer) token(out http.ResponseWriter, request *http.Request) {
	id, secret, ok := request.BasicAuth()
	hash := sha256.Sum256([]byte(request.FormValue("code_verifier")))
	if !ok || id != ClientID || secret != ClientSecret || request.FormValue("redirect_uri") != i.Back || i.code == "" ||
		request.FormValue("code") != i.code || base64url(hash[:]) != i.challenge {
		i.send(out, http.StatusBadRequest, struct {
			Error string `json:"error"`
		}{"invalid_grant"})
		return
	}
	i.code = ""
	now := time.Now()
	claims := Claims{
		Issuer: i.URL, Subject: "4711", Audience: ClientID, Expires: now.Add(time.Hour).Unix(), Issued: now.Unix(), Nonce: i.nonce,
		Email: "Ann@example.com", Verified: true,
	}
	i.Person(&claims)
	i.send(out, http.StatusOK, struct {
		Access string `json:"access_token"`
		Kind   string `json:"token_type"`
		ID     string `json:"id_token"`
	}{"access-token-of-ann", "Bearer", i.sign(claims)})
}

func (i *Issuer) sign(claims Claims) string {
	body, err := json.Marshal(claims)
	if err != nil {
		i.t.Error(err)
	}
	signed := base64url([]byte(`{"alg":"RS256","kid":"1"}`)) + "." + base64url(body)
	hash := sha256.Sum256([]byte(signed))
	signature, err := rsa.SignPKCS1v15(rand.Reader, i.Signer, crypto.SHA256, hash[:])
	if err != nil {
		i.t.Error(err)
	}
	return signed + "." + base64url(signature)
}
