package app

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cairn-bot/cairn/internal/access"
	"github.com/cairn-bot/cairn/internal/config"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/connect/forge"
	"github.com/cairn-bot/cairn/internal/sqlite/sqlitetest"
)

// TestGrantsAreRefreshed has a person be removed from a private repository while nothing is read.
func TestGrantsAreRefreshed(t *testing.T) {
	var members atomic.Value
	members.Store(`[{"login":"ada","email":"ada@example.com"},{"login":"bob","email":"bob@example.com"}]`)
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		switch {
		case strings.HasSuffix(r.URL.Path, "/collaborators"):
			fmt.Fprint(w, members.Load())
		case strings.HasSuffix(r.URL.Path, "/teams"):
			fmt.Fprint(w, `[]`)
		case strings.HasSuffix(r.URL.Path, "/repos/acme/app"):
			fmt.Fprint(w, `{"full_name":"acme/app","private":true,"owner":{"login":"acme"}}`)
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	source := config.Source{Name: "code", Kind: config.SourceGitea, URL: server.URL + "/acme/app", PrivateNetwork: true}
	store := access.OpenSQLite(sqlitetest.Open(t, t.TempDir()))
	setup := Setup{Logger: slog.New(slog.DiscardHandler)}
	setup.Config.DataDir = t.TempDir()
	refresher := newGrantRefresher(&Library{Setup: setup}, store)
	refresher.list = func() ([]config.Source, error) { return []config.Source{source}, nil }
	table := func(want ...knowledge.Principal) {
		t.Helper()
		tables, _, err := store.LoadGroups(t.Context(), 0)
		if got := tables["source:code"]["group:code:acme/app"]; err != nil || !slices.Equal(got, want) {
			t.Errorf("%v, %v, want %v", got, err, want)
		}
	}
	if err := store.SaveGroups(t.Context(), "source:code", access.Table{"group:code:acme/app": {"user:ada@example.com", "user:bob@example.com"}, "group:code:acme/other": {"user:ada@example.com"}}); err != nil {
		t.Fatal(err)
	}
	members.Store(`[{"login":"bob","email":"bob@example.com"}]`)
	refresher.refresh(t.Context(), []knowledge.Audience{knowledge.PublicAudience, "group:legal", "group:other:acme/app"})
	if asked != 0 {
		t.Errorf("asked %d times where no group is the forge's", asked)
	}
	table("user:ada@example.com", "user:bob@example.com")
	refresher.refresh(t.Context(), []knowledge.Audience{"group:code:acme/app"})
	table("user:bob@example.com")
	tables, _, err := store.LoadGroups(t.Context(), 0)
	if err != nil || len(tables["source:code"]["group:code:acme/other"]) != 1 {
		t.Errorf("the other group: %v, %v", tables, err)
	}

	server.Close() // a forge that can't be reached changes nothing
	newRefresher := newGrantRefresher(&Library{Setup: setup}, store)
	newRefresher.list = refresher.list
	newRefresher.refresh(t.Context(), []knowledge.Audience{"group:code:acme/app"})
	table("user:bob@example.com")
}

func TestNamedGroups(t *testing.T) {
	app, site := forge.Event{Repository: "acme/app", Part: forge.Issues, Key: "1"}, forge.Event{Repository: "acme/site"}
	if got := namedGroups("code", []forge.Event{app, site, app}); !slices.Equal(got, []knowledge.Principal{"group:code:acme/app", "group:code:acme/site"}) {
		t.Errorf("%v", got)
	}
	if got := namedGroups("code", []forge.Event{app, {}}); got != nil {
		t.Errorf("where all may have changed: %v", got)
	}
}
