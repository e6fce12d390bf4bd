package openai_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cairn-bot/cairn/internal/llm"
	"github.com/cairn-bot/cairn/internal/llm/gate"
	"github.com/cairn-bot/cairn/internal/llm/llmtest"
	"github.com/cairn-bot/cairn/internal/llm/openai"
)

// body gives its text in one piece, and then waits for what its end waits for.
type body struct {
	text  string
	end   func()
	ended bool
}

func (b *body) Read(p []byte) (int, error) {
	if b.text != "" {
		n := copy(p, b.text)
		b.text = b.text[n:]
		return n, nil
	}
	b.end()
	b.ended = true
	return 0, io.EOF
}

func (b *body) Close() error { return nil }

// TestAnswersAreReadToTheirEnd checks what the connection's next use depends on, also of
// a stream that goes on after its last event.
func TestAnswersAreReadToTheirEnd(t *testing.T) {
	const stream = `data: {"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"
	for name, of := range map[string]struct {
		contentType, text string
		hangs             bool
	}{
		"stream":  {"text/event-stream", stream, false},
		"hanging": {"text/event-stream", stream, true},
		"vectors": {"application/json", `{"data":[{"index":0,"embedding":[1]}]}` + "\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			var sent *body
			options := openai.Options{Model: "m", Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
				sent = &body{text: of.text, end: func() {
					if of.hangs {
						<-r.Context().Done()
					}
				}}
				return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {of.contentType}}, Body: sent}, nil
			})}
			if name == "vectors" {
				embedder, err := openai.NewEmbedder(options)
				if err != nil {
					t.Fatal(err)
				}
				if _, _, err := embedder.Embed(t.Context(), []string{"a"}); err != nil {
					t.Fatal(err)
				}
			} else if reply, err := mustOpen(t, options).Chat(t.Context(), llm.Request{}, nil); err != nil || reply.Text != "a" {
				t.Fatalf("reply %+v, %v", reply, err)
			}
			if !sent.ended {
				t.Error("the end was not read")
			}
		})
	}
}

// TestConnectionsAreUsedAgain counts dials: a new connection costs round trips before
// the first token.
func TestConnectionsAreUsedAgain(t *testing.T) {
	var dials atomic.Int32
	dialer := &net.Dialer{}
	transport := &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		dials.Add(1)
		return dialer.DialContext(ctx, network, address)
	}}
	defer transport.CloseIdleConnections()
	server := llmtest.New(t, llmtest.Text("a"), llmtest.JSON(`{"n":1}`), llmtest.Fail(http.StatusBadRequest, "", "no"), llmtest.Text("b"))
	options := openai.Options{
		BaseURL: server.URL, Key: llm.NewSecret(llmtest.Key), Model: "m", Transport: transport, Gate: gate.Options{Retries: -1},
	}
	model := mustOpen(t, options)
	request := markedRequest()
	structured := request
	request.Schema = nil
	for _, request := range []llm.Request{request, structured, request, request} {
		if _, err := model.Chat(t.Context(), request, nil); err != nil && !strings.Contains(err.Error(), "400") {
			t.Fatal(err)
		}
	}
	embedder, err := openai.NewEmbedder(options)
	if err != nil {
		t.Fatal(err)
	}
	server.On(llmtest.Embeds, llmtest.Vectors(0, 2000))
	for range 2 {
		if _, _, err := embedder.Embed(t.Context(), []string{strings.Repeat("word ", 100), "b"}); err != nil {
			t.Fatal(err)
		}
	}
	if dials.Load() != 1 {
		t.Errorf("%d connections for requests one after the other", dials.Load())
	}
}
