package access_test

import (
	"reflect"
	"sync"
	"testing"

	"github.com/cairn-bot/cairn/internal/access"
	"github.com/cairn-bot/cairn/internal/knowledge"
)

// testStore tests a store; open opens the same one again each time, as another process does.
func testStore(t *testing.T, open func(t *testing.T) access.Store) {
	t.Run("tables are kept by source", func(t *testing.T) { testTables(t, open(t), open(t)) })
	t.Run("what is not valid changes nothing", func(t *testing.T) { testRefused(t, open(t)) })
	t.Run("groups extend what people hold", func(t *testing.T) { testExtend(t, open(t), open(t)) })
	t.Run("many at once", func(t *testing.T) { testMany(t, open(t), open(t)) })
}

func testTables(t *testing.T, one, other access.Store) {
	ctx := t.Context()
	tables, version, err := one.LoadGroups(ctx, 0)
	if err != nil || len(tables) != 0 || version == 0 {
		t.Fatalf("at first: %v, version %d, %v", tables, version, err)
	}
	legal := access.Table{"group:legal": {"user:ada@example.com", "group:slack:S1"}}
	hr := access.Table{"group:hr": {"user:bob@example.com"}, "group:legal": {"user:eve@example.com"}}
	save(t, one, "configuration", legal)
	save(t, other, "drive", hr)
	tables, changed, err := one.LoadGroups(ctx, version)
	if want := (map[string]access.Table{"configuration": legal, "drive": hr}); err != nil || !reflect.DeepEqual(tables, want) || changed == version {
		t.Fatalf("got %v, version %d after %d, %v, want %v", tables, changed, version, err, want)
	}
	save(t, one, "drive", hr) // the same again is no change
	if tables, again, err := other.LoadGroups(ctx, changed); tables != nil || again != changed || err != nil {
		t.Errorf("unchanged: %v, version %d after %d, %v", tables, again, changed, err)
	}
	save(t, other, "configuration", nil)
	save(t, other, "nowhere", nil)
	tables, last, err := one.LoadGroups(ctx, changed)
	if want := (map[string]access.Table{"drive": hr}); err != nil || !reflect.DeepEqual(tables, want) || last == changed {
		t.Errorf("after a removal: %v, version %d, %v, want %v", tables, last, err, want)
	}
	save(t, one, "drive", nil)
	if tables, _, err := one.LoadGroups(ctx, last); err != nil || tables == nil || len(tables) != 0 {
		t.Errorf("after all removals: %v, %v", tables, err)
	}
}

func testRefused(t *testing.T, store access.Store) {
	save(t, store, "good", access.Table{"group:a": {"user:b"}})
	_, version, err := store.LoadGroups(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	for name, table := range map[string]access.Table{
		"a person with members":  {"user:a": {"user:b"}},
		"no principal":           {"group:a": {"bob"}},
		"everybody as a member":  {"group:a": {knowledge.Public}},
		"a member nobody can be": {"group:a": {knowledge.Nobody}},
		"a name with a space":    {"group:a b": {"user:b"}},
	} {
		if err := store.SaveGroups(t.Context(), "good", table); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if tables, after, err := store.LoadGroups(t.Context(), version); tables != nil || after != version || err != nil {
		t.Errorf("changed to %v, version %d after %d, %v", tables, after, version, err)
	}
	save(t, store, "good", nil)
}

func testExtend(t *testing.T, one, other access.Store) {
	groups := access.NewGroups(one)
	holds := func(set ...knowledge.Principal) map[knowledge.Principal]bool {
		t.Helper()
		wider, err := groups.Extend(t.Context(), [][]knowledge.Principal{set})
		if err != nil || len(wider) != 1 {
			t.Fatalf("%v, %v", wider, err)
		}
		held := make(map[knowledge.Principal]bool)
		for _, principal := range wider[0] {
			if held[principal] {
				t.Errorf("%s is held twice", principal)
			}
			held[principal] = true
		}
		return held
	}
	save(t, other, "a", access.Table{"group:inner": {"user:ada"}, "group:outer": {"group:inner"}})
	save(t, other, "b", access.Table{"group:circle": {"group:outer"}, "group:inner": {"group:circle"}})
	if held := holds("user:ada"); len(held) != 4 || !held["group:inner"] || !held["group:outer"] || !held["group:circle"] {
		t.Errorf("ada holds %v", held)
	}
	if held := holds("user:bob"); len(held) != 1 {
		t.Errorf("bob holds %v", held)
	}
	save(t, other, "a", access.Table{"group:outer": {"group:inner", "user:bob"}})
	if held := holds("user:ada"); len(held) != 1 {
		t.Errorf("after she left, ada holds %v", held)
	}
	if held := holds("user:bob"); len(held) != 4 {
		t.Errorf("after he came, bob holds %v", held)
	}
	save(t, other, "a", nil)
	save(t, other, "b", nil)
}

func testMany(t *testing.T, one, other access.Store) {
	var all sync.WaitGroup
	for i := range 16 {
		store := one
		if i%2 == 1 {
			store = other
		}
		all.Go(func() {
			source := string(rune('a' + i))
			if err := store.SaveGroups(t.Context(), source, access.Table{knowledge.Principal("group:" + source): {"user:ada"}}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if tables, _, err := other.LoadGroups(t.Context(), 0); err != nil || len(tables) != 16 {
		t.Errorf("%d tables, %v", len(tables), err)
	}
}

func save(t *testing.T, store access.Store, source string, table access.Table) {
	t.Helper()
	if err := store.SaveGroups(t.Context(), source, table); err != nil {
		t.Fatal(err)
	}
}
