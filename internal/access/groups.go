package access

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/cairn-bot/cairn/internal/knowledge"
)

// Bounds of the table of groups.
const (
	// MaxTableMembers is how many members the groups of one source have together.
	MaxTableMembers = 1_000_000
	// maxNesting is how many groups lie within one another at most; deeper ones don't count.
	maxNesting = 16
)

// Table is the members of groups. Members may be groups themselves.
type Table map[knowledge.Principal][]knowledge.Principal

// Validate says why a store must refuse the table, or nil.
func (t Table) Validate() error {
	members := 0
	for group, in := range t {
		if group.Kind() != knowledge.GroupPrincipal {
			return fmt.Errorf("%q has members: only a group:… has", group)
		}
		for _, principal := range append(slices.Clone(in), group) {
			if parsed, err := knowledge.ParsePrincipal(string(principal)); err != nil || parsed != principal || principal == knowledge.Public {
				return fmt.Errorf("member %q of %s: want user:…, group:…, channel:… or team:…", principal, group)
			}
		}
		if members += len(in); members > MaxTableMembers {
			return fmt.Errorf("the groups have more than %d members", MaxTableMembers)
		}
	}
	return nil
}

// Store keeps the table of groups for all processes. Its methods may be called
// concurrently, from several processes.
type Store interface {
	// SaveGroups replaces the table of one source ("configuration"); an empty table removes
	// it. It is an error where the table is not valid, and changes nothing.
	SaveGroups(ctx context.Context, source string, table Table) error
	// LoadGroups gives the tables of all sources, by source, and their version, which every
	// SaveGroups that changes something changes. Where the version is still the known one,
	// which is 0 for none, the tables are nil.
	LoadGroups(ctx context.Context, known int64) (tables map[string]Table, version int64, err error)
}

// Groups answers who is in which group, from memory: the table is read again when it has
// changed. Its methods may be called concurrently.
type Groups struct {
	store Store

	mu      sync.Mutex
	version int64
	tables  map[string]Table
	in      map[knowledge.Principal][]knowledge.Principal // member → groups it is in itself
}

// NewGroups gives the groups of a store.
func NewGroups(store Store) *Groups { return &Groups{store: store} }

// Extend adds, to each set of principals, the groups that its principals are in, directly
// or by way of other groups.
func (g *Groups) Extend(ctx context.Context, sets [][]knowledge.Principal) ([][]knowledge.Principal, error) {
	in, _, err := g.load(ctx)
	if err != nil {
		return nil, err
	}
	wider := make([][]knowledge.Principal, len(sets))
	for i, set := range sets {
		wider[i] = closure(in, set)
	}
	return wider, nil
}

// Tables gives the members of all groups, by the source that says so.
func (g *Groups) Tables(ctx context.Context) (map[string]Table, error) {
	_, tables, err := g.load(ctx)
	return tables, err
}

func (g *Groups) load(ctx context.Context) (in map[knowledge.Principal][]knowledge.Principal, tables map[string]Table, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	tables, version, err := g.store.LoadGroups(ctx, g.version)
	if err != nil {
		return nil, nil, fmt.Errorf("load the table of groups: %w", err)
	}
	if tables != nil {
		g.in = make(map[knowledge.Principal][]knowledge.Principal)
		for _, table := range tables {
			for group, members := range table {
				for _, member := range members {
					g.in[member] = append(g.in[member], group)
				}
			}
		}
		g.version, g.tables = version, tables
	}
	return g.in, g.tables, nil
}

func closure(in map[knowledge.Principal][]knowledge.Principal, set []knowledge.Principal) []knowledge.Principal {
	held := slices.Clone(set)
	known := make(map[knowledge.Principal]bool, len(set))
	for _, principal := range set {
		known[principal] = true
	}
	level := held
	for range maxNesting {
		var next []knowledge.Principal
		for _, member := range level {
			for _, group := range in[member] {
				if !known[group] {
					known[group] = true
					next = append(next, group)
				}
			}
		}
		if len(next) == 0 {
			break
		}
		held = append(held, next...)
		level = next
	}
	return held
}
