package config

import (
	"strings"
	"testing"
)

func TestATestLoginIsWhole(t *testing.T) {
	for want, env := range map[string]map[string]string{
		"inspect.chromium_url: is one":       {"CAIRN_INSPECT_CHROMIUM": "/usr/bin/chromium", "CAIRN_INSPECT_CHROMIUM_URL": "http://127.0.0.1:9222"},
		"inspect.login_page: is missing":     {"CAIRN_INSPECT_LOGIN_USER": "tester"},
		"inspect.login_user: is missing":     {"CAIRN_INSPECT_LOGIN_PAGE": "https://shop.example/login"},
		"inspect.login_password: is missing": {"CAIRN_INSPECT_LOGIN_PAGE": "https://shop.example/login", "CAIRN_INSPECT_LOGIN_USER": "tester"},
	} {
		if _, err := hostWith(t, env).Load(""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
