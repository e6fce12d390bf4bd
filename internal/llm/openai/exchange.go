package openai

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"time"

	wire "github.com/sashabaranov/go-openai"

	"github.com/cairn-bot/cairn/internal/llm"
)

// What is read of a server's answer, in bytes.
const (
	maxAnswer = 32 << 20
	maxError  = 64 << 10
)

// newTransport keeps connections, and asks for no compression, which would hold tokens
// back.
func newTransport() http.RoundTripper {
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		ForceAttemptHTTP2:     true,
		MaxIdleConns:          64,
		MaxIdleConnsPerHost:   16,
		IdleConnTimeout:       90 * time.Second,
		TLSHandshakeTimeout:   10 * time.Second,
		ExpectContinueTimeout: time.Second,
		DisableCompression:    true,
	}
}

// endpoint is a server, and how to be let in.
type endpoint struct {
	http    *http.Client
	baseURL string
	azure   *Azure
	key     llm.Secret
	user    *url.Userinfo // nil: none
}

func newEndpoint(o Options, user *url.Userinfo) endpoint {
	client := &http.Client{
		Transport: o.Transport,
		// A key must not follow a redirect to another host.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return endpoint{client, o.BaseURL, o.Azure, o.Key, user}
}

// open gives a client for one request, and what will be known of it.
func (e endpoint) open() (*wire.Client, *exchange) {
	config := wire.DefaultConfig("") // the key is added in Do, where nothing prints it
	config.BaseURL = e.baseURL
	if e.azure != nil {
		config.APIType = wire.APITypeAzure
		config.APIVersion = e.azure.APIVersion
		config.AzureModelMapperFunc = func(string) string { return e.azure.Deployment }
	}
	// Lines that keep the connection alive are not counted: maxAnswer bounds them.
	config.EmptyMessagesLimit = maxAnswer
	seen := &exchange{endpoint: e}
	config.HTTPClient = seen
	return wire.NewClientWithConfig(config), seen
}

// exchange is one request and what the wire's client does not tell of its answer.
type exchange struct {
	endpoint   endpoint
	form       *chatForm    // of a chat: what is sent in place of the client's; nil: the client's
	answered   bool         // with a status below 400: the request is being worked on
	body       *boundedBody // nil until there is one
	retryAfter time.Duration
}

var (
	errRedirect  = errors.New("the server redirects: set the base URL to where it leads")
	errNoStream  = errors.New("the server does not stream")
	errTooLong   = errors.New("the answer is longer than 32 MiB")
	errNotStatus = errors.New("the server's status is none of HTTP's")
)

// Do sends a request of the wire's client.
func (x *exchange) Do(request *http.Request) (*http.Response, error) {
	x.authorize(request.Header)
	if x.form != nil {
		if err := x.form.replaceBody(request); err != nil {
			return nil, err
		}
	}
	response, err := x.endpoint.http.Do(request)
	if err != nil {
		return nil, err
	}
	x.retryAfter = retryAfter(response.Header, time.Now())
	streams := request.Header.Get("Accept") == "text/event-stream"
	limit := int64(maxAnswer)
	switch status := response.StatusCode; {
	case status >= 400:
		limit = maxError
	case status >= 300:
		return nil, errors.Join(errRedirect, response.Body.Close())
	case status >= 200:
		x.answered = true
		mediaType, _, err := mime.ParseMediaType(response.Header.Get("Content-Type"))
		if streams && err == nil && mediaType == "application/json" {
			return nil, errors.Join(errNoStream, response.Body.Close())
		}
	default:
		return nil, errors.Join(errNotStatus, response.Body.Close())
	}
	x.body = &boundedBody{response.Body, limit, !streams}
	response.Body = x.body
	return response, nil
}

func (x *exchange) authorize(header http.Header) {
	header.Del("Authorization")
	header.Del(wire.AzureAPIKeyHeader)
	switch key := x.endpoint.key; {
	case !key.IsZero() && x.endpoint.azure != nil:
		header.Set(wire.AzureAPIKeyHeader, key.Reveal())
	case !key.IsZero():
		header.Set("Authorization", "Bearer "+key.Reveal())
	case x.endpoint.user != nil:
		password, _ := x.endpoint.user.Password()
		basic := http.Request{Header: header}
		basic.SetBasicAuth(x.endpoint.user.Username(), password)
	}
}

// retryAfter reads how long a server asks to wait: in milliseconds, in seconds, or until
// a date; 0 if it does not, or not in a way that can be read.
func retryAfter(header http.Header, now time.Time) time.Duration {
	// A day is more than anybody waits for, and far from overflow.
	const most = 24 * time.Hour
	number := func(text string, unit time.Duration) time.Duration {
		value, err := strconv.ParseFloat(text, 64)
		if err != nil || !(value > 0) {
			return 0
		}
		return time.Duration(min(value*float64(unit), float64(most)))
	}
	if wait := number(header.Get("Retry-After-Ms"), time.Millisecond); wait > 0 {
		return wait
	}
	text := header.Get("Retry-After")
	if wait := number(text, time.Second); wait > 0 {
		return wait
	}
	if date, err := http.ParseTime(text); err == nil {
		return min(max(date.Sub(now), 0), most)
	}
	return 0
}

// boundedBody fails when more than left bytes are read.
type boundedBody struct {
	io.ReadCloser
	left   int64
	drains bool // when it is closed
}

func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTooLong
	}
	if int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.ReadCloser.Read(p)
	b.left -= int64(n)
	return n, err
}

// What is waited for, and read, of a stream that should have ended.
const (
	drainTime  = 100 * time.Millisecond
	drainBytes = 4 << 10
)

// drain reads the end of the body: only then the connection is used again. That it
// isn't, if there is more, is no failure of the request.
func (b *boundedBody) drain() {
	_, _ = io.CopyN(io.Discard, b.ReadCloser, drainBytes) //nolint:errcheck // see above
}

func (b *boundedBody) Close() error {
	if b.drains {
		b.drain()
	}
	return b.ReadCloser.Close()
}
