package app

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/chat/webhook"
	"github.com/cairn-bot/cairn/internal/config"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/connect/forge"
	"github.com/cairn-bot/cairn/internal/llm"
)

func TestWebhooksAreReceived(t *testing.T) {
	var read []knowledge.SourceID
	told := &toldEvents{}
	configured := []config.Source{
		{Name: "app", Kind: config.SourceGitea, WebhookKey: config.WebhookKey{Secret: llm.NewSecret("s3cret")}},
		{Name: "open", Kind: config.SourceGitea},
		{Name: "paused", Kind: config.SourceGitea, Paused: true, WebhookKey: config.WebhookKey{Secret: llm.NewSecret("s3cret")}},
	}
	logger := slog.New(slog.DiscardHandler)
	h := &webhooks{
		list: func() ([]config.Source, error) { return configured, nil }, told: told, changed: func(id knowledge.SourceID) { read = append(read, id) },
		refused: webhook.NewRefusalLog(logger, "refused"), setup: Setup{Logger: logger},
	}
	const issue = `{"action":"deleted","issue":{"number":4},"repository":{"full_name":"acme/app"}}`
	deliver := func(method, source, event, secret, body string) int {
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write([]byte(body))
		request := httptest.NewRequestWithContext(t.Context(), method, "/hooks/"+source, strings.NewReader(body))
		request.Header.Set("X-Gitea-Event", event)
		request.Header.Set("X-Hub-Signature-256", "sha256="+hex.EncodeToString(mac.Sum(nil)))
		answer := httptest.NewRecorder()
		h.handler().ServeHTTP(answer, request)
		return answer.Code
	}
	for what, c := range map[string]struct {
		method, source, event, secret, body string
		want                                int
	}{
		"another secret":           {"POST", "app", "issues", "guess", issue, http.StatusUnauthorized},
		"no such source":           {"POST", "none", "issues", "s3cret", issue, http.StatusNotFound},
		"a source without webhook": {"POST", "open", "issues", "", issue, http.StatusNotFound},
		"no JSON":                  {"POST", "app", "issues", "s3cret", "{", http.StatusBadRequest},
		"too much":                 {"POST", "app", "issues", "s3cret", strings.Repeat(" ", webhook.MaxBody+1), http.StatusRequestEntityTooLarge},
		"a look":                   {"GET", "app", "issues", "s3cret", "", http.StatusMethodNotAllowed},
		"what is not read":         {"POST", "app", "star", "s3cret", issue, http.StatusNoContent},
		"a source that is paused":  {"POST", "paused", "issues", "s3cret", issue, http.StatusNoContent},
	} {
		if got := deliver(c.method, c.source, c.event, c.secret, c.body); got != c.want {
			t.Errorf("%s: status %d, want %d", what, got, c.want)
		}
	}
	if len(read) > 0 {
		t.Errorf("read were %v", read)
	}
	for range 2 {
		if got := deliver("POST", "app", "issues", "s3cret", issue); got != http.StatusNoContent {
			t.Errorf("status %d", got)
		}
	}
	want := []forge.Event{{Repository: "acme/app", Part: forge.Issues, Key: "4"}}
	if got := told.take("app"); !slices.Equal(got, want) || !slices.Equal(read, []knowledge.SourceID{"app", "app"}) || told.take("app") != nil {
		t.Errorf("told %v, read %v", got, read)
	}
}

func TestManyEventsAreOne(t *testing.T) {
	var told toldEvents
	for number := range maxTold + 1 {
		told.add("app", forge.Event{Repository: "acme/app", Part: forge.Issues, Key: string(rune('a' + number))})
	}
	if got := told.take("app"); !slices.Equal(got, []forge.Event{{}}) {
		t.Errorf("%d events", len(got))
	}
}
