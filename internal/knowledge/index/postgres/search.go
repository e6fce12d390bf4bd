package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"cairn/internal/knowledge"
	"cairn/internal/knowledge/index"
	"cairn/internal/knowledge/index/ranking"
)

// Search finds the best passages by words, exactly scored, and by meaning: exactly
// while few pass the filter, else through an HNSW index, which misses one in some
// hundred.
func (x *Index) Search(ctx context.Context, query index.Query) (index.Candidates, error) {
	if err := query.Validate(x.options.Dimension); err != nil {
		return index.Candidates{}, fmt.Errorf("search index: %w", err)
	}
	if query.Limit == 0 {
		query.Limit = index.DefaultLimit
	}
	var candidates index.Candidates
	err := retryConnection(ctx, func() error {
		var err error
		candidates, err = x.searchOnce(ctx, query)
		return err
	})
	if err != nil {
		return index.Candidates{}, fmt.Errorf("search index: %w", causeOf(ctx, explainError(err)))
	}
	return candidates, nil
}

// errMoved says that the database has a later generation than the snapshot in memory.
var errMoved = errors.New("index changed under a read")

// errShort says that a dense search brought too few different passages.
var errShort = errors.New("too many windows of the same passages")

// searchOnce asks with the snapshot at hand, in one round trip, and only if that is
// outdated, or windows of few passages crowd the others out, again with what it takes.
func (x *Index) searchOnce(ctx context.Context, query index.Query) (index.Candidates, error) {
	ask := &search{query: query, rows: query.Limit + query.Limit/2, embedder: x.embedder, exact: x.limits.exact}
	candidates, err := ask.runPipelined(ctx, x.read, x.snapshots.latest.Load())
	for {
		switch {
		case errors.Is(err, errMoved):
			err = pgx.BeginTxFunc(ctx, x.read, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
				snap, err := x.snapshots.load(ctx, tx, x.embedder)
				if err != nil {
					return err
				}
				candidates, err = ask.runInTransaction(ctx, tx, snap)
				return err
			})
		case errors.Is(err, errShort):
			ask.rows *= 4
			candidates, err = ask.runPipelined(ctx, x.read, x.snapshots.latest.Load())
		default:
			return candidates, err
		}
	}
}

// search is a search in progress.
type search struct {
	query    index.Query
	rows     int // vectors asked of the HNSW index
	embedder embedder
	exact    int // see limits
}

