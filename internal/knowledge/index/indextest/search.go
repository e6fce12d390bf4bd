package indextest

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
)

func testFilters(t *testing.T, s *subject) {
	of := func(id knowledge.DocumentID, source knowledge.SourceID, kind knowledge.Kind, audience knowledge.Audience) index.Entry {
		e := newEntry(id, "Title", "alpha "+string(id), "beta")
		e.Document.Source, e.Document.Kind, e.Document.Audience = source, kind, audience
		return e
	}
	entries := []index.Entry{
		of("a", "docs", knowledge.KindDocumentation, ""),
		of("b", "docs", knowledge.KindCode, knowledge.PublicAudience),
		of("c", "web", knowledge.KindWeb, "channel:C1"),
		of("d", "web", knowledge.KindWeb, "channel:C1 user:U1"),
		of("e", "web", knowledge.KindWeb, knowledge.HiddenAudience),
	}
	s.putEntries(t, entries...)
	for i, e := range entries {
		s.writeVectors(t, vectorsFor(e.Passages[0], uint64(i)), vectorsFor(e.Passages[1], uint64(i+10)))
	}
	viewers := func(people ...[]knowledge.Principal) index.Filter {
		return index.Filter{Viewers: knowledge.NewViewers(people...)}
	}
	everything := knowledge.NewViewers([]knowledge.Principal{"channel:C1", "user:U1", knowledge.Nobody})
	for name, test := range map[string]struct {
		filter index.Filter
		want   []string
	}{
		"public by default":       {index.Filter{}, []string{"a#0", "b#0"}},
		"one who holds all":       {index.Filter{Viewers: everything}, []string{"a#0", "b#0", "c#0", "d#0"}},
		"unrestricted":            {index.Filter{Viewers: knowledge.Unrestricted()}, []string{"a#0", "b#0", "c#0", "d#0", "e#0"}},
		"one principal":           {viewers([]knowledge.Principal{"user:U1"}), []string{"a#0", "b#0", "d#0"}},
		"by different principals": {viewers([]knowledge.Principal{"user:U1"}, []knowledge.Principal{"channel:C1"}), []string{"a#0", "b#0", "d#0"}},
		"one of them holds none":  {viewers([]knowledge.Principal{"user:U1"}, nil), []string{"a#0", "b#0"}},
		"unknown principal":       {viewers([]knowledge.Principal{"user:U2"}), []string{"a#0", "b#0"}},
		"a kind":                  {index.Filter{Kinds: []knowledge.Kind{knowledge.KindCode}}, []string{"b#0"}},
		"kinds of all":            {index.Filter{Kinds: []knowledge.Kind{knowledge.KindCode, knowledge.KindWeb}, Viewers: everything}, []string{"b#0", "c#0", "d#0"}},
		"a source":                {index.Filter{Sources: []knowledge.SourceID{"web"}, Viewers: everything}, []string{"c#0", "d#0"}},
		"a source of the public":  {index.Filter{Sources: []knowledge.SourceID{"web"}}, nil},
		"documents":               {index.Filter{Documents: []knowledge.DocumentID{"b", "d", "nothing"}, Viewers: everything}, []string{"b#0", "d#0"}},
		"documents of the public": {index.Filter{Documents: []knowledge.DocumentID{"b", "d"}}, []string{"b#0"}},
		"unknown document":        {index.Filter{Documents: []knowledge.DocumentID{"nothing"}}, nil},
	} {
		query := Words("alpha")
		query.Vector = unitVector(1)
		query.Filter = test.filter
		candidates := s.checkSearch(t, query)
		ids := hitIDs(candidates.Lexical)
		slices.Sort(ids)
		if !slices.Equal(ids, test.want) {
			t.Errorf("%s: %q, want %q", name, ids, test.want)
		}
		if len(candidates.Dense) != 2*len(test.want) {
			t.Errorf("%s: %d dense hits, want %d", name, len(candidates.Dense), 2*len(test.want))
		}
	}
}

// testFilterBeforeRanking hides one passage among many better ones.
func testFilterBeforeRanking(t *testing.T, s *subject) {
	near := unitVector(1)
	batch := index.Batch{}
	var vectors []index.Vectors
	for i := range 700 {
		e := newEntry(knowledge.DocumentID(fmt.Sprintf("crowd%03d", i)), "alpha", "alpha beta")
		batch.Put = append(batch.Put, e)
		vectors = append(vectors, index.Vectors{Passage: e.Passages[0].ID, Hash: e.Passages[0].Hash, Windows: [][]float32{near}})
	}
	rare := newEntry("rare", "Other", strings.Repeat("many other words ", 40)+" alpha")
	rare.Document.Audience, rare.Document.Source = "user:U1", "apart"
	batch.Put = append(batch.Put, rare)
	vectors = append(vectors, vectorsFor(rare.Passages[0], 2))
	s.writeBatch(t, batch)
	s.writeVectors(t, vectors...)
	query := Words("alpha beta")
	query.Vector = near
	query.Limit = 5
	query.Filter = index.Filter{Viewers: knowledge.NewViewers([]knowledge.Principal{"user:U1"}), Sources: []knowledge.SourceID{"apart"}}
	candidates := s.checkSearch(t, query)
	wantIDs(t, "lexical", hitIDs(candidates.Lexical), "rare#0")
	wantIDs(t, "dense", hitIDs(candidates.Dense), "rare#0")
}

