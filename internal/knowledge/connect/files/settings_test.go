package files

import (
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/connect"
)

// documents gives what a sync says of each document, by path.
func (f *folder) documents() map[string]connect.Change {
	f.t.Helper()
	found := make(map[string]connect.Change)
	for change, err := range f.Connector().Sync(f.t.Context(), nil) {
		f.must(err)
		found[change.Document.Path] = change
	}
	return found
}

func TestSettingsHoldForTheFolderAndThoseBelow(t *testing.T) {
	f := newFolder(t)
	f.options.URLBase, f.options.Owner = "https://docs.example.com", "Everybody"
	f.Put("a.md", "x")
	f.Put("legal/.cairn.yaml", "audience: [\"group:legal\", \"user:Ada@Example.com\"]\nowner: Legal team\nkind: page\nurl_base: https://legal.example.com/wiki\nurl_style: page\n")
	f.Put("legal/README.md", "x")
	f.Put("legal/deep/b c.md", "x")
	f.Put("legal/deep/sheet.html", "x")
	f.Put("legal/open/.cairn.yaml", "audience: [public]\n")
	f.Put("legal/open/c.md", "x")
	f.Put("legal/empty/.cairn.yaml", "# nothing yet\n")
	f.Put("legal/empty/d.md", "x")
	found := f.documents()
	const both = knowledge.Audience("group:legal user:ada@example.com")
	for path, want := range map[string]knowledge.Document{
		"a.md":                  {Audience: knowledge.PublicAudience, Owner: "Everybody", Kind: knowledge.KindDocumentation, URL: "https://docs.example.com/a.md"},
		"legal/README.md":       {Audience: both, Owner: "Legal team", Kind: knowledge.KindPage, URL: "https://legal.example.com/wiki/"},
		"legal/deep/b c.md":     {Audience: both, Owner: "Legal team", Kind: knowledge.KindPage, URL: "https://legal.example.com/wiki/deep/b%20c/"},
		"legal/deep/sheet.html": {Audience: both, Owner: "Legal team", Kind: knowledge.KindPage, URL: "https://legal.example.com/wiki/deep/sheet.html"},
		"legal/open/c.md":       {Audience: knowledge.PublicAudience, Owner: "Legal team", Kind: knowledge.KindPage, URL: "https://legal.example.com/wiki/open/c/"},
		"legal/empty/d.md":      {Audience: both, Owner: "Legal team", Kind: knowledge.KindPage, URL: "https://legal.example.com/wiki/empty/d/"},
	} {
		got := found[path].Document
		if got.Audience != want.Audience || got.Owner != want.Owner || got.Kind != want.Kind || got.URL != want.URL {
			t.Errorf("%s: for %q of %q, %s at %s, want %+v", path, got.Audience, got.Owner, got.Kind, got.URL, want)
		}
	}
	if len(found) != 6 {
		t.Errorf("%d documents, want 6: the settings are none", len(found))
	}
}

func TestSettingsThatCannotBeReadHideTheFolder(t *testing.T) {
	for name, test := range map[string]struct{ content, want string }{
		"an unknown key":     {"audiense: [public]\n", "audiense"},
		"no YAML":            {"audience: [public\n", ""},
		"no principal":       {"audience: [legal]\n", "want public, user"},
		"an empty audience":  {"audience: []\n", "an audience is empty"},
		"a text as audience": {"audience: group:legal\n", ""},
		"an unknown kind":    {"kind: secret\n", "want documentation"},
		"no address":         {"url_base: javascript:alert(1)\n", "want an address"},
		"an unknown style":   {"url_style: upside-down\n", "want file or page"},
		"two documents":      {"owner: a\n---\nowner: b\n", "more than one"},
		"a key twice":        {"owner: a\nowner: b\n", ""},
		"no text":            {"\xff\xfe", "UTF-8"},
		"too large":          {strings.Repeat("# x\n", maxSettings/4+1), "larger than"},
		"a bad owner":        {"owner: \"a\\u0000b\"\n", "can be printed"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFolder(t)
			f.Put("a.md", "x")
			f.Put("sub/.cairn.yaml", test.content)
			f.Put("sub/deep/b.md", "x")
			found := f.documents()
			if got := found["a.md"].Document.Audience; got != knowledge.PublicAudience {
				t.Errorf("the folder above is for %q", got)
			}
			if got := found["sub/deep/b.md"]; got.Document.Audience != knowledge.HiddenAudience || got.Kind != connect.Upserted {
				t.Errorf("the document is for %q, %+v", got.Document.Audience, got)
			}
			failure := found["sub/.cairn.yaml"]
			if failure.Kind != connect.Failed || !strings.Contains(failure.Reason.Error(), test.want) || !strings.Contains(failure.Reason.Error(), "until that is mended") {
				t.Errorf("failure %+v, want %q", failure, test.want)
			}
		})
	}
}

