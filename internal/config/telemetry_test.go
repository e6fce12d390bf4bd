package config

import (
	"strings"
	"testing"
)

func TestWhatIsMeasured(t *testing.T) {
	got, err := slackHost(t, map[string]string{
		"CAIRN_TELEMETRY_LISTEN": ":9090", "CAIRN_TELEMETRY_PROFILE": "[::1]:6060", "CAIRN_TELEMETRY_TRACES": "https://otel.example.com/",
		"CAIRN_TELEMETRY_TRACES_HEADERS": "Authorization=Bearer%20very-secret,X-Scope=7",
	}).Load("")
	if err != nil {
		t.Fatal(err)
	}
	if got.Telemetry.Listen != ":9090" || got.Telemetry.Profile != "[::1]:6060" || got.Telemetry.Traces != "https://otel.example.com/v1/traces" {
		t.Errorf("got %+v", got.Telemetry)
	}
	headers, err := got.Telemetry.Headers()
	if err != nil || headers.Get("Authorization") != "Bearer very-secret" || headers.Get("X-Scope") != "7" {
		t.Errorf("headers %v, %v", headers, err)
	}
	if strings.Contains(got.String(), "very-secret") {
		t.Errorf("a secret is shown:\n%s", got)
	}
}

func TestWhatCannotBeMeasured(t *testing.T) {
	for _, test := range []struct {
		name, value, want string
	}{
		{"CAIRN_TELEMETRY_LISTEN", "9090", "want host:port"},
		{"CAIRN_TELEMETRY_PROFILE", ":6060", "loopback"},
		{"CAIRN_TELEMETRY_PROFILE", "10.0.0.1:6060", "loopback"},
		{"CAIRN_TELEMETRY_PROFILE", "cairn.example.com:6060", "loopback"},
		{"CAIRN_TELEMETRY_TRACES", "collector:4318", "want the address of a collector"},
		{"CAIRN_TELEMETRY_TRACES", "http://ann:very-secret@collector:4318", "want the address of a collector"},
		{"CAIRN_TELEMETRY_TRACES_HEADERS", "very-secret", "want names and values"},
		{"CAIRN_TELEMETRY_TRACES_HEADERS", "Key=very-secret%0d%0aX: y", "without white space"},
		{"CAIRN_TELEMETRY_TRACES_HEADERS", "Key=very-secret%0d%0aX", "want names and values"},
		{"CAIRN_TELEMETRY_TRACES_HEADERS", "Key=very-secret", "there is no telemetry.traces"},
	} {
		_, err := slackHost(t, map[string]string{test.name: test.value}).Load("")
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "very-secret") {
			t.Errorf("%s=%s: got %v, want %q", test.name, test.value, err, test.want)
		}
	}
}
