package main

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
)

// version and commit are set by the build: -ldflags "-X main.version=… -X main.commit=…".
var version, commit string

// unreleased is the version of a program whose build says none.
const unreleased = "dev"

// buildVersion tells which program this is: the version and the commit that its build was
// given, else what the Go command recorded of the checkout that it built. The commit is
// empty where neither knows it.
func buildVersion() (string, string) {
	recorded, _ := debug.ReadBuildInfo()
	return versionFrom(version, commit, recorded)
}

// versionFrom prefers what was stamped to what the Go command recorded, which is nil in a
// program that was built without modules.
func versionFrom(version, commit string, recorded *debug.BuildInfo) (string, string) {
	if recorded == nil {
		return cmp.Or(version, unreleased), commit
	}
	if main := recorded.Main.Version; main != "(devel)" {
		version = cmp.Or(version, main)
	}
	return cmp.Or(version, unreleased), cmp.Or(commit, recordedCommit(recorded.Settings))
}

// recordedCommit is the checkout's commit, with a mark where files differed from it.
func recordedCommit(settings []debug.BuildSetting) string {
	commit, mark := "", ""
	for _, s := range settings {
		switch {
		case s.Key == "vcs.revision":
			commit = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			mark = "-dirty"
		}
	}
	if commit == "" {
		return ""
	}
	return commit + mark
}

// versionLine is what people are shown, and put into reports of what went wrong.
func versionLine() string {
	version, commit := buildVersion()
	return fmt.Sprintf("cairn %s, commit %s, %s, %s/%s",
		version, cmp.Or(commit, "unknown"), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

type versionCommand struct{}

// Run prints one line.
func (versionCommand) Run(_ context.Context, in *invocation) error {
	_, err := fmt.Fprintln(in.std.Out, versionLine())
	return err
}
