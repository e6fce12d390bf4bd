package llm_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/llm"
)

func TestSecretIsNeverShown(t *testing.T) {
	const value = "sk-0123456789"
	secret := llm.NewSecret(value)
	type options struct {
		Key  llm.Secret
		none llm.Secret
		in   struct{ key *llm.Secret }
		bare llm.Secret
	}
	held := options{Key: secret, bare: secret}
	held.in.key = &secret
	var log bytes.Buffer
	for _, handler := range []slog.Handler{slog.NewTextHandler(&log, nil), slog.NewJSONHandler(&log, nil)} {
		slog.New(handler).Info("shown", "secret", secret, "options", held, "pointer", &held)
	}
	said := log.String()
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d", "%T"} {
		said += fmt.Sprintf(verb+" "+verb+" "+verb, secret, held, &held)
	}
	data, err := json.Marshal(map[string]any{"options": held, "secret": secret})
	if err != nil {
		t.Fatal(err)
	}
	said += string(data)
	for _, part := range []string{value, fmt.Sprintf("%x", value)} {
		if strings.Contains(said, part) {
			t.Errorf("%q is shown: %s", part, said)
		}
	}
	if secret.Reveal() != value || secret.IsZero() || !llm.NewSecret("").IsZero() || held.none.Reveal() != "" {
		t.Error("the value is not kept")
	}
}
