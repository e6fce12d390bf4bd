package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestLimits(t *testing.T) {
	host := slackHost(t, map[string]string{
		"CAIRN_LIMITS_USER_QUESTIONS_PER_HOUR": "20", "CAIRN_LIMITS_CHANNEL_QUESTIONS_PER_HOUR": "200",
		"CAIRN_LIMITS_USER_COST_PER_DAY": "0.5", "CAIRN_LIMITS_CHANNEL_COST_PER_DAY": "5", "CAIRN_AUDIT_FILE": "audit.log",
	})
	got, err := host.Load("")
	if err != nil {
		t.Fatal(err)
	}
	if want := (Limits{UserQuestions: 20, ChannelQuestions: 200, UserCost: .5, ChannelCost: 5}); got.Limits != want {
		t.Errorf("got %+v", got.Limits)
	}
	if want := filepath.Join(host.WorkDir, "audit.log"); got.Audit.File != want {
		t.Errorf("got %q, want %q", got.Audit.File, want)
	}
}

func TestLimitsThatCanNotBe(t *testing.T) {
	_, err := slackHost(t, map[string]string{
		"CAIRN_LIMITS_USER_QUESTIONS_PER_HOUR": "-1", "CAIRN_LIMITS_CHANNEL_COST_PER_DAY": "much",
	}).Load("")
	for _, want := range []string{"CAIRN_LIMITS_USER_QUESTIONS_PER_HOUR", "CAIRN_LIMITS_CHANNEL_COST_PER_DAY"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %v", want, err)
		}
	}
	_, err = slackHost(t, map[string]string{"CAIRN_LLM_MODEL": "m", "CAIRN_LLM_URL": "http://localhost:1/v1", "CAIRN_LIMITS_USER_COST_PER_DAY": "1"}).Load("")
	if err == nil || !strings.Contains(err.Error(), "limits: user_cost_per_day") {
		t.Errorf("limits of cost without prices: %v", err)
	}
}

func TestSecretFiles(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	key, address := write("key", "sk-1"), write("redis", "redis://:hush@localhost:6379")
	got, err := slackHost(t, map[string]string{
		"CAIRN_LLM_MODEL": "m", "CAIRN_LLM_URL": "http://localhost:1/v1", "CAIRN_LLM_KEY_FILE": key, "CAIRN_REDIS_URL_FILE": address,
	}).Load("")
	if err != nil {
		t.Fatal(err)
	}
	want := []SecretFile{{"redis.url_file", address}, {"key_file of model m", key}}
	if found := got.SecretFiles(); !slices.Equal(found, want) {
		t.Errorf("got %v, want %v", found, want)
	}
}
