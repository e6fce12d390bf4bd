package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/knowledge/index/engine"
	"github.com/cairn-bot/cairn/internal/knowledge/index/indextest"
	"github.com/cairn-bot/cairn/internal/servertest"
)

func mustWrite(t *testing.T, x *Index, batch index.Batch) {
	t.Helper()
	if err := x.Write(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
}

func mustSearch(t *testing.T, x *Index, query index.Query) index.Candidates {
	t.Helper()
	candidates, err := x.Search(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	return candidates
}

// embedAll gives every passage a vector that only its hash decides.
func embedAll(t *testing.T, x *Index) {
	t.Helper()
	for {
		found, err := x.Unembedded(t.Context(), 500)
		if err != nil {
			t.Fatal(err)
		}
		if len(found) == 0 {
			return
		}
		vectors := make([]index.Vectors, len(found))
		for i, f := range found {
			vectors[i] = index.Vectors{Passage: f.Passage.ID, Hash: f.Passage.Hash, Windows: [][]float32{hashVector(f.Passage.Hash, x.options.Dimension)}}
		}
		if err := x.WriteVectors(t.Context(), vectors); err != nil {
			t.Fatal(err)
		}
	}
}

func hashVector(hash string, dimension int) []float32 {
	seed := uint64(14695981039346656037)
	for _, b := range []byte(hash) {
		seed = (seed ^ uint64(b)) * 1099511628211
	}
	return indextest.UnitVector(seed, dimension)
}

func TestReaderFollowsWriter(t *testing.T) {
	options := suiteOptions(servertest.Postgres(t))
	writer := mustOpen(t, options)
	options.ReadOnly = true
	reader := mustOpen(t, options)
	indextest.Follow(t, writer, reader)
}

// TestSecondEmbedderIsBuiltBesideTheFirst changes the embedder while a reader goes on
// searching by the old one.
func TestSecondEmbedderIsBuiltBesideTheFirst(t *testing.T) {
	old := suiteOptions(servertest.Postgres(t))
	first := mustOpen(t, old)
	mustWrite(t, first, index.Batch{Put: []index.Entry{indextest.TextEntry("a", "alpha"), indextest.TextEntry("b", "beta")}})
	embedAll(t, first)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	old.ReadOnly = true
	serving := mustOpen(t, old)

	replacing := suiteOptions(old.URL)
	replacing.Embedder, replacing.Dimension = "larger", 90
	future := replacing
	future.ReadOnly = true
	wantOpenError(t, future, index.ErrEmbedder, "configure the former until")
	second := mustOpen(t, replacing)
	wantOpenError(t, future, index.ErrEmbedder, "configure the former until")
	mustWrite(t, second, index.Batch{Put: []index.Entry{indextest.TextEntry("a", "alpha", "gamma")}, Delete: []knowledge.DocumentID{"b"}})
	byOld := index.Query{Vector: hashVector("alpha", old.Dimension)}
	if hits := mustSearch(t, serving, byOld).Dense; len(hits) != 1 || hits[0].Passage != "a#0" {
		t.Errorf("by the old embedder, while the new one is built: %v, want a#0 alone", hits)
	}
	if _, err := second.DropOtherEmbedders(t.Context()); err == nil || !strings.Contains(err.Error(), "to its end first") {
		t.Errorf("drop the old vectors before the new ones are made: %v", err)
	}
	embedAll(t, second)
	if hits := mustSearch(t, serving, byOld).Dense; len(hits) != 1 {
		t.Errorf("by the old embedder, when the new one is built: %v", hits)
	}
	switched := mustOpen(t, future)
	if hits := mustSearch(t, switched, index.Query{Vector: hashVector("gamma", 90)}).Dense; len(hits) != 2 || hits[0].Passage != "a#1" {
		t.Errorf("by the new embedder: %v", hits)
	}
	if count, err := second.DropOtherEmbedders(t.Context()); err != nil || count != 1 {
		t.Fatalf("dropped %d embedders, %v", count, err)
	}
	mustWrite(t, second, index.Batch{Delete: []knowledge.DocumentID{"a"}})
	if _, err := serving.Search(t.Context(), byOld); !errors.Is(err, index.ErrEmbedder) {
		t.Errorf("by the dropped embedder: %v", err)
	}
}

// TestFullDisk has the server say that its disk is full.
func TestFullDisk(t *testing.T) {
	options := suiteOptions(servertest.Postgres(t))
	x := mustOpen(t, options)
	mustWrite(t, x, index.Batch{Put: []index.Entry{indextest.TextEntry("first", "alpha")}})
	execute(t, options.URL, `CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS
		$$ BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$`,
		"CREATE TRIGGER full_disk BEFORE INSERT ON cairn.page FOR EACH STATEMENT EXECUTE FUNCTION full_disk()")
	batch := index.Batch{Put: []index.Entry{indextest.TextEntry("second", "gamma")}, Delete: []knowledge.DocumentID{"first"}}
	err := x.Write(t.Context(), batch)
	if !errors.Is(err, index.ErrFull) || !strings.Contains(err.Error(), "free space") {
		t.Errorf("write to a full disk: %v", err)
	}
	if indextest.CountHits(t, x, "alpha") != 1 || indextest.CountHits(t, x, "gamma") != 0 {
		t.Error("a part of the failed batch shows")
	}
	execute(t, options.URL, "DROP TRIGGER full_disk ON cairn.page")
	mustWrite(t, x, batch)
	if indextest.CountHits(t, x, "alpha") != 0 || indextest.CountHits(t, x, "gamma") != 1 {
		t.Error("the batch does not show once there is room")
	}
}

// TestLostConnectionsAreReplaced ends connections between calls, and once in the middle
// of a write.
func TestLostConnectionsAreReplaced(t *testing.T) {
	options := suiteOptions(servertest.Postgres(t))
	x := mustOpen(t, options)
	mustWrite(t, x, index.Batch{Put: []index.Entry{indextest.TextEntry("first", "alpha")}})
	const end = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'cairn' AND datname = current_database()`
	for _, call := range []func(){
		func() { indextest.CountHits(t, x, "alpha") },
		func() { mustWrite(t, x, index.Batch{Put: []index.Entry{indextest.TextEntry("second", "beta")}}) },
		func() { embedAll(t, x) },
	} {
		execute(t, options.URL, end)
		call()
	}
	execute(t, options.URL, "CREATE SEQUENCE lives", `CREATE FUNCTION cut() RETURNS trigger LANGUAGE plpgsql AS
		$$ BEGIN IF nextval('lives') = 1 THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF; RETURN NULL; END $$`,
		"CREATE TRIGGER cut AFTER INSERT ON cairn.page FOR EACH STATEMENT EXECUTE FUNCTION cut()")
	mustWrite(t, x, index.Batch{Put: []index.Entry{indextest.TextEntry("third", "alpha", "beta")}})
	if indextest.CountHits(t, x, "alpha") != 2 || indextest.CountHits(t, x, "beta") != 2 {
		t.Error("not all writes show")
	}
	wantOpenError(t, options, index.ErrLocked, "wait until")
}

// TestManyVectorsAreSearchedByTheirIndex lowers the number from which the index is
// used, and looks at the plans of its searches.
func TestManyVectorsAreSearchedByTheirIndex(t *testing.T) {
	x := mustOpen(t, suiteOptions(servertest.Postgres(t)))
	x.vectors.exact = 100
	batch := index.Batch{}
	for i := range 1500 {
		e := indextest.TextEntry(knowledge.DocumentID(fmt.Sprintf("d%d", i)), fmt.Sprint("text ", i))
		e.Document.Source = []knowledge.SourceID{"few", "rest", "rest", "rest"}[i%4]
		batch.Put = append(batch.Put, e)
	}
	mustWrite(t, x, batch)
	embedAll(t, x)
	for _, filter := range []index.Filter{{}, {Sources: []knowledge.SourceID{"few"}}} {
		found, all := 0, 0
		for i := range 40 {
			query := index.Query{Vector: hashVector(fmt.Sprint("question", i), x.options.Dimension), Filter: filter, Limit: 20}
			x.vectors.exact = 1 << 30
			want := mustSearch(t, x, query).Dense
			x.vectors.exact = 100
			got := mustSearch(t, x, query).Dense
			checkPlan(t, x, query)
			if len(want) != 20 || len(got) != 20 {
				t.Fatalf("%d found, %d exactly", len(got), len(want))
			}
			for _, hit := range want {
				all++
				if slices.ContainsFunc(got, func(h index.Hit) bool { return h.Passage == hit.Passage }) {
					found++
				}
			}
		}
		if recall := float64(found) / float64(all); recall < .95 {
			t.Errorf("filter %+v: recall %.3f", filter, recall)
		}
	}
}

// checkPlan has the server explain a dense search in the transaction of a search.
func checkPlan(t *testing.T, x *Index, query index.Query) {
	t.Helper()
	asked := &explainedVectors{Vectors: x.vectors, t: t, exact: x.vectors.exact, table: x.embedder.table}
	explained := engine.New(engine.Options{
		Database: &server{read: x.read}, Vectors: asked, VectorTable: "vector_1", Embedder: x.embedder.id, Dimension: x.options.Dimension,
	})
	if _, err := explained.Search(t.Context(), query); err != nil || !asked.done {
		t.Fatalf("explained: %v, %v", asked.done, err)
	}
}

// explainedVectors explains searches instead of answering them.
type explainedVectors struct {
	engine.Vectors

	t     *testing.T
	exact int
	table string
	done  bool
}

func (v *explainedVectors) Search(ctx context.Context, given engine.Tx, query *engine.DenseQuery) ([]engine.Scored, error) {
	v.done = true
	tx := transactionOf(given)
	p := &plan{query: query, table: v.table, exact: v.exact, rows: 30}
	batch := &pgx.Batch{}
	p.queue(batch, p.parts(true))
	for i, statement := range batch.QueuedQueries {
		sql := statement.SQL
		if i%2 == 1 {
			sql = "EXPLAIN " + sql
		}
		rows, err := tx.Query(ctx, sql, statement.Arguments...)
		if err != nil {
			return nil, err
		}
		lines, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (line string, err error) {
			if i%2 == 1 {
				err = row.Scan(&line)
			}
			return line, err
		})
		if explained := strings.Join(lines, "\n"); err != nil || i%2 == 1 && !strings.Contains(explained, "_halves_idx") {
			v.t.Errorf("the vector index is not used: %v\n%s", err, explained)
		}
	}
	return nil, nil
}

func TestRandomHistoryWithSmallPages(t *testing.T) {
	options := suiteOptions(servertest.Postgres(t))
	x := mustOpen(t, options)
	x.PageSize = 100
	options.ReadOnly = true
	reader := mustOpen(t, options)
	random := rand.New(rand.NewPCG(5, 7))
	var batches []index.Batch
	for range 60 {
		batch := indextest.RandomBatch(random)
		mustWrite(t, x, batch)
		batches = append(batches, batch)
	}
	indextest.CheckHistory(t, x, batches)
	indextest.CheckHistory(t, reader, batches)
	mustOpenAgain := mustOpen(t, options)
	indextest.CheckHistory(t, mustOpenAgain, batches)
	if err := reader.Verify(t.Context()); err != nil {
		t.Error(err)
	}
	var segments int
	if err := x.read.QueryRow(t.Context(), "SELECT count(*) FROM cairn.segment").Scan(&segments); err != nil || segments >= 16 {
		t.Errorf("%d segments after 60 writes, %v", segments, err)
	}
}

func TestQueriesAreLogged(t *testing.T) {
	options := suiteOptions(servertest.Postgres(t))
	options.KeepQueries = 24 * time.Hour
	x := mustOpen(t, options)
	options.PlainQueries, options.ReadOnly = true, true
	plain := mustOpen(t, options)
	indextest.TestQueryLog(t, indextest.QueryLogs{Hashed: x, Plain: plain, Count: func(t *testing.T) (rows, questions, hashes int) {
		t.Helper()
		err := x.primary.QueryRow(t.Context(), "SELECT count(*), count(question), count(DISTINCT question_hash) FROM cairn.query_log WHERE total_us = 1000000").
			Scan(&rows, &questions, &hashes)
		if err != nil {
			t.Fatal(err)
		}
		return rows, questions, hashes
	}})
}

// TestClearLeavesTheRestOfTheDatabaseAlone clears beside a reader and another
// application's table.
func TestClearLeavesTheRestOfTheDatabaseAlone(t *testing.T) {
	options := suiteOptions(servertest.Postgres(t))
	execute(t, options.URL, "CREATE TABLE theirs AS SELECT 1 AS one")
	other := options
	other.Embedder = "other"
	former := mustOpen(t, other)
	if err := former.Close(); err != nil {
		t.Fatal(err)
	}
	x := mustOpen(t, options)
	mustWrite(t, x, index.Batch{
		Put:     []index.Entry{indextest.TextEntry("a", "alpha rollback"), indextest.TextEntry("b", "alpha")},
		Cursors: map[knowledge.SourceID]string{"docs": "/here"},
	})
	embedAll(t, x)
	if err := x.LogQuery(t.Context(), index.QueryRecord{At: time.Now(), Run: "r"}); err != nil {
		t.Fatal(err)
	}
	options.ReadOnly = true
	reader := mustOpen(t, options)
	wantSimilar := func(term string, want int) {
		t.Helper()
		similar, err := reader.Similar(t.Context(), term, 5)
		if err != nil || len(similar) != want {
			t.Errorf("similar to %s: %v, %v, want %d", term, similar, err, want)
		}
	}
	wantSimilar("rolback", 1)
	if err := x.Clear(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := reader.Clear(t.Context()); !errors.Is(err, engine.ErrReadOnly) {
		t.Errorf("clear by a reader: %v", err)
	}
	stats, err := reader.Stats(t.Context())
	if err != nil || stats.Documents+stats.Passages+stats.Embedded != 0 {
		t.Errorf("after the clearing: %+v, %v", stats, err)
	}
	if cursor, err := x.Cursor(t.Context(), "docs"); err != nil || cursor != "" {
		t.Errorf("cursor %q, %v", cursor, err)
	}
	wantSimilar("rolback", 0)
	mustWrite(t, x, index.Batch{Put: []index.Entry{indextest.TextEntry("a", "alpha", "beta rollback")}})
	embedAll(t, x)
	for _, each := range []*Index{x, reader} {
		if indextest.CountHits(t, each, "alpha") != 1 || len(mustSearch(t, each, index.Query{Vector: hashVector("alpha", options.Dimension)}).Dense) != 2 {
			t.Error("not found as written after the clearing")
		}
	}
	wantSimilar("rolback", 1)
	var theirs, logged, tables int
	err = x.primary.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM theirs), (SELECT count(*) FROM cairn.query_log),
		(SELECT count(*) FROM pg_tables WHERE schemaname = 'cairn' AND tablename LIKE 'vector%')`).Scan(&theirs, &logged, &tables)
	if err != nil || theirs != 1 || logged != 1 || tables != 1 {
		t.Errorf("%d rows of theirs, %d of the query log, %d tables of vectors, %v", theirs, logged, tables, err)
	}
}
