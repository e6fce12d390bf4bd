package knowledge

import (
	"strings"
	"testing"
)

func TestParsePrincipal(t *testing.T) {
	for text, want := range map[string]Principal{
		"public":                "public",
		"user:Ada@Example.com":  "user:ada@example.com",
		"user:slack:U1A":        "user:slack:U1A",
		"group:legal":           "group:legal",
		"channel:slack:C1":      "channel:slack:C1",
		"team:discord:81384788": "team:discord:81384788",
		"":                      "",
		"nobody":                "",
		"legal":                 "",
		"role:legal":            "",
		"group:":                "",
		"group:a b":             "",
		"group:a,b":             "",
		"group:a\x00":           "",
		"group:\u202e":          "",
		"group:\xff":            "",
		"group:" + strings.Repeat("x", MaxPrincipal): "",
	} {
		got, err := ParsePrincipal(text)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v, want %q", text, got, err, want)
		}
	}
}

func FuzzParsePrincipal(f *testing.F) {
	f.Add("public")
	f.Add("user:Ada@Example.com")
	f.Add("group: x")
	f.Fuzz(func(t *testing.T, text string) {
		principal, err := ParsePrincipal(text)
		if err != nil {
			return
		}
		if again, err := ParsePrincipal(string(principal)); err != nil || again != principal {
			t.Errorf("%q was read as %q, which is read as %q, %v", text, principal, again, err)
		}
		audience, err := NewAudience(principal)
		if err != nil || len(audience.Principals()) != 1 || audience.Principals()[0] != principal {
			t.Errorf("the audience of %q is %q, %v", principal, audience, err)
		}
	})
}

func TestAudience(t *testing.T) {
	a, err := NewAudience("user:b", "group:a", "user:b")
	if err != nil || a != "group:a user:b" || a.String() != "group:a, user:b" {
		t.Errorf("%q, %v", a, err)
	}
	if a, err := NewAudience("user:b", Public); err != nil || a != PublicAudience {
		t.Errorf("with public: %q, %v", a, err)
	}
	many := make([]Principal, MaxAudience+1)
	for i := range many {
		many[i] = Principal("user:" + strings.Repeat("x", i+1)[:min(i+1, 100)] + string(rune('a'+i%26)) + strings.Repeat("y", i/26))
	}
	for name, principals := range map[string][]Principal{"none": nil, "too many": many, "no principal": {"legal"}, "with a space": {"group:a b"}} {
		if a, err := NewAudience(principals...); err == nil {
			t.Errorf("%s: no error, but %q", name, a)
		}
	}
}

func TestViewers(t *testing.T) {
	var crowd [][]Principal
	for i := range 130 {
		crowd = append(crowd, []Principal{Principal("user:" + strings.Repeat("u", i+1)), "group:all"})
	}
	for _, test := range []struct {
		name     string
		viewers  Viewers
		audience Audience
		reason   string // "" where they may not
	}{
		{"the zero viewers and the public", Viewers{}, "", "public"},
		{"the zero viewers", Viewers{}, "group:a", ""},
		{"nobody known", NewViewers(), "group:a", ""},
		{"a person who holds nothing", NewViewers(nil), "group:a", ""},
		{"one holder", NewViewers([]Principal{"group:a"}), "group:a group:b", "group:a"},
		{"a part of a name", NewViewers([]Principal{"group:a"}), "group:ab", ""},
		{"both hold", NewViewers([]Principal{"group:a"}, []Principal{"group:b", "group:c"}), "group:a group:b", "group:a, group:b"},
		{"one holds", NewViewers([]Principal{"group:a"}, []Principal{"group:c"}), "group:a group:b", ""},
		{"hidden", NewViewers([]Principal{Nobody}), HiddenAudience, ""},
		{"hidden, for the unrestricted", Unrestricted(), HiddenAudience, "nobody"},
		{"a crowd that shares a group", NewViewers(crowd...), "group:all", "group:all"},
		{"one of a crowd", NewViewers(crowd...), "user:u", ""},
		{"a crowd with an outsider", NewViewers(append(crowd, nil)...), "group:all", ""},
	} {
		reason, ok := test.viewers.Reason(test.audience)
		if reason != test.reason || ok != (test.reason != "") || ok != test.viewers.MaySee(test.audience) {
			t.Errorf("%s: %q, %t, want %q", test.name, reason, ok, test.reason)
		}
	}
	if got := NewViewers([]Principal{"a:b", "c:d"}, []Principal{"c:d", "a:b", "a:b"}); got.people != 1 {
		t.Errorf("%d different sets, want 1", got.people)
	}
}
