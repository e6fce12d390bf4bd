package llmtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Key is what the server wants to be sent, as a bearer token or, below
// /openai/deployments/, as api-key.
const Key = "sk-llmtest-0123456789abcdef"

// Dimension is that of the server's embeddings, unless a request asks for another.
const Dimension = 64

// Feature is something that servers of the wire format may not have.
type Feature string

// The features a Server can be without: it answers a request for one with status 400.
const (
	JSONSchema          Feature = "json_schema"
	JSONObject          Feature = "json_object"
	Streaming           Feature = "stream"
	StreamOptions       Feature = "stream_options"
	MaxTokens           Feature = "max_tokens"
	MaxCompletionTokens Feature = "max_completion_tokens"
	Temperature         Feature = "temperature"
)

// Server is a scripted server. Its methods may be called concurrently.
type Server struct {
	// URL is the base URL of the OpenAI flavour: it ends in /v1.
	URL string
	// AzureURL is the endpoint of the Azure flavour.
	AzureURL string

	http    *http.Server
	serving sync.WaitGroup
	closing context.CancelFunc

	mu       sync.Mutex
	rules    []*rule
	queue    []Step
	without  []Feature
	requests []Request
	faults   []string
	tolerant bool
	closed   bool
	active   sync.WaitGroup // requests; added to under mu, while not closed
	served   error          // why the listener ended
}

// rule plays steps to the requests that match; the last one again and again.
type rule struct {
	match Match
	steps []Step
}

// Start starts a server; Close ends it.
func Start() (*Server, error) {
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start scripted server: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	origin := "http://" + listener.Addr().String()
	s := &Server{URL: origin + "/v1", AzureURL: origin, closing: cancel}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", s.chat)
	mux.HandleFunc("POST /v1/embeddings", s.embeddings)
	mux.HandleFunc("GET /v1/models", s.models)
	mux.HandleFunc("POST /openai/deployments/{deployment}/chat/completions", s.chat)
	mux.HandleFunc("POST /openai/deployments/{deployment}/embeddings", s.embeddings)
	mux.HandleFunc("/", s.lost)
	s.http = &http.Server{
		Handler:           s.counted(mux),
		ReadHeaderTimeout: time.Minute,
		BaseContext:       func(net.Listener) context.Context { return ctx },
	}
	s.serving.Go(func() {
		if err := s.http.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.served = err
		}
	})
	return s, nil
}

// New starts a server that plays the steps in order and ends with the test, which
// fails if it was sent a request that the real service refuses, or had nothing to say.
func New(t testing.TB, steps ...Step) *Server {
	t.Helper()
	s, err := Start()
	if err != nil {
		t.Fatal(err)
	}
	s.Play(steps...)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("scripted server: %v", err)
		}
		if s.tolerant {
			return
		}
		for _, fault := range s.Faults() {
			t.Errorf("scripted server: %s", fault)
		}
	})
	return s
}

// counted lets Close wait for the requests.
func (s *Server) counted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		if s.closed {
			s.mu.Unlock()
			panic(http.ErrAbortHandler)
		}
		s.active.Add(1)
		s.mu.Unlock()
		defer s.active.Done()
		next.ServeHTTP(w, r)
	})
}

// Close ends the server: hanging replies are cut. It waits until all is over.
func (s *Server) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.closing()
	err := s.http.Close()
	s.serving.Wait()
	s.active.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return errors.Join(err, s.served)
}

// Play adds steps for the next requests that no On matches, one each.
func (s *Server) Play(steps ...Step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = append(s.queue, steps...)
}

// On plays steps to the requests that match, one each, and the last one to all that
// follow. The first match counts, in the order of the calls of On.
func (s *Server) On(match Match, steps ...Step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rules = append(s.rules, &rule{match, slices.Clone(steps)})
}

// Without takes features from the server.
func (s *Server) Without(features ...Feature) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.without = append(s.without, features...)
}

// Tolerate lets a test of New send requests that are refused.
func (s *Server) Tolerate() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tolerant = true
}

// Requests gives the requests that were sent so far, in order, also those refused.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Faults tells what was wrong with requests so far.
func (s *Server) Faults() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.faults)
}

// maxRequest is the size of a request that is read, in bytes.
const maxRequest = 64 << 20

// receive reads, keeps and checks a request. It answers itself, and gives false, when
// the request is to be refused.
func (s *Server) receive(w http.ResponseWriter, r *http.Request, parse func(*Request) error) (Request, bool) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if err != nil {
		s.refuse(w, problem{http.StatusBadRequest, "", "body: " + err.Error()})
		return Request{}, false
	}
	request := Request{Path: r.URL.Path, Query: r.URL.Query(), Header: r.Header.Clone(), Body: body}
	parseErr := parse(&request)
	s.mu.Lock()
	s.requests = append(s.requests, request)
	without := slices.Clone(s.without)
	s.mu.Unlock()
	if err := authorize(r); err != nil {
		s.refuse(w, problem{http.StatusUnauthorized, "invalid_api_key", err.Error()})
		return request, false
	}
	if parseErr != nil {
		s.refuse(w, problem{http.StatusBadRequest, "", parseErr.Error()})
		return request, false
	}
	for _, feature := range without {
		if request.wants(feature) {
			Unsupported(feature).fail(w)
			return request, false
		}
	}
	return request, true
}

func authorize(r *http.Request) error {
	if strings.HasPrefix(r.URL.Path, "/openai/deployments/") {
		if r.Header.Get("Api-Key") != Key || r.Header.Get("Authorization") != "" {
			return errors.New("want the key in the header api-key, and no Authorization")
		}
		if r.URL.Query().Get("api-version") == "" {
			return errors.New("want the query parameter api-version")
		}
		return nil
	}
	if r.Header.Get("Authorization") != "Bearer "+Key {
		return errors.New("want the header Authorization: Bearer and the key")
	}
	return nil
}

// next is the step for a request.
func (s *Server) next(request Request) (Step, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, rule := range s.rules {
		if len(rule.steps) == 0 || !rule.match(request) {
			continue
		}
		step := rule.steps[0]
		if len(rule.steps) > 1 {
			rule.steps = rule.steps[1:]
		}
		return step, true
	}
	if len(s.queue) == 0 {
		return Step{}, false
	}
	step := s.queue[0]
	s.queue = s.queue[1:]
	return step, true
}

// problem is a refusal of the server's own.
type problem struct {
	status  int
	code    string
	message string
}

func (s *Server) refuse(w http.ResponseWriter, p problem) {
	s.mu.Lock()
	s.faults = append(s.faults, p.message)
	s.mu.Unlock()
	Fail(p.status, p.code, p.message).fail(w)
}

// Listed is the one model that the server lists.
const Listed = "listed-model"

func (s *Server) models(w http.ResponseWriter, r *http.Request) {
	if err := authorize(r); err != nil {
		s.refuse(w, problem{http.StatusUnauthorized, "invalid_api_key", err.Error()})
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if _, err := io.WriteString(w, `{"object":"list","data":[{"id":"`+Listed+`","object":"model","created":1700000000,"owned_by":"llmtest"}]}`); err != nil {
		panic(http.ErrAbortHandler)
	}
}

func (s *Server) lost(w http.ResponseWriter, r *http.Request) {
	s.refuse(w, problem{http.StatusNotFound, "unknown_url", "unknown address " + r.Method + " " + r.URL.Path})
}
