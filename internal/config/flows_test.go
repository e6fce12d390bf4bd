package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestWhatFlowsMayRead(t *testing.T) {
	host := slackHost(t, map[string]string{"CAIRN_FLOWS_FOLDERS": "docs", "CAIRN_FLOWS_REPOSITORIES": "GitHub.com/Acme/, git.example.com:8443"})
	if err := os.Mkdir(filepath.Join(host.WorkDir, "docs"), 0o700); err != nil {
		t.Fatal(err)
	}
	got, err := host.Load("")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.Flows.Folders, []string{filepath.Join(host.WorkDir, "docs")}) ||
		!slices.Equal(got.Flows.Repositories, []string{"github.com/Acme", "git.example.com:8443"}) {
		t.Errorf("got %+v", got.Flows)
	}
	_, err = slackHost(t, map[string]string{"CAIRN_FLOWS_FOLDERS": "nowhere", "CAIRN_FLOWS_REPOSITORIES": "https://github.com/acme,github.com/../x,a b"}).Load("")
	for _, want := range []string{`"nowhere": there is no such folder`, `"https://github.com/acme": want a host`, `"github.com/../x"`, `"a b"`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %v", want, err)
		}
	}
}
