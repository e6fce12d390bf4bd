package config

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"cairn/internal/knowledge"
)

// Access is who may be shown what, beside what adapters tell of people and places.
type Access struct {
	// Web is what the web page shows, and whether people sign in to it.
	Web WebAccess
	// Groups are the members of groups.
	Groups map[knowledge.Principal][]knowledge.Principal
	// Retract says when answers that were posted are taken back.
	Retract Retract
}

// WebAccess is what the web page shows.
type WebAccess string

// The page shows what is public, or whatever is indexed; or people sign in at the provider of
// the operations page, and it shows each of them what they may read.
const (
	WebPublic     WebAccess = "public"
	WebEverything WebAccess = "everything"
	WebSignIn     WebAccess = "sign-in"
)

// Retract says which loss of a document takes back the answers that cite it.
type Retract string

// Answers stay; go with a document that was deleted; or go, too, where somebody who sees
// them may not read the document any more.
const (
	RetractNothing Retract = "off"
	RetractDeleted Retract = "deleted"
	RetractClosed  Retract = "closed"
)

var defaultAccess = Access{Web: WebPublic, Retract: RetractDeleted}

var accessSettings = []setting[Config]{
	{
		key: "access.web", env: "CAIRN_ACCESS_WEB",
		set: func(c *Config, text string, _ base) (err error) {
			c.Access.Web, err = oneOf(text, WebPublic, WebEverything, WebSignIn)
			return err
		},
		get: func(c Config) []string { return []string{string(c.Access.Web)} },
	},
	{
		key: "access.groups", env: "CAIRN_ACCESS_GROUPS", list: true,
		set: func(c *Config, text string, _ base) error {
			name, member, _ := strings.Cut(text, "=")
			group, err := knowledge.Group(name)
			if err == nil {
				var principal knowledge.Principal
				if principal, err = knowledge.ParsePrincipal(member); err == nil {
					return c.Access.addMember(group, principal)
				}
			}
			return fmt.Errorf("%q: want a group and a member, such as legal=user:ada@example.com: %w", text, err)
		},
		get: func(c Config) []string {
			return pairs(c.Access.Groups, func(group knowledge.Principal, members []knowledge.Principal) []string {
				texts := make([]string, len(members))
				for i, member := range members {
					texts[i] = strings.TrimPrefix(string(group), "group:") + "=" + string(member)
				}
				return texts
			})
		},
		clear: func(c *Config) { c.Access.Groups = nil },
	},
	{
		key: "access.retract", env: "CAIRN_ACCESS_RETRACT",
		set: func(c *Config, text string, _ base) (err error) {
			c.Access.Retract, err = oneOf(text, RetractNothing, RetractDeleted, RetractClosed)
			return err
		},
		get: func(c Config) []string { return []string{string(c.Access.Retract)} },
	},
}

func (a *Access) addMember(group, member knowledge.Principal) error {
	switch {
	case member == knowledge.Public:
		return fmt.Errorf("public is no member of %s: give the documents the audience public instead", group)
	case slices.Contains(a.Groups[group], member):
		return fmt.Errorf("%s is a member of %s twice", member, group)
	}
	if a.Groups == nil {
		a.Groups = make(map[knowledge.Principal][]knowledge.Principal)
	}
	a.Groups[group] = append(a.Groups[group], member)
	return nil
}

// sourceAccess are the keys of a source that say who may read its documents.
var sourceAccess = []setting[Source]{
	{
		key: "audience", list: true,
		set: func(s *Source, text string, _ base) error {
			principal, err := knowledge.ParsePrincipal(text)
			if err == nil {
				s.Audience = append(s.Audience, principal)
			}
			return err
		},
		get: func(s Source) []string {
			texts := make([]string, len(s.Audience))
			for i, principal := range s.Audience {
				texts[i] = string(principal)
			}
			return texts
		},
	},
	{
		key: "owner",
		set: func(s *Source, text string, _ base) (err error) {
			s.Owner, err = ownerName(text)
			return err
		},
		get: func(s Source) []string { return []string{s.Owner} },
	},
}

// AudienceOf gives whom the source's documents are for, where no .cairn.yaml says
// otherwise.
func (s Source) AudienceOf() (knowledge.Audience, error) {
	if len(s.Audience) == 0 {
		return knowledge.PublicAudience, nil
	}
	return knowledge.NewAudience(s.Audience...)
}

func ownerName(text string) (string, error) {
	const most = 200
	if len(text) > most || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsGraphic(r) }) {
		return "", fmt.Errorf("%.40q: want a name of at most %d characters that can be printed", text, most)
	}
	return text, nil
}
