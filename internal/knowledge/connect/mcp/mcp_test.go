package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/connect"
)

// world is a server of the Model Context Protocol.
type world struct {
	*sdk.Server
	url   string
	texts map[string]string // by URI
}

func newServer() *sdk.Server {
	return sdk.NewServer(&sdk.Implementation{Name: "test", Version: "1"}, nil)
}

func newWorld(t *testing.T) *world {
	w := &world{Server: newServer(), texts: make(map[string]string)}
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return w.Server }, nil)
	served := httptest.NewServer(handler)
	t.Cleanup(served.Close)
	w.url = served.URL
	return w
}

// put adds a resource; read gives what is read of it, its text where it is nil.
func (w *world) put(resource sdk.Resource, text string, read func(context.Context) (*sdk.ReadResourceResult, error)) {
	w.texts[resource.URI] = text
	w.AddResource(&resource, func(ctx context.Context, request *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		if read != nil {
			return read(ctx)
		}
		uri := request.Params.URI
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: uri, MIMEType: resource.MIMEType, Text: w.texts[uri]}}}, nil
	})
}

func (w *world) source(change ...func(*Options)) *Source {
	options := Options{Source: "wiki", URL: w.url, AllowPrivate: true}
	for _, do := range change {
		do(&options)
	}
	return New(options)
}

func syncAll(t *testing.T, s *Source, known connect.Known) (map[string]connect.Change, error) {
	t.Helper()
	changes := make(map[string]connect.Change)
	for change, err := range s.Sync(t.Context(), known) {
		if err != nil {
			return changes, err
		}
		changes[change.Document.Path] = change
	}
	return changes, nil
}

func TestResourcesAreDocuments(t *testing.T) {
	w := newWorld(t)
	w.put(sdk.Resource{URI: "wiki://pages/leave", Name: "leave", Title: "Leave", MIMEType: "text/markdown"}, "# Leave\n\n28 days.", nil)
	w.put(sdk.Resource{URI: "https://wiki.example.com/laptops.md", Name: "laptops", Annotations: &sdk.Annotations{LastModified: "2026-01-02T03:04:05Z"}}, "# Laptops", nil)
	changes, err := syncAll(t, w.source(), connect.Known{"other:x": "h"})
	if err != nil || len(changes) != 2 {
		t.Fatalf("%v, %v", changes, err)
	}
	leave, laptops := changes["wiki://pages/leave"], changes["https://wiki.example.com/laptops.md"]
	if leave.Kind != connect.Upserted || leave.Document.Title != "Leave" || leave.Document.ID != "wiki:wiki://pages/leave" || leave.Document.URL != "" ||
		leave.MediaType != "text/markdown" || string(leave.Content) != "# Leave\n\n28 days." || leave.Document.Modified.IsZero() {
		t.Errorf("%+v", leave)
	}
	if laptops.Document.URL != "https://wiki.example.com/laptops.md" || laptops.MediaType != "text/markdown" || !laptops.Document.Modified.Equal(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)) {
		t.Errorf("%+v", laptops)
	}
	known := connect.Known{leave.Document.ID: leave.Document.Hash, laptops.Document.ID: laptops.Document.Hash}
	w.texts["wiki://pages/leave"] = "# Leave\n\n30 days."
	w.RemoveResources("https://wiki.example.com/laptops.md")
	for document, want := range map[knowledge.Document]knowledge.State{leave.Document: knowledge.StateChanged} {
		if state, err := w.source().Check(t.Context(), document); err != nil || state != want {
			t.Errorf("%s, %v", state, err)
		}
	}
	changes, err = syncAll(t, w.source(), known)
	if err != nil || changes["wiki://pages/leave"].Kind != connect.Upserted || changes["https://wiki.example.com/laptops.md"].Kind != connect.Deleted {
		t.Errorf("%+v, %v", changes, err)
	}
	known[leave.Document.ID] = changes["wiki://pages/leave"].Document.Hash
	if changes, err = syncAll(t, w.source(), known); err != nil || changes["wiki://pages/leave"].Kind != connect.Unchanged {
		t.Errorf("%+v, %v", changes, err)
	}
}

func TestOnlyWhatIsIncludedIsRead(t *testing.T) {
	w := newWorld(t)
	for _, uri := range []string{"wiki://pages/a", "wiki://drafts/b", "file:///etc/passwd"} {
		w.put(sdk.Resource{URI: uri, Name: uri}, "text", nil)
	}
	changes, err := syncAll(t, w.source(func(o *Options) { o.Include, o.Exclude = []string{"wiki://"}, []string{"wiki://drafts"} }), nil)
	if err != nil || len(changes) != 1 || changes["wiki://pages/a"].Kind != connect.Upserted {
		t.Errorf("%+v, %v", changes, err)
	}
}

