package source_test

import (
	"testing"

	"github.com/cairn-bot/cairn/internal/repository/source"
)

func TestBuildsOf(t *testing.T) {
	const none = source.Builds(0)
	of := func(file, content string) source.Builds { return source.BuildsOf(file, []byte(content)) }
	linux, windows := of("a_linux.go", ""), of("a_windows.go", "")
	if linux == none || windows == none || linux&windows != 0 {
		t.Fatalf("linux %b, windows %b", linux, windows)
	}
	for _, test := range []struct {
		file, content string
		want          source.Builds
	}{
		{"a.go", "package a\n", source.AllBuilds},
		{"linux.go", "package a\n", source.AllBuilds},
		{"a.go", "// License\n\n//go:build ignore\n\npackage main\n", none},
		{"a.go", "// +build ignore\n\npackage main\n", none},
		{"a.go", "//go:build integration && linux\n\npackage a\n", none},
		{"a.go", "//go:build !integration\n\npackage a\n", source.AllBuilds},
		{"a.go", "//go:build linux\n// +build ignore\n\npackage a\n", linux},
		{"a.go", "// +build linux windows\n\npackage a\n", linux | windows},
		{"a_linux.go", "//go:build windows\n\npackage a\n", none},
		{"a_linux_test.go", "package a\n", linux},
		{"a.go", "/*\n//go:build ignore\n*/\npackage a\n", source.AllBuilds},
		{"a.go", "package a\n\n//go:build ignore\n", source.AllBuilds},
		{"a.go", "//go:build go1.21\n\npackage a\n", source.AllBuilds},
		{"a_sparc64.go", "package a\n", none},
	} {
		if got := of(test.file, test.content); got != test.want {
			t.Errorf("%s %q: %b, want %b", test.file, test.content, got, test.want)
		}
	}
	if both := of("a_amd64.go", "") & of("a.go", "//go:build cgo\n"); both == none {
		t.Error("no build has both a machine and C")
	}
}
