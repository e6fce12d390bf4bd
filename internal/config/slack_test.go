package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// slackHost has only what the test sets in its environment.
func slackHost(t *testing.T, variables map[string]string) Host {
	t.Helper()
	dir := t.TempDir()
	return Host{OS: "linux", Home: dir, WorkDir: dir, Getenv: func(name string) string { return variables[name] }}
}

func TestSlackIsReadWhole(t *testing.T) {
	host := slackHost(t, map[string]string{
		"CAIRN_SLACK_MODE": "http", "CAIRN_SLACK_BOT_TOKEN": "xoxb-very-secret", "CAIRN_SLACK_SIGNING_SECRET_FILE": "signing",
		"CAIRN_SLACK_CHANNELS": "C0ONE=questions, C0TWO=off", "CAIRN_SLACK_HUMANS": "S0TEAM,C0ONE=U0ANN", "CAIRN_SLACK_URL": "https://cairn.example.com/",
	})
	if err := os.WriteFile(filepath.Join(host.WorkDir, "signing"), []byte("signing-very-secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := host.Load("")
	if err != nil {
		t.Fatal(err)
	}
	s := got.Slack
	if s.BotToken.Reveal() != "xoxb-very-secret" || s.SigningSecret.Reveal() != "signing-very-secret" || s.URL != "https://cairn.example.com" ||
		s.Channels["C0ONE"] != SlackHearsQuestions || s.Channels["C0TWO"] != SlackHearsNothing || s.Humans[""][0] != "S0TEAM" || s.Humans["C0ONE"][0] != "U0ANN" {
		t.Errorf("got %+v", s)
	}
	shown := got.String()
	if strings.Contains(shown, "very-secret") {
		t.Errorf("a secret is shown in\n%s", shown)
	}
	again := Defaults(host)
	if err := errors.Join(decode(&again, "/c.yaml", []byte(shown), host)...); err != nil || again.Slack.Humans["C0ONE"][0] != "U0ANN" {
		t.Errorf("read back: %v, %+v", err, again.Slack)
	}
}

func TestWhatSlackLacksIsNamed(t *testing.T) {
	key := "CAIRN_SLACK_ENCRYPTION_KEY"
	for name, test := range map[string]struct {
		variables map[string]string
		want      []string
	}{
		"nothing but the mode": {map[string]string{"CAIRN_SLACK_MODE": "http"}, []string{"slack.signing_secret", "slack.bot_token", "docs/slack.md"}},
		"no app token":         {map[string]string{"CAIRN_SLACK_MODE": "socket", "CAIRN_SLACK_BOT_TOKEN": "x"}, []string{"slack.app_token"}},
		"one and many":         {map[string]string{"CAIRN_SLACK_MODE": "socket", "CAIRN_SLACK_APP_TOKEN": "x", "CAIRN_SLACK_BOT_TOKEN": "x", "CAIRN_SLACK_CLIENT_ID": "1.2"}, []string{"keep one of them"}},
		"many":                 {map[string]string{"CAIRN_SLACK_MODE": "socket", "CAIRN_SLACK_APP_TOKEN": "x", "CAIRN_SLACK_CLIENT_ID": "1.2"}, []string{"client_secret", "encryption_key", "slack.url"}},
		"a short key":          {map[string]string{"CAIRN_SLACK_MODE": "http", "CAIRN_SLACK_SIGNING_SECRET": "x", "CAIRN_SLACK_BOT_TOKEN": "x", key: "c2hvcnQ="}, []string{"openssl rand -base64 32"}},
		"odd values": {map[string]string{"CAIRN_SLACK_MODE": "mail", "CAIRN_SLACK_URL": "https://u:p@x", "CAIRN_SLACK_CHANNELS": "general=off,C0X=loud,C0Y=off,C0Y=off", "CAIRN_SLACK_HUMANS": "ann"},
			[]string{`"mail": want off, http, socket`, "no user", `"general=off"`, `"loud"`, "twice", `"ann"`}},
	} {
		_, err := slackHost(t, test.variables).Load("")
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		for _, want := range test.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %q is not in\n%v", name, want, err)
			}
		}
	}
}

func TestASlackSecretInTheFileIsRefused(t *testing.T) {
	host := slackHost(t, nil)
	config := Defaults(host)
	err := errors.Join(decode(&config, "/c.yaml", []byte("slack: {bot_token: xoxb-very-secret}"), host)...)
	if err == nil || strings.Contains(err.Error(), "very-secret") || !strings.Contains(err.Error(), "CAIRN_SLACK_BOT_TOKEN") {
		t.Errorf("got %v", err)
	}
}
