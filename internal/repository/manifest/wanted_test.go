package manifest_test

import (
	"strings"
	"testing"

	"cairn/internal/repository/manifest"
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
		wanted, name, version, locked string
		names, fits                   bool
	}{
		{"go-redis 8", "github.com/go-redis/redis/v8", "v8.11.5", "", true, true},
		{"go-redis 8", "github.com/redis/go-redis/v9", "v9.0.0", "", true, false},
		{"go-redis 8", "github.com/redis/go-redis-extra", "v8.0.0", "", false, true},
		{"react 18", "react", "^18.2.0", "", true, true},
		{"react 18", "react", ">=17", "18.3.1", true, true},
		{"react 1", "react", "^18.2.0", "", true, false},
		{"react ", "React", "", "", true, true},
		{"log4j 2.14", "org.apache.logging:log4j", "2.14.1", "", true, true},
		{"golang.org/x/text ", "golang.org/x/text", "v0.1.0", "", true, true},
		{"golang.org/x ", "golang.org/x/text", "v0.1.0", "", true, true},
		{"redis 9", "github.com/redis/go-redis/v9", "", "", true, true},
	} {
		name, version, _ := strings.Cut(test.wanted, " ")
		wanted := manifest.Wanted{Name: name, Version: version}
		d := manifest.Dependency{Name: test.name, Version: test.version}
		if wanted.Names(d) != test.names || wanted.Fits(d, test.locked) != test.fits {
			t.Errorf("%s and %+v: %v, %v", test.wanted, d, wanted.Names(d), wanted.Fits(d, test.locked))
		}
	}
}