func TestSettingsOutsideTheFolderAreNotRead(t *testing.T) {
	f := newFolder(t)
	f.Put("sub/a.md", "x")
	f.link("sub/.cairn.yaml", "/etc/hostname")
	if found := f.documents(); found["sub/a.md"].Document.Audience != knowledge.HiddenAudience || found["sub/.cairn.yaml"].Kind != connect.Failed {
		t.Errorf("got %+v", found)
	}
}

func TestSettingsDoNotOpenWhatTheConfigurationRestricts(t *testing.T) {
	f := newFolder(t)
	f.options.Audience = "group:legal"
	f.Put("a.md", "x")
	f.Put("sub/.cairn.yaml", "audience: [public]\n")
	f.Put("sub/b.md", "x")
	f.Put("hr/.cairn.yaml", "audience: [\"group:hr\"]\n")
	f.Put("hr/c.md", "x")
	found := f.documents()
	for path, want := range map[string]knowledge.Audience{"a.md": "group:legal", "sub/b.md": knowledge.HiddenAudience, "hr/c.md": "group:hr"} {
		if got := found[path].Document.Audience; got != want {
			t.Errorf("%s is for %q, want %q", path, got, want)
		}
	}
}

func TestASingleFileHasTheSettingsOfItsFolder(t *testing.T) {
	f := newFolder(t)
	f.Put(".cairn.yaml", "audience: [\"group:legal\"]\n")
	f.Put("a.md", "x")
	f.options.Root = f.path("a.md")
	if got := f.documents()["a.md"].Document.Audience; got != "group:legal" {
		t.Errorf("it is for %q", got)
	}
}

func TestAChangeOfSettingsIsAChangeOfTheDocuments(t *testing.T) {
	f := newFolder(t)
	f.Put("a.md", "x")
	f.Put("sub/b.md", "x")
	known := connect.Known{}
	for _, change := range f.documents() {
		known[change.Document.ID] = change.Document.Hash
	}
	f.Put("sub/.cairn.yaml", "audience: [\"group:legal\"]\n")
	for change, err := range f.Connector().Sync(t.Context(), known) {
		f.must(err)
		if changed := change.Kind == connect.Upserted; changed != (change.Document.Path == "sub/b.md") {
			t.Errorf("%s: kind %d", change.Document.Path, change.Kind)
		}
	}
}

func FuzzParseSettings(f *testing.F) {
	for _, seed := range []string{
		"audience: [\"group:legal\"]\nowner: Legal\nkind: page\nurl_base: https://x.example\nurl_style: page\n",
		"a: &a [*a]\n", "audience: &x [public]\nowner: *x\n", "---\n---\n", "? [a]\n", "",
	} {
		f.Add([]byte(seed))
	}
	above := Options{}.newSettings()
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > maxSettings {
			return
		}
		own, err := parseSettings(data, "sub", above)
		if err != nil {
			return
		}
		if _, err := knowledge.NewAudience(own.audience.Principals()...); err != nil {
			t.Errorf("%q has the audience %q: %v", data, own.audience, err)
		}
	})
}

// TestLinksLeadToPages checks where the links of a document lead, by the addresses of the
// documents that they name.
func TestLinksLeadToPages(t *testing.T) {
	byPage := &settings{urlBase: "https://docs.example.com/en", urlStyle: URLByPage, folder: "."}
	byFile := &settings{urlBase: "https://git.example.com/blob/main", urlStyle: URLByFile, folder: "."}
	below := &settings{urlBase: "https://docs.example.com", urlStyle: URLByPage, folder: "docs"}
	for _, test := range []struct {
		settings     *settings
		name, target string
		want         string
	}{
		{byPage, "guide/keys.md", "install.md#linux", "https://docs.example.com/en/guide/install/#linux"},
		{byPage, "guide/keys.md", "../index.md", "https://docs.example.com/en/"},
		{byPage, "guide/keys.md", "#rotate", "https://docs.example.com/en/guide/keys/#rotate"},
		{byPage, "guide/keys.md", "/blog/new/", "https://docs.example.com/blog/new/"},
		{byPage, "guide/keys.md", "../install/", "https://docs.example.com/en/guide/install/"},
		{byPage, "guide/keys.md", "../../secret.md", ""},
		{byPage, "guide/keys.md", "//evil.example.com/x.md", ""},
		{byPage, "guide/keys.md", "javascript:alert(1)", ""},
		{byFile, "guide/keys.md", "../a b.md", "https://git.example.com/blob/main/a%20b.md"},
		{byFile, "guide/keys.md", "install", ""},
		{below, "docs/guide/keys.md", "../start.md", "https://docs.example.com/start/"},
		{below, "docs/guide/keys.md", "../../README.md", ""},
		{&settings{folder: "."}, "guide/keys.md", "install.md", ""},
	} {
		if got := test.settings.linkAddress(test.name, test.target); got != test.want {
			t.Errorf("%s in %s leads to %q, want %q", test.target, test.name, got, test.want)
		}
	}
}
