package config

import (
	"maps"
	"strings"
	"testing"
)

// issuerVariables are what an issuer needs.
var issuerVariables = map[string]string{
	"CAIRN_OPERATIONS_URL":                "https://cairn.example.com/",
	"CAIRN_OPERATIONS_OIDC_ISSUER":        "https://accounts.example.com",
	"CAIRN_OPERATIONS_OIDC_CLIENT_ID":     "cairn",
	"CAIRN_OPERATIONS_OIDC_CLIENT_SECRET": "s3cr3t-of-the-client",
	"CAIRN_OPERATIONS_OIDC_ALLOWED":       "ann@example.com, operators",
}

func TestOperationsWithAnIssuer(t *testing.T) {
	got, err := testHost(t).with(issuerVariables).Load("")
	if err != nil {
		t.Fatal(err)
	}
	o := got.Operations
	if o.URL != "https://cairn.example.com" || o.Issuer != "https://accounts.example.com" || o.ClientID != "cairn" ||
		o.ClientSecret.Reveal() != "s3cr3t-of-the-client" || strings.Join(o.Allowed, "|") != "ann@example.com|operators" {
		t.Errorf("got %+v", o)
	}
	if !o.HasSignIn() || !got.OperationsOnWeb() {
		t.Errorf("sign-in %v, on the web page %v", o.HasSignIn(), got.OperationsOnWeb())
	}
}

func TestOperationsThatDoNotFitTogether(t *testing.T) {
	for _, test := range []struct {
		name   string
		change map[string]string
		want   string
	}{
		{"others reach it", map[string]string{"CAIRN_OPERATIONS_LISTEN": "0.0.0.0:8081", "CAIRN_OPERATIONS_OIDC_ISSUER": "",
			"CAIRN_OPERATIONS_OIDC_CLIENT_ID": "", "CAIRN_OPERATIONS_OIDC_CLIENT_SECRET": "", "CAIRN_OPERATIONS_OIDC_ALLOWED": ""}, "operations.listen"},
		{"short token", map[string]string{"CAIRN_OPERATIONS_TOKEN": "hunter2"}, "has 7 characters"},
		{"no issuer", map[string]string{"CAIRN_OPERATIONS_OIDC_ISSUER": ""}, "operations.oidc_issuer: is missing"},
		{"no client", map[string]string{"CAIRN_OPERATIONS_OIDC_CLIENT_ID": ""}, "operations.oidc_client_id: is missing"},
		{"no secret", map[string]string{"CAIRN_OPERATIONS_OIDC_CLIENT_SECRET": ""}, "operations.oidc_client_secret: is missing"},
		{"nobody", map[string]string{"CAIRN_OPERATIONS_OIDC_ALLOWED": ""}, "operations.oidc_allowed: is missing"},
		{"no way back", map[string]string{"CAIRN_OPERATIONS_URL": ""}, "operations.url: is missing"},
		{"issuer in the clear", map[string]string{"CAIRN_OPERATIONS_OIDC_ISSUER": "http://accounts.example.com"}, "operations.oidc_issuer: people sign in there"},
		{"page in the clear", map[string]string{"CAIRN_OPERATIONS_URL": "http://cairn.example.com"}, "operations.url: people sign in there"},
	} {
		t.Run(test.name, func(t *testing.T) {
			variables := make(map[string]string)
			for key, value := range issuerVariables {
				variables[key] = value
			}
			for key, value := range test.change {
				variables[key] = value
			}
			_, err := testHost(t).with(variables).Load("")
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
			if err != nil && (strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "s3cr3t")) {
				t.Errorf("a secret is shown: %v", err)
			}
		})
	}
}

func TestOperationsAreOnTheWebPageWhereNobodyElseReachesIt(t *testing.T) {
	for _, test := range []struct {
		web, own, token string
		want            bool
	}{
		{"127.0.0.1:0", "", "", true},
		{"[::1]:80", "", "", true},
		{"localhost:80", "", "", true},
		{"0.0.0.0:8080", "", "", false},
		{":8080", "", "", false},
		{"0.0.0.0:8080", "", "0123456789abcdef", true},
		{"127.0.0.1:0", "127.0.0.1:8081", "", false},
	} {
		got, err := testHost(t).with(map[string]string{
			"CAIRN_WEB_LISTEN": test.web, "CAIRN_OPERATIONS_LISTEN": test.own, "CAIRN_OPERATIONS_TOKEN": test.token,
		}).Load("")
		if err != nil {
			t.Fatal(err)
		}
		if got.OperationsOnWeb() != test.want {
			t.Errorf("%+v: on the web page %v", test, got.OperationsOnWeb())
		}
	}
}

// TestShownHoldsNoSecret sets every secret there is.
func TestShownHoldsNoSecret(t *testing.T) {
	const kept = "k3pt-under-the-stone"
	host := testHost(t)
	variables := map[string]string{
		"CAIRN_REDIS_URL": "redis://:" + kept + "@redis:6379/0", "CAIRN_POSTGRES_URL": "postgres://cairn:" + kept + "@db/cairn",
		"CAIRN_LLM_URL": "https://llm.example.com/v1", "CAIRN_LLM_MODEL": "m", "CAIRN_LLM_KEY": kept,
	}
	for key, value := range issuerVariables {
		variables[key] = value
	}
	secrets := 0
	for _, s := range settings {
		if !s.secret || s.key == "telemetry.traces_headers" || s.key == "slack.encryption_key" {
			continue
		}
		secrets++
		variables[s.env] = kept
	}
	if secrets < 6 {
		t.Fatalf("%d secrets are known", secrets)
	}
	got, err := host.with(variables).Load("")
	if err != nil {
		t.Fatal(err)
	}
	set := 0
	for _, shown := range got.Shown() {
		if strings.Contains(shown.Value, kept) {
			t.Errorf("%s shows a secret: %s", shown.Key, shown.Value)
		}
		if shown.Secret && shown.Set {
			set++
		}
	}
	if set != secrets+1 { // that of the model
		t.Errorf("%d secrets are said to be set, %d are", set, secrets+1)
	}
}

func TestSigningInToTheWebPage(t *testing.T) {
	for name, test := range map[string]struct {
		change map[string]string
		want   string
	}{
		"whole":        {nil, ""},
		"no issuer":    {map[string]string{"CAIRN_OPERATIONS_OIDC_ISSUER": "", "CAIRN_OPERATIONS_OIDC_CLIENT_ID": "", "CAIRN_OPERATIONS_OIDC_CLIENT_SECRET": "", "CAIRN_OPERATIONS_OIDC_ALLOWED": ""}, "access.web: people sign in"},
		"no way back":  {map[string]string{"CAIRN_WEB_URL": ""}, "web.url: is missing"},
		"in the clear": {map[string]string{"CAIRN_WEB_URL": "http://cairn.example.com"}, "web.url: people sign in there"},
		"public":       {map[string]string{"CAIRN_ACCESS_WEB": "public", "CAIRN_WEB_URL": ""}, ""},
	} {
		variables := maps.Clone(issuerVariables)
		variables["CAIRN_ACCESS_WEB"], variables["CAIRN_WEB_URL"] = "sign-in", "https://cairn.example.com/"
		maps.Copy(variables, test.change)
		got, err := testHost(t).with(variables).Load("")
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
		if name == "whole" && (got.Access.Web != WebSignIn || got.Web.URL != "https://cairn.example.com") {
			t.Errorf("got %+v, %+v", got.Access, got.Web)
		}
	}
}
