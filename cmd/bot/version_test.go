package main

import (
	"runtime/debug"
	"testing"
)

func TestTheVersionIsTheStampedOneElseWhatGoRecorded(t *testing.T) {
	recorded := func(version string, settings ...debug.BuildSetting) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Path: "cairn", Version: version}, Settings: settings}
	}
	revision := debug.BuildSetting{Key: "vcs.revision", Value: "0a1b2c"}
	modified := debug.BuildSetting{Key: "vcs.modified", Value: "true"}
	clean := debug.BuildSetting{Key: "vcs.modified", Value: "false"}
	for name, c := range map[string]struct {
		version, commit         string
		recorded                *debug.BuildInfo
		wantVersion, wantCommit string
	}{
		"stamped":                 {"v1.2.3", "feed", recorded("v9.9.9", revision), "v1.2.3", "feed"},
		"a tagged checkout":       {"", "", recorded("v1.2.0", revision, clean), "v1.2.0", "0a1b2c"},
		"files that were changed": {"", "", recorded("v1.2.0+dirty", revision, modified), "v1.2.0+dirty", "0a1b2c-dirty"},
		"no checkout":             {"", "", recorded("(devel)"), unreleased, ""},
		"changed, but what?":      {"", "", recorded("(devel)", modified), unreleased, ""},
		"nothing recorded":        {"", "feed", nil, unreleased, "feed"},
	} {
		t.Run(name, func(t *testing.T) {
			version, commit := versionFrom(c.version, c.commit, c.recorded)
			if version != c.wantVersion || commit != c.wantCommit {
				t.Errorf("version %q, commit %q; want %q, %q", version, commit, c.wantVersion, c.wantCommit)
			}
		})
	}
}
