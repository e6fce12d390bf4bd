package atlassian

import (
	"fmt"
	"maps"
	"net/mail"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/knowledge"
)

// GroupOf names the group of those who may read a thing of a source: its kind, such as "space/", and
// its key.
func GroupOf(source knowledge.SourceID, kind, key string) (knowledge.Principal, error) {
	made, err := knowledge.Group(string(source) + ":" + kind + key)
	if err != nil {
		return "", fmt.Errorf("the group of %s%s: %w", kind, key, err)
	}
	return made, nil
}

// ParseGroup reads what GroupOf made, of one of some kinds.
func ParseGroup(source knowledge.SourceID, named knowledge.Principal, kinds ...string) (kind, key string, err error) {
	name, ok := strings.CutPrefix(string(named), string(knowledge.GroupPrincipal)+":"+string(source)+":")
	for _, kind := range kinds {
		if key, isKind := strings.CutPrefix(name, kind); ok && isKind && IsSafeName(key) {
			return kind, key, nil
		}
	}
	return "", "", fmt.Errorf("group %s is none of source %s", named, source)
}

// ExplainAccess tells why a source did not say who may read it.
func ExplainAccess(address string, err error) error {
	return fmt.Errorf("ask who may read %s: %w", address, explainError(err))
}

// Directory knows the e-mail addresses of accounts. It is one goroutine's.
type Directory struct {
	people    map[string]string // as configured
	addresses map[string]string // as the site told; "" has none
}

// NewDirectory returns a directory that knows people by their account ids.
func NewDirectory(people map[string]string) *Directory {
	return &Directory{people: people, addresses: make(map[string]string)}
}

// Note keeps the address of an account, where a text is one.
func (d *Directory) Note(account, address string) {
	if read, err := mail.ParseAddress(address); err == nil && read.Address == address {
		d.addresses[account] = address
	}
}

// Unknown gives those of accounts, in order, whose addresses are neither known nor known to be
// missing, and has them count as missing.
func (d *Directory) Unknown(accounts map[string]bool) []string {
	var unknown []string
	for _, account := range slices.Sorted(maps.Keys(accounts)) {
		_, ok := d.addresses[account]
		if _, configured := d.people[account]; !ok && !configured {
			unknown = append(unknown, account)
			d.addresses[account] = ""
		}
	}
	return unknown
}

// Principals gives the people of accounts, in order. One without an address is left out.
func (d *Directory) Principals(accounts map[string]bool) []knowledge.Principal {
	found := make(map[knowledge.Principal]bool)
	for account := range accounts {
		address, ok := d.people[account]
		if !ok {
			address = d.addresses[account]
		}
		if principal, err := knowledge.User(address); err == nil && address != "" {
			found[principal] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}
