package slack

import (
	"slices"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/adapters/slack/slacktest"
)

// TestDiagnoseKnowsTheScopesOfMentionsAlone has an app with the scopes of either manifest, and
// one that lacks a scope that both want.
func TestDiagnoseKnowsTheScopesOfMentionsAlone(t *testing.T) {
	without := func(lacking ...string) []string {
		return slices.DeleteFunc(slices.Clone(slacktest.AllScopes), func(name string) bool { return slices.Contains(lacking, name) })
	}
	for name, c := range map[string]struct {
		scopes  []string
		told    string
		problem []string // what it names
	}{
		"all":                   {without(), "all 20", nil},
		"mentions only":         {without(groupScopes...), "all but those for group conversations", nil},
		"optional ones refused": {without("reactions:write", "usergroups:read"), "all but the optional reactions:write, usergroups:read", nil},
		"one too few":           {without(append(slices.Clone(groupScopes), "files:read")...), "", []string{"mpim:history", "mpim:read", "files:read"}},
	} {
		t.Run(name, func(t *testing.T) {
			server := slacktest.New(slacktest.Options{Scopes: c.scopes})
			defer server.Close()
			for _, found := range Diagnose(t.Context(), Diagnosis{Token: slacktest.BotToken, APIURL: server.APIURL()}) {
				if found.What != "scopes" {
					continue
				}
				if found.Told != c.told || (found.Problem == nil) != (c.problem == nil) {
					t.Errorf("told %q, %v", found.Told, found.Problem)
				}
				for _, missing := range c.problem {
					if !strings.Contains(found.Problem.Error(), missing) {
						t.Errorf("%v does not name %s", found.Problem, missing)
					}
				}
				return
			}
			t.Error("nothing was found of the scopes")
		})
	}
}
