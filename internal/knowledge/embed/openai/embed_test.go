package openai_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cairn-bot/cairn/internal/knowledge/embed"
	"github.com/cairn-bot/cairn/internal/knowledge/embed/embedtest"
	remote "github.com/cairn-bot/cairn/internal/knowledge/embed/openai"
	"github.com/cairn-bot/cairn/internal/llm"
	"github.com/cairn-bot/cairn/internal/llm/gate"
	"github.com/cairn-bot/cairn/internal/llm/llmtest"
	"github.com/cairn-bot/cairn/internal/llm/openai"
)

// serve makes a server embed everything.
func serve(t testing.TB) *llmtest.Server {
	server := llmtest.New(t)
	server.On(llmtest.Embeds, llmtest.Vectors(0, 0))
	return server
}

func wire(t testing.TB, server *llmtest.Server) llm.Embedder {
	t.Helper()
	model, err := openai.NewEmbedder(openai.Options{
		BaseURL: server.URL, Key: llm.NewSecret(llmtest.Key), Model: "text-embedding-3-small", Gate: gate.Options{Retries: -1},
	})
	if err != nil {
		t.Fatal(err)
	}
	return model
}

func mustOpen(t testing.TB, server *llmtest.Server, options remote.Options) *remote.Embedder {
	t.Helper()
	e, err := remote.Open(t.Context(), wire(t, server), options)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestEmbedder(t *testing.T) {
	embedtest.Run(t, func(t *testing.T) embed.Embedder {
		return mustOpen(t, serve(t), remote.Options{Name: "text-embedding-3-small", BatchTexts: 2})
	})
}

func TestBatches(t *testing.T) {
	texts := []string{"one two three", "", "four five six", " \n", "seven eight nine", "ten"}
	for name, of := range map[string]struct {
		options remote.Options
		want    []int // texts of each request
	}{
		"all at once": {remote.Options{}, []int{4}},
		"by count":    {remote.Options{BatchTexts: 3}, []int{3, 1}},
		"by tokens":   {remote.Options{BatchTokens: 7}, []int{2, 2}},
		"too small":   {remote.Options{BatchTokens: 1}, []int{1, 1, 1, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			of.options.Name, of.options.Dimension = "m", llmtest.Dimension
			server := serve(t)
			vectors, err := mustOpen(t, server, of.options).Embed(t.Context(), texts)
			if err != nil {
				t.Fatal(err)
			}
			var sent []int
			for _, request := range server.Requests() {
				sent = append(sent, len(request.Input))
			}
			if !slices.Equal(sent, of.want) {
				t.Errorf("requests of %v texts, want %v", sent, of.want)
			}
			for i, text := range texts {
				if (vectors[i] == nil) != (strings.TrimSpace(text) == "") {
					t.Errorf("%q has a vector of %d", text, len(vectors[i]))
				}
			}
		})
	}
}

func TestWrongVectors(t *testing.T) {
	for name, of := range map[string]struct {
		step llmtest.Step
		want string
	}{
		"count":     {llmtest.Vectors(1, 0), "1 vectors for 2 texts"},
		"dimension": {llmtest.Vectors(0, 8), "8 components, want 64: was the model changed?"},
		"failure":   {llmtest.Fail(http.StatusUnauthorized, "invalid_api_key", "no"), "rejected"},
	} {
		t.Run(name, func(t *testing.T) {
			server := llmtest.New(t)
			server.On(llmtest.Embeds, of.step)
			e := mustOpen(t, server, remote.Options{Name: "m", Dimension: llmtest.Dimension})
			if _, err := e.Embed(t.Context(), []string{"a", "b"}); err == nil || !strings.Contains(err.Error(), of.want) {
				t.Errorf("error %v, want %q in it", err, of.want)
			}
		})
	}
	server := llmtest.New(t, llmtest.Fail(http.StatusInternalServerError, "", "no"))
	_, err := remote.Open(t.Context(), wire(t, server), remote.Options{Name: "m"})
	var failure *llm.Error
	if !errors.As(err, &failure) || failure.Failure != llm.Unavailable {
		t.Errorf("Open with a server that fails: %v", err)
	}
	for _, options := range []remote.Options{{}, {Name: "m", Dimension: -1}} {
		if _, err := remote.Open(t.Context(), wire(t, server), options); err == nil {
			t.Errorf("Open with %+v: no error", options)
		}
	}
}

// TestLongTexts checks that nothing longer than the model reads is sent.
func TestLongTexts(t *testing.T) {
	server := serve(t)
	model := wire(t, server)
	e := mustOpen(t, server, remote.Options{Name: "m", Dimension: llmtest.Dimension, TextTokens: 20})
	texts := append(e.Windows(strings.Repeat("long title ", 30), strings.Repeat("日本語のテキスト。word ", 100)), strings.Repeat("x7ü", 500))
	if _, err := e.Embed(t.Context(), texts); err != nil {
		t.Fatal(err)
	}
	for _, text := range server.Requests()[0].Input {
		if tokens := model.Tokens(text); tokens > 20 {
			t.Errorf("a text of %d tokens was sent, the model reads 20: %q", tokens, text)
		}
	}
}

// FuzzWindows checks that nothing is lost, nothing too long and nothing broken.
func FuzzWindows(f *testing.F) {
	f.Add("Title", "one two  three\n\nfour", 10)
	f.Add("", strings.Repeat("ßtraße", 50), 3)
	f.Add("a very long title that takes more than its share of the room", "x", 8)
	server := serve(f)
	model := wire(f, server)
	f.Fuzz(func(t *testing.T, title, text string, tokens int) {
		tokens = min(max(tokens, 8), 600)
		if len(text) > 10_000 || len(title) > 1000 {
			return
		}
		title, text = strings.ToValidUTF8(title, "?"), strings.ToValidUTF8(text, "?")
		e, err := remote.Open(t.Context(), model, remote.Options{Name: "m", Dimension: 4, TextTokens: tokens})
		if err != nil {
			t.Fatal(err)
		}
		head := ""
		if windows := e.Windows(title, ""); len(windows) == 1 {
			head = windows[0] + "\n"
		}
		var kept strings.Builder
		for _, window := range e.Windows(title, text) {
			if !strings.HasPrefix(window, head) && strings.TrimSpace(text) != "" {
				t.Fatalf("window %q does not begin with %q", window, head)
			}
			if !utf8.ValidString(window) {
				t.Fatalf("window %q is broken", window)
			}
			kept.WriteString(strings.TrimPrefix(window, head))
		}
		if strings.TrimSpace(text) == "" {
			return
		}
		bare := func(s string) string { return strings.Join(strings.Fields(s), "") }
		if got, want := bare(kept.String()), bare(text); got != want {
			t.Fatalf("the windows hold %q, want %q", got, want)
		}
	})
}
