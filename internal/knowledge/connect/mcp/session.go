package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/cairn-bot/cairn/internal/publicnet"
)

// session is a connection to a server.
type session struct {
	*sdk.ClientSession
	end  func()
	over atomic.Pointer[error] // why nothing more comes; nil while something may
}

// isOver reports whether the server is gone.
func (s *session) isOver() bool { return s.over.Load() != nil }

func (s *session) failure() error {
	if err := s.over.Load(); err != nil {
		return *err
	}
	return nil
}

// close ends the session and what was started for it.
func (s *session) close() {
	s.Close() //nolint:errcheck // nothing was written
	s.end()
}

// open connects to the server.
func (s *Source) open(ctx context.Context) (*session, error) {
	connecting, cancel := context.WithTimeout(ctx, s.options.CallTime)
	defer cancel()
	opened := &session{end: func() {}}
	var transport sdk.Transport
	if s.options.URL != "" {
		client := s.newClient()
		opened.end = client.CloseIdleConnections
		transport = &sdk.StreamableClientTransport{Endpoint: s.options.URL, HTTPClient: client, MaxRetries: -1, DisableStandaloneSSE: true}
	} else {
		process, end, err := s.startProcess()
		if err != nil {
			return nil, s.serverError(ctx, "start", err)
		}
		opened.end, transport = end, process
	}
	// Asking the client for models, roots or words of people is not offered to the server.
	client := sdk.NewClient(&sdk.Implementation{Name: "cairn", Version: "1"}, &sdk.ClientOptions{Capabilities: &sdk.ClientCapabilities{}})
	var err error
	if opened.ClientSession, err = client.Connect(connecting, transport, nil); err != nil {
		opened.end()
		return nil, s.serverError(ctx, "connect", err)
	}
	go func() { // it ends with the session
		err := opened.Wait()
		if err == nil {
			err = errors.New("the server ended the session")
		}
		opened.over.Store(&err)
	}()
	return opened, nil
}

// dialTime bounds the making of a connection.
const dialTime = 10 * time.Second

// newClient is an HTTP client that connects to public addresses alone, unless others are allowed, and
// reads answers up to a size.
func (s *Source) newClient() *http.Client {
	dialer := &net.Dialer{Timeout: dialTime}
	if !s.options.AllowPrivate {
		dialer.Control = publicnet.RefusePrivate
	}
	// Without a proxy: one would look names up by itself, past the check.
	transport := &http.Transport{DialContext: dialer.DialContext, ForceAttemptHTTP2: true, TLSHandshakeTimeout: dialTime, ResponseHeaderTimeout: s.options.CallTime}
	return &http.Client{
		Transport:     boundedTransport{next: transport, token: s.options.Token, limit: s.messageLimit()},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// messageLimit is how long an answer may be: a resource in base64 or escaped, and what is around it.
func (s *Source) messageLimit() int64 { return 2*s.options.MaxBytes + 1<<20 }

// boundedTransport sends the token and bounds answers.
type boundedTransport struct {
	next  http.RoundTripper
	token string
	limit int64
}

// RoundTrip implements http.RoundTripper.
func (t boundedTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	if t.token != "" {
		request = request.Clone(request.Context())
		request.Header.Set("Authorization", "Bearer "+t.token)
	}
	response, err := t.next.RoundTrip(request)
	if err == nil {
		response.Body = &boundedReader{ReadCloser: response.Body, left: t.limit, limit: t.limit}
	}
	return response, err
}

// boundedReader fails where a message is longer than a limit.
type boundedReader struct {
	io.ReadCloser
	left, limit int64
	lines       bool // each line is a message; else all of it is one
}

// Read implements io.Reader.
func (r *boundedReader) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	r.left -= int64(n)
	if r.lines {
		for i := n - 1; i >= 0; i-- {
			if p[i] == '\n' {
				r.left = r.limit - int64(n-1-i)
				break
			}
		}
	}
	if r.left < 0 {
		return 0, fmt.Errorf("the server's message is over the limit of %d bytes", r.limit)
	}
	return n, err
}

// endTime is how long a server may take to end once its input is closed.
const endTime = 3 * time.Second

// startProcess starts the server's program. It sees of the environment what a program needs to
// start, and none of Cairn's secrets.
func (s *Source) startProcess() (sdk.Transport, func(), error) {
	command := exec.Command(s.options.Command[0], s.options.Command[1:]...) //nolint:gosec,noctx // an operator chose it; it ends with the session
	for _, name := range []string{"PATH", "HOME", "LANG", "TMPDIR"} {
		if value, ok := os.LookupEnv(name); ok {
			command.Env = append(command.Env, name+"="+value)
		}
	}
	input, err := command.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	output, err := command.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := command.Start(); err != nil {
		return nil, nil, err
	}
	end := func() {
		input.Close()                                                      //nolint:errcheck // it may be closed
		kill := time.AfterFunc(endTime, func() { command.Process.Kill() }) //nolint:errcheck // it may have ended
		command.Wait()                                                     //nolint:errcheck // how it ended says nothing
		kill.Stop()
	}
	return &sdk.IOTransport{Reader: &boundedReader{ReadCloser: output, left: s.messageLimit(), limit: s.messageLimit(), lines: true}, Writer: input}, end, nil
}