// TestOneBadResourceEndsNothing has resources that are huge, empty, slow, and refused.
func TestOneBadResourceEndsNothing(t *testing.T) {
	w := newWorld(t)
	w.put(sdk.Resource{URI: "a:good", Name: "good"}, "text", nil)
	w.put(sdk.Resource{URI: "a:huge", Name: "huge"}, strings.Repeat("x", 5000), nil)
	w.put(sdk.Resource{URI: "a:said-huge", Name: "huge", Size: 1 << 30}, "text", nil)
	w.put(sdk.Resource{URI: "a:empty", Name: "empty"}, "", nil)
	w.put(sdk.Resource{URI: "a:none", Name: "none"}, "", func(context.Context) (*sdk.ReadResourceResult, error) { return &sdk.ReadResourceResult{}, nil })
	w.put(sdk.Resource{URI: "a:refused", Name: "refused"}, "", func(context.Context) (*sdk.ReadResourceResult, error) {
		return nil, errors.New("no such page\n" + strings.Repeat("y", 4000))
	})
	over := make(chan struct{})
	t.Cleanup(func() { close(over) }) // before the server is closed, which waits for its answers
	w.put(sdk.Resource{URI: "a:slow", Name: "slow"}, "", func(context.Context) (*sdk.ReadResourceResult, error) {
		<-over
		return nil, errors.New("too late")
	})
	w.put(sdk.Resource{URI: "a:picture", Name: "picture"}, "", func(context.Context) (*sdk.ReadResourceResult, error) {
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: "a:picture", MIMEType: "image/png", Blob: []byte("\x89PNG\r\n\x1a\n")}}}, nil
	})
	changes, err := syncAll(t, w.source(func(o *Options) { o.MaxBytes, o.CallTime = 1000, time.Second }), nil)
	if err != nil {
		t.Fatal(err)
	}
	for uri, kind := range map[string]connect.ChangeKind{
		"a:good": connect.Upserted, "a:picture": connect.Failed, "a:huge": connect.Failed, "a:said-huge": connect.Failed, "a:empty": connect.Failed,
		"a:none": connect.Failed, "a:refused": connect.Failed, "a:slow": connect.Failed,
	} {
		if got := changes[uri]; got.Kind != kind || kind == connect.Failed && (got.Reason == nil || len(got.Reason.Error()) > 400) {
			t.Errorf("%s: kind %d, %v", uri, got.Kind, got.Reason)
		}
	}
}

// TestAListThatFailsDeletesNothing has a list that goes in a circle, one that fails, and no server.
func TestAListThatFailsDeletesNothing(t *testing.T) {
	known := connect.Known{"wiki:a:gone": "h"}
	for name, answer := range map[string]func(int) (sdk.Result, error){
		"in a circle": func(int) (sdk.Result, error) { return &sdk.ListResourcesResult{NextCursor: "again"}, nil },
		"half": func(call int) (sdk.Result, error) {
			if call > 1 {
				return nil, errors.New("out of order")
			}
			return &sdk.ListResourcesResult{NextCursor: "next"}, nil
		},
		"endless": func(call int) (sdk.Result, error) { return &sdk.ListResourcesResult{NextCursor: fmt.Sprint(call)}, nil },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.put(sdk.Resource{URI: "a:b", Name: "b"}, "text", nil)
			calls := 0
			w.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
				return func(ctx context.Context, method string, request sdk.Request) (sdk.Result, error) {
					if method == "resources/list" {
						calls++
						return answer(calls)
					}
					return next(ctx, method, request)
				}
			})
			if changes, err := syncAll(t, w.source(), known); err == nil || len(changes) > 0 || !strings.Contains(err.Error(), w.url) {
				t.Errorf("%+v, %v", changes, err)
			}
		})
	}
	nowhere := httptest.NewServer(http.NotFoundHandler())
	nowhere.Close()
	if changes, err := syncAll(t, New(Options{Source: "wiki", URL: nowhere.URL, AllowPrivate: true}), known); err == nil || len(changes) > 0 {
		t.Errorf("%+v, %v", changes, err)
	}
}

func TestNothingPrivateIsReached(t *testing.T) {
	w := newWorld(t)
	w.put(sdk.Resource{URI: "a:b", Name: "b"}, "text", nil)
	if _, err := syncAll(t, w.source(func(o *Options) { o.AllowPrivate = false }), nil); err == nil {
		t.Error("a server inside the network was read")
	}
}

// TestMain is also the program of a server that talks over its input and output.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[len(os.Args)-1] == "serve-mcp" {
		server := newServer()
		server.AddResource(&sdk.Resource{URI: "env:all", Name: "environment"}, func(context.Context, *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: "env:all", Text: strings.Join(os.Environ(), "\n") + "\n"}}}, nil
		})
		if err := server.Run(context.Background(), &sdk.StdioTransport{}); err != nil {
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func TestAProcessIsReadAndSeesNoSecrets(t *testing.T) {
	t.Setenv("CAIRN_SLACK_BOT_TOKEN", "xoxb-secret")
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	changes, err := syncAll(t, New(Options{Source: "wiki", Command: []string{program, "serve-mcp"}}), nil)
	if err != nil || changes["env:all"].Kind != connect.Upserted {
		t.Fatalf("%+v, %v", changes, err)
	}
	lines := strings.Split(string(changes["env:all"].Content), "\n")
	if slices.ContainsFunc(lines, func(line string) bool { return strings.Contains(line, "secret") }) {
		t.Error("the server's program sees a secret of Cairn's")
	}
	if _, err := syncAll(t, New(Options{Source: "wiki", Command: []string{program + "-none"}}), nil); err == nil {
		t.Error("a program that is not there was started")
	}
}
