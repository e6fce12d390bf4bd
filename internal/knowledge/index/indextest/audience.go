package indextest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
)

// testLargeAudience writes two documents for the largest audience there is, which differ in
// one principal, and finds each for who holds that alone.
func testLargeAudience(t *testing.T, s *subject) {
	var principals []knowledge.Principal
	for i := range knowledge.MaxAudience - 1 {
		principals = append(principals, knowledge.Principal(fmt.Sprintf("user:%03d%s", i, strings.Repeat("x", knowledge.MaxPrincipal-8))))
	}
	for _, last := range []knowledge.Principal{"user:a", "user:b"} {
		audience, err := knowledge.NewAudience(append(principals, last)...)
		if err != nil {
			t.Fatal(err)
		}
		for _, suffix := range []string{"1", "2"} { // the second time the class is there
			e := newEntry(knowledge.DocumentID(string(last)+suffix), "Title", "alpha")
			e.Document.Audience = audience
			s.putEntries(t, e)
		}
	}
	for viewer, want := range map[knowledge.Principal][]string{
		"user:a":      {"user:a1#0", "user:a2#0"},
		"user:c":      nil,
		principals[7]: {"user:a1#0", "user:a2#0", "user:b1#0", "user:b2#0"},
	} {
		query := Words("alpha")
		query.Filter = index.Filter{Viewers: knowledge.NewViewers([]knowledge.Principal{viewer})}
		wantIDs(t, "for "+string(viewer)[:6], hitIDs(s.checkSearch(t, query).Lexical), append([]string{}, want...)...)
	}
}
