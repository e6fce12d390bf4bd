package app

import (
	"testing"

	"cairn/internal/config"
	"cairn/internal/knowledge"
	"cairn/internal/knowledge/parse"
)

func TestDocumentsMayBeAsLargeAsTheirSourceAllows(t *testing.T) {
	for allowed, want := range map[int64]int64{0: parse.DefaultBytes, 32 << 20: parse.DefaultBytes, 1 << 30: 1 << 30} {
		if got := documentLimits(config.Source{MaxDocumentBytes: allowed}).Bytes; got != want {
			t.Errorf("max_document_bytes %d: the parsers read %d bytes, want %d", allowed, got, want)
		}
	}
}

func TestMirrorsAreThoseOfGitSources(t *testing.T) {
	var setup Setup
	setup.Config.DataDir = t.TempDir()
	setup.Config.Sources = []config.Source{
		{Name: "handbook", Kind: config.SourceFiles, Path: t.TempDir()},
		{Name: "app", Kind: config.SourceGit, URL: "https://git.example.com/team/app.git", Audience: []knowledge.Principal{"group:staff"}, Exclude: []string{"old/**"}},
	}
	mirrors, err := sources{&Library{Setup: setup}}.listMirrors()
	if err != nil || len(mirrors) != 1 {
		t.Fatalf("%+v, %v", mirrors, err)
	}
	mirror := mirrors[0]
	if want := mirrorFolder(setup.Config.DataDir, "app"); mirror.Address != "https://git.example.com/team/app.git" || mirror.Folder != want || mirror.Audience == knowledge.PublicAudience || len(mirror.Exclude) != 1 {
		t.Errorf("%+v", mirror)
	}
	if web := mirror.Web("abc"); web != "https://git.example.com/team/app/src/commit/abc/" {
		t.Error(web)
	}
}