// runPipelined sends a transaction with everything in it at once. It fails with errMoved
// if the snapshot is not of its generation.
func (a *search) runPipelined(ctx context.Context, pool *pgxpool.Pool, snap *snapshot) (index.Candidates, error) {
	batch := &pgx.Batch{}
	batch.Queue("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
	plan := a.newPlan(snap)
	plan.queueStatements(batch)
	batch.Queue("COMMIT")
	connection, err := pool.Acquire(ctx)
	if err != nil {
		return index.Candidates{}, err
	}
	defer connection.Release() // a connection inside a transaction is not used again
	results := connection.SendBatch(ctx, batch)
	if _, err := results.Exec(); err != nil {
		return index.Candidates{}, errors.Join(err, results.Close())
	}
	candidates, err := plan.readResults(ctx, results)
	if err := errors.Join(err, results.Close()); err != nil {
		return index.Candidates{}, err
	}
	return candidates, plan.markUnembedded(ctx, connection, candidates.Lexical)
}

// runInTransaction asks in a transaction with the snapshot of its generation.
func (a *search) runInTransaction(ctx context.Context, tx pgx.Tx, snap *snapshot) (index.Candidates, error) {
	batch := &pgx.Batch{}
	plan := a.newPlan(snap)
	plan.queueStatements(batch)
	results := tx.SendBatch(ctx, batch)
	candidates, err := plan.readResults(ctx, results)
	if err := errors.Join(err, results.Close()); err != nil {
		return index.Candidates{}, err
	}
	return candidates, plan.markUnembedded(ctx, tx, candidates.Lexical)
}

// plan holds the statements of a search, for a snapshot.
type plan struct {
	snap     *snapshot
	query    index.Query
	terms    []index.Term // each once, such as can be in the index
	allowed  []bool       // classes that pass; nil lets all pass
	classes  []int32      // the same by number
	dense    []denseQuery
	restrict bool // to documents
	embedder embedder

	found         []int32 // slots of what was found by words
	embeddedBelow int32   // slots from here on may lack vectors
}

// passingClasses returns the numbers of the classes that a filter lets pass.
func (s *snapshot) passingClasses(filter index.Filter) []int32 {
	numbers := []int32{}
	for i, class := range s.classes {
		if class.Passes(filter) {
			numbers = append(numbers, int32(i))
		}
	}
	return numbers
}

func (a *search) newPlan(snap *snapshot) *plan {
	p := &plan{snap: snap, query: a.query, embedder: a.embedder, restrict: len(a.query.Filter.Documents) > 0}
	p.terms = storableTerms(ranking.MergeTerms(a.query.Terms))
	p.classes = snap.passingClasses(a.query.Filter)
	passing := 0
	allowed := make([]bool, len(snap.classes))
	for _, class := range p.classes {
		allowed[class] = true
		passing += snap.passagesOf[class]
	}
	all := passing == snap.passages
	if !all {
		p.allowed = allowed
	}
	if a.query.Vector != nil {
		if !snap.indexed || p.restrict || passing <= a.exact {
			p.dense = []denseQuery{{table: a.embedder.table, exact: true, filtered: !all, classes: p.classes}}
		} else {
			p.dense = a.planWalks(snap, p.classes)
		}
	}
	return p
}

// planWalks searches the passages that everybody may read and the others apart, each part
// through its own HNSW index, or exactly where few of it pass. Walks come first.
func (a *search) planWalks(snap *snapshot, classes []int32) []denseQuery {
	parts := [2]denseQuery{{part: publicPart}, {part: restrictedPart}}
	var passing [2]int
	partOf := func(class int32) int {
		if snap.classes[class].Audience.OrPublic() == knowledge.PublicAudience {
			return 0
		}
		return 1
	}
	for class, count := range snap.passagesOf {
		parts[partOf(int32(class))].passages += count
	}
	for _, class := range classes {
		at := partOf(class)
		passing[at] += snap.passagesOf[class]
		parts[at].classes = append(parts[at].classes, class)
	}
	var queries []denseQuery
	for at, q := range parts {
		if passing[at] == 0 {
			continue
		}
		q.table, q.rows = a.embedder.table, a.rows
		q.exact = passing[at] <= a.exact
		q.filtered = q.exact || passing[at] < q.passages
		q.share = float64(passing[at]) / float64(q.passages)
		queries = append(queries, q)
	}
	slices.SortStableFunc(queries, func(a, b denseQuery) int {
		switch {
		case a.exact == b.exact:
			return 0
		case a.exact:
			return 1
		}
		return -1
	})
	return queries
}

// storableTerms leaves out what lexical.Analyze can't give: the database would refuse it.
func storableTerms(terms []index.Term) []index.Term {
	return slices.DeleteFunc(terms, func(term index.Term) bool {
		return term.Text == "" || !utf8.ValidString(term.Text) || strings.ContainsRune(term.Text, 0)
	})
}

// searchSettings hold for the transaction alone: what is set for a session would not reach
// statements that are prepared already. Plans are made anew, for these settings. A scan
// in parallel takes longer to start than what is scanned exactly takes.
const searchSettings = `SELECT set_config('plan_cache_mode', 'force_custom_plan', true), set_config('hnsw.ef_search', $1, true), 
	set_config('hnsw.iterative_scan', 'relaxed_order', true),	set_config('hnsw.max_scan_tuples', '100000', true), set_config('hnsw.scan_mem_multiplier', '4', true),
	set_config('enable_seqscan', $2, true), set_config('enable_sort', $2, true), set_config('enable_bitmapscan', $2, true),
	set_config('max_parallel_workers_per_gather', '0', true)`

// pagesOfTerms are, for each term and segment, the page that holds the term if any does.
const pagesOfTerms = `SELECT n, entries FROM unnest($1::bytea[]) WITH ORDINALITY AS t (term, n) CROSS JOIN cairn.segment
	CROSS JOIN LATERAL (SELECT entries FROM cairn.page WHERE page.segment = segment.id AND first <= term ORDER BY first DESC LIMIT 1) p`

const slotsOfDocuments = "SELECT slot FROM cairn.slot JOIN cairn.document ON document = id WHERE key = ANY ($1)"

// queueStatements puts the statements of the plan into a batch.
func (p *plan) queueStatements(batch *pgx.Batch) {
	first := denseQuery{exact: true}
	if len(p.dense) > 0 {
		first = p.dense[0]
	}
	first.queueSettings(batch)
	batch.Queue("SELECT generation, (SELECT embedded_below FROM cairn.embedder WHERE id = $1) FROM cairn.meta", p.embedder.id)
	if p.restrict {
		batch.Queue(slotsOfDocuments, p.documentKeys())
	}
	if len(p.terms) > 0 {
		batch.Queue(pagesOfTerms, termKeys(p.terms))
	}
	p.queueDense(batch)
}

func (p *plan) documentKeys() [][]byte {
	keys := make([][]byte, len(p.query.Filter.Documents))
	for i, id := range p.query.Filter.Documents {
		keys[i] = []byte(id)
	}
	return keys
}

func termKeys(terms []index.Term) [][]byte {
	keys := make([][]byte, len(terms))
	for i, term := range terms {
		keys[i] = []byte(term.Text)
	}
	return keys
}

// readResults reads the results of queueStatements and ranks them.
func (p *plan) readResults(ctx context.Context, results pgx.BatchResults) (index.Candidates, error) {
	if _, err := results.Exec(); err != nil {
		return index.Candidates{}, fmt.Errorf("settings: %w", err)
	}
	var generation int64
	var embeddedBelow *int32
	if err := results.QueryRow().Scan(&generation, &embeddedBelow); err != nil {
		return index.Candidates{}, fmt.Errorf("read generation: %w", err)
	}
	if embeddedBelow == nil {
		return index.Candidates{}, errDropped
	}
	p.embeddedBelow = *embeddedBelow
	if generation != p.snap.generation {
		return index.Candidates{}, errMoved
	}
	look := slotLookup{plan: p}
	if p.restrict {
		if err := look.restrictTo(results); err != nil {
			return index.Candidates{}, fmt.Errorf("filter by documents: %w", err)
		}
	}
	var candidates index.Candidates
	if len(p.terms) > 0 {
		var err error
		if candidates, err = p.rankPassages(ctx, results, look); err != nil {
			return index.Candidates{}, fmt.Errorf("by words: %w", err)
		}
	}
	if len(p.dense) > 0 {
		var err error
		if candidates.Dense, err = p.receiveDense(results); err != nil {
			return index.Candidates{}, fmt.Errorf("by meaning: %w", err)
		}
	}
	return candidates, nil
}

// markUnembedded marks what words found and has no vectors yet. It is asked only of slots
// that may lack them, and a moment later than the search: one that just got its vectors
// is not marked.
func (p *plan) markUnembedded(ctx context.Context, on querier, hits []index.Hit) error {
	var doubtful []int32
	for _, slot := range p.found {
		if slot >= p.embeddedBelow {
			doubtful = append(doubtful, slot)
		}
	}
	if p.query.Vector == nil || len(doubtful) == 0 {
		return nil
	}
	rows, err := on.Query(ctx, "SELECT slot FROM unnest($1::integer[]) s (slot) WHERE NOT EXISTS (SELECT FROM "+p.embedder.table+
		" v WHERE v.slot = s.slot OFFSET 0)", doubtful)
	if err != nil {
		return fmt.Errorf("look for vectors: %w", err)
	}
	lacking, err := pgx.CollectRows(rows, pgx.RowTo[int32])
	if err != nil {
		return fmt.Errorf("look for vectors: %w", err)
	}
	for i, slot := range p.found {
		hits[i].Unembedded = slices.Contains(lacking, slot)
	}
	return nil
}

// querier is a connection or a transaction on one.
type querier interface {
	Query(ctx context.Context, sql string, arguments ...any) (pgx.Rows, error)
}
