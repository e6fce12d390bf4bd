package drive

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/jwt"

	"github.com/cairn-bot/cairn/internal/knowledge/connect"
	"github.com/cairn-bot/cairn/internal/knowledge/connect/remote"
)

const (
	apiAddress = "https://www.googleapis.com"
	apiPath    = "/drive/v3"
	scope      = "https://www.googleapis.com/auth/drive.readonly"

	maxPage = 16 << 20 // bytes of one response of a list at most

	// rateRest is how long Drive is left alone that is asked too often: its quota is one of a minute.
	rateRest = time.Minute
)

// safeID is the form of the ids of files, folders and shared drives.
var safeID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,128}$`)

// place is where a source is.
type place struct {
	base string // of the API
	root string // the id of the folder or the shared drive
}

// parseFolder reads the address of a source.
func parseFolder(address string) (place, error) {
	wanted := errors.New("want the address of a folder or a shared drive, such as https://drive.google.com/drive/folders/ID")
	parsed, err := url.Parse(address)
	if err != nil || parsed.Host == "" || parsed.Scheme != "https" && parsed.Scheme != "http" {
		return place{}, wanted
	}
	path := strings.Split(strings.Trim(parsed.Path, "/"), "/")
	if len(path) == 5 && path[1] == "u" { // the number of the account in a browser
		path = append(path[:1], path[3:]...)
	}
	if len(path) != 3 || path[0] != "drive" || path[1] != "folders" || !safeID.MatchString(path[2]) {
		return place{}, wanted
	}
	at := place{base: parsed.Scheme + "://" + parsed.Host + apiPath, root: path[2]}
	if strings.EqualFold(parsed.Host, "drive.google.com") {
		at.base = apiAddress + apiPath
	}
	return at, nil
}

// serviceKey is what is used of the JSON key of a service account.
type serviceKey struct {
	Type       string `json:"type"`
	Email      string `json:"client_email"`
	KeyID      string `json:"private_key_id"`
	PrivateKey string `json:"private_key"`
	TokenURL   string `json:"token_uri"`
}

// parseKey reads the key of a service account. Errors tell nothing of it.
func parseKey(text string) (serviceKey, error) {
	var key serviceKey
	if err := json.Unmarshal([]byte(text), &key); err != nil || key.Type != "service_account" || key.Email == "" || key.PrivateKey == "" {
		return serviceKey{}, errors.New("want the JSON key of a service account: the whole file that Google Cloud gives when a key is made")
	}
	address, err := url.Parse(key.TokenURL)
	if err != nil || address.Scheme != "https" || address.Host == "" || address.User != nil {
		return serviceKey{}, errors.New("the token_uri of the service account's key is not an address that starts with https://")
	}
	return key, nil
}

// asker asks for what one service account may read. It is one goroutine's.
type asker struct {
	client *remote.Client
	at     place
	email  string // of the service account
	token  func() (string, error)
	limit  int64             // bytes of one document
	known  map[string]folder // folders by their ids, as far as they were asked for
}

func (c *Connector) newAsker(ctx context.Context) (*asker, error) {
	at, err := parseFolder(c.options.URL)
	if err != nil {
		return nil, err
	}
	key, err := parseKey(c.options.Key)
	if err != nil {
		return nil, err
	}
	client := remote.NewClient(remote.Options{
		MaxBytes: max(maxPage, c.options.MaxBytes), AllowPrivate: c.options.AllowPrivate, TLS: c.options.TLS, LeaveAlone: findRateLimit,
	})
	return &asker{
		client: client, at: at, email: key.Email, token: newTokens(ctx, client, key), limit: c.options.MaxBytes, known: make(map[string]folder),
	}, nil
}

// roundTrip is a transport that is a function.
type roundTrip func(*http.Request) (*http.Response, error)

func (r roundTrip) RoundTrip(request *http.Request) (*http.Response, error) { return r(request) }

// newTokens returns a function that gives an access token, a new one where the last one expires. The
// token's server is asked by client, within its bounds.
func newTokens(ctx context.Context, client *remote.Client, key serviceKey) func() (string, error) {
	var failed error // oauth2 gives the text of the cause alone
	exchange := roundTrip(func(made *http.Request) (*http.Response, error) {
		answer, err := client.Do(ctx, func(ctx context.Context) (*http.Request, error) {
			body, err := made.GetBody()
			if err != nil {
				return nil, err
			}
			request := made.Clone(ctx)
			request.Body = body
			return request, nil
		})
		if failed = err; err != nil {
			return nil, err
		}
		return &http.Response{StatusCode: answer.Status, Header: answer.Header, Body: io.NopCloser(bytes.NewReader(answer.Body)), Request: made}, nil
	})
	settings := jwt.Config{Email: key.Email, PrivateKey: []byte(key.PrivateKey), PrivateKeyID: key.KeyID, Scopes: []string{scope}, TokenURL: key.TokenURL}
	exchanger := &http.Client{Transport: exchange, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	source := settings.TokenSource(context.WithValue(ctx, oauth2.HTTPClient, exchanger))
	return func() (string, error) {
		failed = nil
		token, err := source.Token()
		refused, isRefused := errors.AsType[*oauth2.RetrieveError](err)
		switch {
		case failed != nil:
			return "", fmt.Errorf("ask for an access token: %w", failed)
		case isRefused:
			return "", fmt.Errorf("the key of the service account is refused by Google (status %d): is it deleted, or the clock wrong?", refused.Response.StatusCode)
		case err != nil || token.AccessToken == "":
			return "", errors.New("the key of the service account can't be used, or Google gave no token for it: make another key")
		}
		return token.AccessToken, nil
	}
}

// apiError is that Drive refused a request, for a reason that its documentation names.
type apiError struct {
	Status int
	Reason string // such as "exportSizeLimitExceeded"; "" where it says none
}

func (e *apiError) Error() string {
	switch e.Reason {
	case "exportSizeLimitExceeded":
		return "Google exports no document of more than 10 MB: split it, or put it into the folder as a file"
	case "cannotDownloadFile", "downloadRestricted", "cannotExportFile":
		return "its owner does not let those download it who may only read it"
	case "cannotDownloadAbusiveFile":
		return "Google takes it for harmful, and lets nobody download it"
	case "accessNotConfigured":
		return "the Google Drive API is not enabled in the project of the service account: enable it in Google Cloud's console"
	}
	return (&remote.StatusError{Status: e.Status}).Error()
}

// statusOf gives the status of a refusal, 0 for another error.
func statusOf(err error) int {
	if refused, ok := errors.AsType[*apiError](err); ok {
		return refused.Status
	}
	return 0
}

// reasonOf reads the reason in the body of a refusal.
func reasonOf(body []byte) string {
	var read struct {
		Error struct {
			Errors []struct {
				Reason string `json:"reason"`
			} `json:"errors"`
		} `json:"error"`
	}
	if json.Unmarshal(body, &read) != nil || len(read.Error.Errors) == 0 {
		return ""
	}
	return read.Error.Errors[0].Reason
}

// findRateLimit reports whether a refusal is one of too many requests, and for how long Drive is to be
// left alone then; 0 is for remote.DefaultRest.
func findRateLimit(answer *remote.Response) (time.Duration, bool) {
	if answer.Status != http.StatusForbidden {
		return 0, false
	}
	switch reasonOf(answer.Refusal) {
	case "rateLimitExceeded", "userRateLimitExceeded":
		return rateRest, true
	case "dailyLimitExceeded", "quotaExceeded":
		return 0, true
	}
	return 0, false
}

// explainError says what helps against an error of the place as a whole.
func (a *asker) explainError(err error) error {
	switch statusOf(err) {
	case http.StatusUnauthorized:
		return fmt.Errorf("%w: Google does not accept the access token of the service account", err)
	case http.StatusNotFound:
		return fmt.Errorf("%w: share the folder with %s, which may read it then", err, a.email)
	}
	return err
}

// get asks for a path of the API. A status other than 200 is an *apiError.
func (a *asker) get(ctx context.Context, path string, query url.Values) ([]byte, error) {
	token, err := a.token()
	if err != nil {
		return nil, err
	}
	answer, err := a.client.Do(ctx, func(ctx context.Context) (*http.Request, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, a.at.base+path+"?"+query.Encode(), http.NoBody)
		if err != nil {
			return nil, err
		}
		request.Header.Set("Authorization", "Bearer "+token)
		return request, nil
	})
	if err == nil && answer.Status != http.StatusOK {
		err = &apiError{Status: answer.Status, Reason: reasonOf(answer.Refusal)}
	}
	if err != nil {
		return nil, fmt.Errorf("ask for %s: %w", path, err)
	}
	return answer.Body, nil
}

// getJSON asks for a path of the API and decodes the answer.
func (a *asker) getJSON(ctx context.Context, path string, query url.Values, into any) error {
	body, err := a.get(ctx, path, query)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("ask for %s: %w", path, err)
	}
	return nil
}

// getContent asks for the content of a document, within the limit.
func (a *asker) getContent(ctx context.Context, path string, query url.Values) ([]byte, error) {
	body, err := a.get(ctx, path, query)
	if err == nil && int64(len(body)) > a.limit {
		err = &connect.TooLargeError{Size: int64(len(body)), Limit: a.limit}
	}
	return body, err
}
