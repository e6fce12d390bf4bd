package knowledge

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Principal names somebody, or a set of people, to whom a document may be shown: "public",
// or a kind, a colon and a name, such as "user:ada@example.com", "group:legal",
// "channel:slack:C123" or "team:discord:81384788765712384". Names are compared as they
// are, except that e-mail addresses are in lower case. ParsePrincipal and the constructors
// make principals; nothing else does.
type Principal string

// Public is the principal that everybody holds. Nobody is the one that no one can hold.
const (
	Public Principal = "public"
	Nobody Principal = "nobody"
)

// PrincipalKind is the part of a principal before its name.
type PrincipalKind string

// The kinds of principals that have names.
const (
	UserPrincipal    PrincipalKind = "user"
	GroupPrincipal   PrincipalKind = "group"
	ChannelPrincipal PrincipalKind = "channel"
	TeamPrincipal    PrincipalKind = "team"
)

// MaxPrincipal is the length of a principal in bytes, MaxAudience the number of principals
// in one audience.
const (
	MaxPrincipal = 200
	MaxAudience  = 256
)

// User gives the principal of a person: a verified e-mail address, or an adapter's name, a
// colon and the adapter's id of the person.
func User(name string) (Principal, error) { return newPrincipal(UserPrincipal, name) }

// Group gives the principal of a group: a name from the configuration, or an adapter's
// name, a colon and the adapter's id of a group or role.
func Group(name string) (Principal, error) { return newPrincipal(GroupPrincipal, name) }

// Channel gives the principal of the members of a channel: an adapter's name, a colon and
// the adapter's id of the channel.
func Channel(name string) (Principal, error) { return newPrincipal(ChannelPrincipal, name) }

// Team gives the principal of the members of a team (a Slack workspace, a Discord server):
// an adapter's name, a colon and the adapter's id of the team.
func Team(name string) (Principal, error) { return newPrincipal(TeamPrincipal, name) }

func newPrincipal(kind PrincipalKind, name string) (Principal, error) {
	if kind == UserPrincipal && strings.Contains(name, "@") {
		name = strings.ToLower(name)
	}
	made := string(kind) + ":" + name
	switch {
	case name == "":
		return "", fmt.Errorf("principal %q has no name: write it like %s:name", made, kind)
	case len(made) > MaxPrincipal:
		return "", fmt.Errorf("principal %.40q… is longer than %d bytes", made, MaxPrincipal)
	case strings.ContainsFunc(made, isNoPartOfPrincipal):
		return "", fmt.Errorf("principal %q holds white space, a comma or a control character", made)
	}
	return Principal(made), nil
}

func isNoPartOfPrincipal(r rune) bool {
	return r == ',' || r == unicode.ReplacementChar || unicode.IsSpace(r) || !unicode.IsGraphic(r)
}

// ParsePrincipal reads a principal as people write it. It knows no "nobody".
func ParsePrincipal(text string) (Principal, error) {
	if text == string(Public) {
		return Public, nil
	}
	kind, name, _ := strings.Cut(text, ":")
	switch PrincipalKind(kind) {
	case UserPrincipal, GroupPrincipal, ChannelPrincipal, TeamPrincipal:
		return newPrincipal(PrincipalKind(kind), name)
	}
	return "", fmt.Errorf("principal %.60q: want public, user:…, group:…, channel:… or team:…", text)
}

// Kind is the principal's kind, "" for Public and Nobody.
func (p Principal) Kind() PrincipalKind {
	kind, _, found := strings.Cut(string(p), ":")
	if !found {
		return ""
	}
	return PrincipalKind(kind)
}

// Audience is the set of principals that may read a document; who holds one of them may.
// It is the principals in order, each once, with spaces between them, so that equal sets
// are equal Audiences. The empty Audience is PublicAudience. NewAudience makes one.
type Audience string

// PublicAudience is the audience of a document that everybody who can ask may read,
// HiddenAudience of one that nobody may.
const (
	PublicAudience = Audience(Public)
	HiddenAudience = Audience(Nobody)
)

// NewAudience gives the audience of some principals. One that holds Public is
// PublicAudience.
func NewAudience(principals ...Principal) (Audience, error) {
	set := slices.Compact(slices.Sorted(slices.Values(principals)))
	switch {
	case len(set) == 0:
		return "", errors.New("an audience is empty: name who may read, or public")
	case len(set) > MaxAudience:
		return "", fmt.Errorf("an audience has %d principals, at most %d are allowed: use a group", len(set), MaxAudience)
	case slices.Contains(set, Public):
		return PublicAudience, nil
	}
	texts := make([]string, len(set))
	for i, principal := range set {
		parsed, err := ParsePrincipal(string(principal))
		if principal != Nobody && (err != nil || parsed != principal) {
			return "", fmt.Errorf("audience: %q is no principal: write it like group:name", principal)
		}
		texts[i] = string(principal)
	}
	return Audience(strings.Join(texts, " ")), nil
}

// OrPublic gives PublicAudience for the empty Audience, and else the Audience.
func (a Audience) OrPublic() Audience {
	if a == "" {
		return PublicAudience
	}
	return a
}

// Principals gives the set, in order.
func (a Audience) Principals() []Principal {
	fields := strings.Fields(string(a.OrPublic()))
	principals := make([]Principal, len(fields))
	for i, field := range fields {
		principals[i] = Principal(field)
	}
	return principals
}

// String gives the principals as people read them.
func (a Audience) String() string { return strings.ReplaceAll(string(a.OrPublic()), " ", ", ") }
