package config

import (
	"strings"
	"testing"
)

// TestKeyOfAServiceAccount has the key of a source of the kind drive be JSON, of one kind alone.
func TestKeyOfAServiceAccount(t *testing.T) {
	for key, ok := range map[string]bool{
		"{\n  \"type\": \"service_account\",\n  \"private_key\": \"-----BEGIN PRIVATE KEY-----\\nMII\"\n}\n": true,
		`{"type": "authorized_user"}`: false, "a-token": false,
	} {
		host := Host{Getenv: func(string) string { return key }}
		source, err := host.ReadSource(t.TempDir(), map[string][]string{
			"name": {"papers"}, "kind": {string(GuessSourceKind("https://drive.google.com/drive/folders/0A"))}, "url": {"https://drive.google.com/drive/folders/0A"},
			"audience": {"group:staff"}, "key_env": {"DRIVE_KEY"},
		})
		if (err == nil) != ok || ok && source.Key.Secret.Reveal() != key || !ok && !strings.Contains(err.Error(), "service account") {
			t.Errorf("%q: %v", key, err)
		}
		if source.Documents != "drive" {
			t.Errorf("documents of the kind %s", source.Documents)
		}
	}
}