func testTies(t *testing.T, s *subject) {
	var entries []index.Entry
	var want []string
	for _, i := range []int{7, 3, 11, 0, 5, 2, 10, 1} {
		e := newEntry(knowledge.DocumentID(fmt.Sprintf("d%d", i)), "Title", "alpha", "alpha")
		e.Passages[1].Hash += "again"
		entries = append(entries, e)
		want = append(want, string(e.Passages[0].ID), string(e.Passages[1].ID))
	}
	s.putEntries(t, entries...)
	for _, e := range entries {
		s.writeVectors(t, vectorsFor(e.Passages[0], 1), vectorsFor(e.Passages[1], 1))
	}
	slices.Sort(want)
	query := Words("alpha")
	query.Vector = unitVector(1)
	for _, limit := range []int{1, 3, 15, 0} {
		query.Limit = limit
		candidates := s.checkSearch(t, query)
		if limit == 0 {
			limit = len(want)
		}
		wantIDs(t, "lexical", hitIDs(candidates.Lexical), want[:limit]...)
		wantIDs(t, "dense", hitIDs(candidates.Dense), want[:limit]...)
	}
}

func testQueryValidation(t *testing.T, s *subject) {
	s.putEntries(t, newEntry("a", "Title", "alpha"))
	for name, query := range map[string]index.Query{
		"limit below 0":   {Terms: []index.Term{{Text: "alpha", Weight: 1}}, Limit: -1},
		"weight 0":        {Terms: []index.Term{{Text: "alpha"}}},
		"weight NaN":      {Terms: []index.Term{{Text: "alpha", Weight: math.NaN()}}},
		"weight infinite": {Terms: []index.Term{{Text: "alpha", Weight: math.Inf(1)}}},
		"short vector":    {Vector: unitVector(1)[1:]},
		"empty vector":    {Vector: []float32{}},
		"zero vector":     {Vector: make([]float32, Dimension)},
		"NaN vector":      {Vector: slices.Repeat([]float32{float32(math.NaN())}, Dimension)},
	} {
		if _, err := s.Search(t.Context(), query); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func testEmptyQueries(t *testing.T, s *subject) {
	for range 2 {
		for _, query := range []index.Query{{}, Words("unknown words"), Words("?!"), {Vector: unitVector(1)}, {Terms: []index.Term{{Text: "", Weight: 1}}}} {
			candidates := s.checkSearch(t, query)
			if len(candidates.Lexical)+len(candidates.Dense)+len(candidates.Used)+len(candidates.Pruned) > 0 {
				t.Errorf("%+v gives %+v", query, candidates)
			}
		}
		s.putEntries(t, newEntry("a", "Title", "alpha"))
	}
	candidates := s.checkSearch(t, Words("alpha unknown"))
	wantIDs(t, "used and pruned", append(candidates.Used, candidates.Pruned...), "alpha")
}

func testOperators(t *testing.T, s *subject) {
	text := `near and or not "quoted" alpha* ^beta col:umn (group) 'single' {set} + - ; DROP TABLE passage; -- NEAR(a b, 2)`
	s.putEntries(t, newEntry("a", `Ti"tle' OR 1=1`, text), newEntry("b", "Other", "unrelated"))
	s.checkSearch(t, Words(text))
	for _, term := range []string{`"`, `""`, `'`, `*`, `alpha*`, `al*`, `NEAR(near and)`, `near OR unrelated`, `body:near`, `^near`, `%`, `_`,
		`-- `, `a" OR "b`, `(`, `{near}`, "\x00", "near\x00", `\`, `near AND NOT`, `AND`, `NOT near`, " near ", "\xff\xfe"} {
		if candidates := s.checkSearch(t, index.Query{Terms: []index.Term{{Text: term, Weight: 1}}}); len(candidates.Lexical) > 0 {
			t.Errorf("the term %q, which no text has, finds %v", term, candidates.Lexical)
		}
		if stats, err := s.Terms(t.Context(), []string{term}); err != nil || stats[0].Passages != 0 {
			t.Errorf("the term %q, which no text has: %v, %v", term, stats, err)
		}
	}
	s.checkState(t)
}

func testScripts(t *testing.T, s *subject) {
	s.putEntries(t,
		newEntry("zh", "部署指南", "如何回滚应用程序到以前的版本"),
		newEntry("ar", "دليل", "كيفية مزامنة التطبيق مع المستودع"),
		newEntry("ru", "Руководство", "Синхронизация приложения"),
		newEntry("th", "คู่มือ", "การซิงค์แอปพลิเคชัน"),
		newEntry("emoji", "🚀🚀", "🚀 launch 👩‍👩‍👧 day"),
		newEntry("accents", "Résumé", "naïve café"))
	s.checkState(t)
	for query, want := range map[string]string{
		"回滚": "zh#0", "مزامنة": "ar#0", "приложения": "ru#0", "ซิงค์": "th#0", "🚀 launch": "emoji#0", "CAFE": "accents#0",
	} {
		wantIDs(t, query, hitIDs(s.checkSearch(t, Words(query)).Lexical), want)
	}
	wantIDs(t, "emoji alone", hitIDs(s.checkSearch(t, Words("🚀")).Lexical), []string{}...)
}

func testOddIDs(t *testing.T, s *subject) {
	ids := []knowledge.DocumentID{"a#0", "a", "a#1#2", "#", "with space", "quote'\"`", "per%cent_", "nul\x00byte", "bad\xff\xfeutf8",
		"new\nline", "日本語", "../../etc/passwd", knowledge.DocumentID(strings.Repeat("long", 500)), "-1", "Σ", "σ"}
	var entries []index.Entry
	for _, id := range ids {
		e := newEntry(id, "Title", "alpha", "beta")
		e.Document.URL = ""
		entries = append(entries, e)
	}
	s.putEntries(t, entries...)
	s.checkState(t)
	s.checkSearch(t, Words("alpha beta"))
	for _, e := range entries {
		found := s.findPassages(t, e.Passages[1].ID)
		if len(found) != 1 || found[0].Document.ID != e.Document.ID || found[0].Passage.ID != e.Passages[1].ID {
			t.Errorf("%q: found %+v", e.Passages[1].ID, found)
		}
		query := Words("alpha")
		query.Filter.Documents = []knowledge.DocumentID{e.Document.ID}
		wantIDs(t, "only "+string(e.Document.ID), hitIDs(s.checkSearch(t, query).Lexical), string(e.Passages[0].ID))
	}
	s.writeBatch(t, index.Batch{Delete: ids[:len(ids)/2]})
	s.checkState(t)
}

func testLongText(t *testing.T, s *subject) {
	var text strings.Builder
	for i := 0; text.Len() < 100_000; i++ {
		fmt.Fprintf(&text, "word%d common ", i%3000)
	}
	text.WriteString("lastword")
	s.putEntries(t, newEntry("long", "Title", text.String()), newEntry("short", "Title", "common lastword"))
	s.checkState(t)
	s.checkSearch(t, Words("word2999"))
	wantIDs(t, "last word", hitIDs(s.checkSearch(t, Words("lastword")).Lexical), "short#0", "long#0")
	if found := s.findPassages(t, "long#0"); len(found) != 1 || found[0].Passage.Text != text.String() {
		t.Error("the long text did not come back")
	}
	s.putEntries(t, newEntry("long", "Title", "shortened"))
	s.checkState(t)
}

func testWeights(t *testing.T, s *subject) {
	s.putEntries(t, newEntry("a", "Title", "alpha gamma"), newEntry("b", "Title", "beta gamma"))
	ask := func(alpha, beta float64) []string {
		return hitIDs(s.checkSearch(t, index.Query{Terms: []index.Term{{Text: "alpha", Weight: alpha}, {Text: "beta", Weight: beta}}}).Lexical)
	}
	wantIDs(t, "alpha counts more", ask(1, 0.3), "a#0", "b#0")
	wantIDs(t, "beta counts more", ask(0.3, 1), "b#0", "a#0")
	twice := index.Query{Terms: []index.Term{{Text: "beta", Weight: 1}, {Text: "alpha", Weight: 0.6}, {Text: "alpha", Weight: 0.6}}}
	wantIDs(t, "a word asked for twice", hitIDs(s.checkSearch(t, twice).Lexical), "a#0", "b#0")
}

func testSimilar(t *testing.T, s *subject) {
	speller, ok := s.Index.(index.Speller)
	if !ok {
		return // optional
	}
	s.putEntries(t, newEntry("a", "Title", "rollback rollback kubernetes sync cat"), newEntry("b", "Title", "rollbar synch rollback"), newEntry("c", "Title", "部署 naïve"))
	ask := func(term string, limit int, want ...string) {
		t.Helper()
		stats, err := speller.Similar(t.Context(), term, limit)
		if err != nil {
			t.Fatalf("similar to %q: %v", term, err)
		}
		got := make([]string, len(stats))
		for i, stat := range stats {
			got[i] = stat.Term
			if stat.Passages == 0 {
				t.Errorf("similar to %q: %+v is in no passage", term, stat)
			}
		}
		wantIDs(t, "similar to "+term, got, append([]string{}, want...)...)
	}
	ask("rolback", 5, "rollback")
	ask("rollbakc", 5, "rollback", "rollbar")
	ask("kubernetse", 5, "kubernet")
	ask("kubrentes", 5)
	ask("snyc", 5, "sync")
	ask("ync", 5, "sync")
	ask("xync", 5, "sync")
	ask("", 5)
	ask("zzzzzz", 5)
	ask("rollbakc", 1, "rollback")
	ask("rollbakc", 0)
	s.writeBatch(t, index.Batch{Delete: []knowledge.DocumentID{"b"}, Put: []index.Entry{newEntry("d", "Title", "rollbask")}})
	ask("rollbakc", 5, "rollback", "rollbask")
}
