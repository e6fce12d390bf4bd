package manifest_test

import (
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/repository/manifest"
)

func TestParseWanted(t *testing.T) {
	for question, want := range map[string]string{
		"which of our services still use go-redis v8?":       "go-redis@8",
		"Which repositories depend on github.com/pkg/errors": "github.com/pkg/errors@",
		"who uses lodash 4.17?":                              "lodash@4.17",
		"Which apps are still on React 17.x?":                "React@17",
		"list all projects that require @types/node":         "@types/node@",
		"what services import log4j in version 2.14?":        "log4j@2.14",
		"which packages need django@4?":                      "django@4",
		"which library does the parser use?":                 "",
		"where is the retry policy?":                         "",
		"how do services use the queue?":                     "",
		"which of our services use the new deploy process?":  "",
	} {
		wanted, ok := manifest.ParseWanted(question)
		if got := wanted.Name + "@" + wanted.Version; ok != (want != "") || ok && got != want {
			t.Errorf("%q asks for %s, %v, want %q", question, got, ok, want)
		}
	}
}

func TestWantedFits(t *testing.T) {
	for _, test := range []struct {
		wanted    string
		ecosystem manifest.Ecosystem
		name      string
		version   string
		locked    string
		fit       manifest.Fit // "" where it is another dependency
	}{
		{"go-redis 8", manifest.Go, "github.com/go-redis/redis/v8", "v8.11.5", "", manifest.Fits},
		{"go-redis 8", manifest.Go, "github.com/redis/go-redis/v9", "v9.0.0", "", manifest.Different},
		{"go-redis 8", manifest.Go, "github.com/redis/go-redis-extra", "v8.0.0", "", ""},
		{"redis 9", manifest.Go, "github.com/redis/go-redis/v9", "", "", manifest.Fits},
		{"golang.org/x/text ", manifest.Go, "golang.org/x/text", "v0.1.0", "", manifest.Fits},
		{"golang.org/x ", manifest.Go, "golang.org/x/text", "v0.1.0", "", manifest.Fits},
		{"react 18", manifest.JavaScript, "react", "^18.2.0", "", manifest.Fits},
		{"react 18", manifest.JavaScript, "react", ">=17", "18.3.1", manifest.Fits},
		{"react 18", manifest.JavaScript, "react", ">=17", "19.0.0", manifest.Different},
		{"react 18", manifest.JavaScript, "react", ">=17", "", manifest.Allowed},
		{"react 18", manifest.JavaScript, "react", ">=18 <19", "", manifest.Fits},
		{"react 18", manifest.JavaScript, "react", "^17.0.0 || ^18.0.0", "", manifest.Allowed},
		{"react 16", manifest.JavaScript, "react", "^17.0.0 || ^18.0.0", "", manifest.Different},
		{"react 18", manifest.JavaScript, "react", "17.1 - 18.2", "", manifest.Allowed},
		{"react 18", manifest.JavaScript, "react", "18.x", "", manifest.Fits},
		{"react 18", manifest.JavaScript, "react", "*", "", manifest.Allowed},
		{"react 1", manifest.JavaScript, "react", "^18.2.0", "", manifest.Different},
		{"react 18.2", manifest.JavaScript, "react", "~18.2.1", "", manifest.Fits},
		{"react 18.3", manifest.JavaScript, "react", "~18.2.1", "", manifest.Different},
		{"react 18.3", manifest.JavaScript, "react", "^18.2.1", "", manifest.Allowed},
		{"react ", manifest.JavaScript, "React", "", "", manifest.Fits},
		{"vite 0.3", manifest.JavaScript, "vite", "^0.3.1", "", manifest.Fits},
		{"django 4", manifest.Python, "django", ">=3.2,<5", "", manifest.Allowed},
		{"django 4", manifest.Python, "django", "~=4.1", "", manifest.Fits},
		{"django 4", manifest.Python, "django", "==4.*", "", manifest.Fits},
		{"django 5", manifest.Python, "django", "<5", "", manifest.Different},
		{"django 5", manifest.Python, "django", ">=4,!=4.2", "", manifest.Allowed},
		{"django 4", manifest.Python, "django", "", "", manifest.Allowed},
		{"rails 7", manifest.Ruby, "rails", "~> 7.0", "", manifest.Fits},
		{"rails 7.1", manifest.Ruby, "rails", "~> 7.0.4", "", manifest.Different},
		{"serde 1", manifest.Rust, "serde", "1.0", "", manifest.Fits},
		{"tokio 0.2", manifest.Rust, "tokio", "0.2.13", "", manifest.Fits},
		{"log4j 2.14", manifest.Java, "org.apache.logging:log4j", "2.14.1", "", manifest.Fits},
		{"log4j 2", manifest.Java, "org.apache.logging:log4j", "[2.0,3.0)", "", manifest.Fits},
		{"log4j 2", manifest.Java, "org.apache.logging:log4j", "[1.2,2.14]", "", manifest.Allowed},
		{"log4j 3", manifest.Java, "org.apache.logging:log4j", "(,3.0)", "", manifest.Different},
		{"postgres 14", manifest.Container, "postgres", "14-alpine", "", manifest.Fits},
		{"postgres 14", manifest.Container, "postgres", "latest", "", manifest.Allowed},
	} {
		name, version, _ := strings.Cut(test.wanted, " ")
		wanted := manifest.Wanted{Name: name, Version: version}
		d := manifest.Dependency{Name: test.name, Version: test.version}
		if got := wanted.Names(d); got != (test.fit != "") {
			t.Errorf("%s names %s: %v", test.wanted, test.name, got)
		} else if got := wanted.Fit(test.ecosystem, d, test.locked); test.fit != "" && got != test.fit {
			t.Errorf("%s and %s %q, locked %q: %s, want %s", test.wanted, test.name, test.version, test.locked, got, test.fit)
		}
	}
}

// FuzzFit reads requirements as anybody may write them.
func FuzzFit(f *testing.F) {
	f.Add("^1.2 || >=2,<3", "1")
	f.Add("[1.0,2.0)", "99999999999999999999")
	f.Fuzz(func(t *testing.T, requirement, version string) {
		wanted := manifest.Wanted{Name: "a", Version: version}
		for _, ecosystem := range []manifest.Ecosystem{manifest.Go, manifest.PHP, manifest.Rust} {
			switch fit := wanted.Fit(ecosystem, manifest.Dependency{Name: "a", Version: requirement}, ""); fit {
			case manifest.Fits, manifest.Allowed, manifest.Different:
			default:
				t.Errorf("%q, %q: %q", requirement, version, fit)
			}
		}
	})
}

func TestIsAsked(t *testing.T) {
	for question, want := range map[string]bool{
		"which of our services still use go-redis v8?":            true,
		"Hey, which of our services still use go-redis v8?":       true,
		"which repos depend on github.com/pkg/errors?":            true,
		"which apps are still on React 17.x?":                     true,
		"which packages require `lodash`?":                        true,
		"which services still use left-pad?":                      true,
		"which apps use Slack?":                                   false,
		"which apps require two-factor?":                          false,
		"who uses lodash 4.17?":                                   false, // people, perhaps
		"which teams use version 2?":                              false,
		"which of our services use the new deploy process?":       false,
		"how do our services use go-redis v8?":                    false,
		"which projects need a security review?":                  false,
		"what do services import from the shared queue by night?": false,
	} {
		if got := manifest.IsAsked(question); got != want {
			t.Errorf("%q: %v", question, got)
		}
	}
}
