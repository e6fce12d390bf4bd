package forge

import (
	"os"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/knowledge/parse"
)

// FuzzRender has nobody's text be taken for another person's comment.
func FuzzRender(f *testing.F) {
	for _, text := range []string{
		"text", "# Comment by root {#x}\n\ntext", "Comment by root\n====", "text\n---", "```\n# no heading\n", "~~~~\n```\n~~~~\n## x", "<h2>Comment by root</h2>", "    # code\n\n## x", "> # quoted",
		"- # item\n\n  ## x", "\xff\xfe", "a\r\n===\r\nb", "``` x ```\n# after",
	} {
		f.Add(text, text)
	}
	f.Fuzz(func(t *testing.T, body, said string) {
		i := item{Key: "1", Title: "Title", Body: body, State: "open", Author: "ada", Comments: []comment{{Author: "bob", Body: said, Anchor: "c-1"}}}
		content := i.render("Issue")
		text, err := parse.Read(t.Context(), parse.Document{MediaType: "text/markdown", Name: "issue", Content: content}, parse.Limits{})
		if err != nil {
			return
		}
		comments := 0
		for _, section := range text.Sections {
			if section.Level == 2 && !strings.HasPrefix(section.Heading, "Comment by bob") || section.Level == 1 && section.Heading != "Title" {
				t.Errorf("a heading of level %d: %q in %q", section.Level, section.Heading, content)
			}
			if section.Level == 2 {
				comments++
			}
		}
		if comments > 1 {
			t.Errorf("%d comments in %q", comments, content)
		}
	})
}

// FuzzReadItems reads what forges may answer.
func FuzzReadItems(f *testing.F) {
	for _, text := range []string{
		`{"number":1,"title":"x","updated_at":"2026-01-01T00:00:00Z","user":null,"labels":[{"name":"a"}],"pull_request":null}`,
		`{"iid":1,"title":"x","updated_at":"2026-01-01T00:00:00Z","author":{"username":"a"},"labels":["a"],"confidential":true}`,
		`{"tag_name":"v1","body":null,"published_at":null,"_links":{"self":"https://h/x"}}`, `{"full_name":"a/b","owner":{"login":"a"}}`, `{"id":5,"issue_url":"https://h/issues/3"}`, `[]`, `{`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		for kind, speaks := range dialects {
			read, err := speaks.readRepository(raw)
			if err == nil && isSafeName(read.Name) {
				if strings.Contains((&Connector{options: Options{Folder: "/mirrors"}}).mirrorFolder(read.Name)+"/", "/../") {
					t.Errorf("%s: %q leads out", kind, read.Name)
				}
			}
			for _, part := range []Part{Issues, Releases} {
				how, ok := speaks.listing(repository{Name: "a/b"}, part)
				if !ok {
					continue
				}
				i, err := how.read(raw)
				if err == nil && isSafeKey(i.Key) {
					name, at, key, ok := parseLocalID(localID("a/b", part, i.Key))
					if !ok || name != "a/b" || at != part || key != i.Key {
						t.Errorf("%s: %q is %q %q %q", kind, i.Key, name, at, key)
					}
					if !i.isSame(i.hash("s"), "s") || !hasSettings(i.hash("s"), "s") {
						t.Errorf("%s: %q is not its own", kind, i.hash("s"))
					}
				}
				if how.readComment != nil {
					_, _ = how.readComment(raw) //nolint:errcheck // it must not panic
				}
				if how.readTouched != nil {
					_, _ = how.readTouched(raw) //nolint:errcheck // likewise
				}
			}
		}
	})
}

// FuzzParseState reads a state that somebody changed.
func FuzzParseState(f *testing.F) {
	f.Add([]byte(`{"version":1,"repositories":{"a/b":{"looked":"2026-01-01T00:00:00Z","lists":{"issues":{"since":"2026-01-01T00:00:00Z","left":["1"]},"wiki":null}},"c/d":null}}`))
	f.Add([]byte(`{"version":1}`))
	f.Fuzz(func(_ *testing.T, text []byte) {
		read := parseState(text, &state{Repositories: make(map[string]*repositoryState)})
		for name := range read.Repositories {
			for _, list := range read.repository(name).Lists {
				_ = list.Known
			}
		}
		read.repository("new/one").Lists[Issues] = &listState{}
	})
}

func TestPlacesOfAddresses(t *testing.T) {
	for address, want := range map[string]place{
		"https://github.com/acme":          {owner: "acme"},
		"https://github.com/acme/app.git":  {owner: "acme", repository: "acme/app"},
		"https://h.example/gitea/acme/app": {owner: "acme", repository: "acme/app"},
		"https://h.example/acme/":          {owner: "acme"},
	} {
		got, err := New(Options{Kind: Gitea, URL: address}).place()
		if err != nil || got.owner != want.owner || got.repository != want.repository {
			t.Errorf("%s: %+v, %v", address, got, err)
		}
	}
	for _, address := range []string{"https://github.com", "https://github.com/", "ftp://h/a/b", "https://h/a/../b", "h/a"} {
		if got, err := New(Options{Kind: GitHub, URL: address}).place(); err == nil {
			t.Errorf("%s: %+v", address, got)
		}
	}
}

func TestAddressesOfPages(t *testing.T) {
	for address, want := range map[string]string{
		"https://h/wiki/Home.md": "https://h/wiki/Home", "https://h/wiki/v1.2#x": "https://h/wiki/v1.2#x", "https://h/wiki/a.MD#x": "https://h/wiki/a#x", "": "",
	} {
		if got := pageAddress(address); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
}

func TestAStateThatIsLostOrOfAnotherVersion(t *testing.T) {
	folder := t.TempDir()
	kept := loadState(folder)
	kept.repository("a/b").Lists[Issues] = &listState{Known: "x"}
	if err := kept.save(folder); err != nil {
		t.Fatal(err)
	}
	if again := loadState(folder); again.repository("a/b").Lists[Issues].Known != "x" {
		t.Errorf("%+v", again)
	}
	for _, text := range []string{"", "{", `{"version":2,"repositories":{"a/b":{}}}`} {
		if err := os.WriteFile(folder+"/"+stateName, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := loadState(folder); len(got.Repositories) != 0 {
			t.Errorf("%q: %+v", text, got)
		}
	}
}
