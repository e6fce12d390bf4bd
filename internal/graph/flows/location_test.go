package flows_test

import (
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/graph/flows"
)

func TestParseLocation(t *testing.T) {
	for text, want := range map[string]struct {
		place      flows.Place
		name, rest string
	}{
		"what are the risks?":                {flows.Attached, "", "what are the risks?"},
		"  ":                                 {flows.Attached, "", ""},
		"@handbook what are the risks?":      {flows.Collection, "handbook", "what are the risks?"},
		"@Team-Docs: who owns it":            {flows.Collection, "Team-Docs", "who owns it"},
		"@handbook":                          {flows.Collection, "handbook", ""},
		"@handbook.":                         {flows.Collection, "handbook", ""},
		"@ handbook":                         {flows.Attached, "", "@ handbook"},
		"me@example.com wrote it":            {flows.Attached, "", "me@example.com wrote it"},
		"<@U123> what":                       {flows.Attached, "", "<@U123> what"},
		"./docs what are the risks?":         {flows.Folder, "./docs", "what are the risks?"},
		"./docs":                             {flows.Folder, "./docs", ""},
		". what":                             {flows.Folder, ".", "what"},
		"../x/y\nwhat":                       {flows.Folder, "../x/y", "what"},
		"/srv/docs what":                     {flows.Folder, "/srv/docs", "what"},
		"/ or not":                           {flows.Attached, "", "/ or not"},
		"...and then?":                       {flows.Attached, "", "...and then?"},
		`"./my docs" what are the risks?`:    {flows.Folder, "./my docs", "what are the risks?"},
		`"quoted words" are no folder`:       {flows.Attached, "", `"quoted words" are no folder`},
		"./" + strings.Repeat("x", 2000):     {flows.Attached, "", "./" + strings.Repeat("x", 2000)},
		"@" + strings.Repeat("x", 70) + " y": {flows.Attached, "", "@" + strings.Repeat("x", 70) + " y"},
	} {
		location, rest := flows.ParseLocation(text)
		if location != (flows.Location{Place: want.place, Name: want.name}) || rest != want.rest {
			t.Errorf("ParseLocation(%.40q) = %+v, %q", text, location, rest)
		}
	}
}

// FuzzParseLocation checks that nothing is made up: name and rest stand in the text.
func FuzzParseLocation(f *testing.F) {
	for _, seed := range []string{"@handbook what?", "./docs what", `"./my docs" x`, "/a/../b", "@@x", "\xff./x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		location, rest := flows.ParseLocation(text)
		if !strings.Contains(text, location.Name) || !strings.Contains(text, rest) || len(location.Name)+len(rest) > len(text) {
			t.Errorf("%q became %+v and %q", text, location, rest)
		}
		if (location.Name == "") != (location.Place == flows.Attached) {
			t.Errorf("%q: a location without its name: %+v", text, location)
		}
	})
}
