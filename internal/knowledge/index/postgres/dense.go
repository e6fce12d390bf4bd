package postgres

import (
	"fmt"
	"math"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/pgvector/pgvector-go"

	"github.com/cairn-bot/cairn/internal/knowledge"
)

// An HNSW search keeps so many nearest ones in view while it walks: more find more and
// take longer. At 100,000 vectors 100 find the best 20; at 1,000,000 316 do.
const (
	leastEffort = 100
	mostEffort  = 1000 // what pgvector allows

	effortPassages = 100_000 // from here on effort grows with the root of the number
)

// condition is one on the vectors that a walk searches, as its HNSW index has it.
type condition string

// The conditions that have an HNSW index each.
const (
	publicOnly     condition = "NOT restricted"
	restrictedOnly condition = "restricted"
)

// part is what of a table is searched in one way: all vectors exactly, or those of a condition.
type part struct {
	condition condition // "": all
	exact     bool      // score all that pass, instead of walking the HNSW index
	filtered  bool      // not all classes of the part pass
	classes   []int32   // of the part that pass
	rows      int       // vectors asked of the HNSW index
	share     float64   // of the part's passages that pass
	passages  int       // of the part
}

// parts returns what to search. Walks come first.
func (p *plan) parts(indexed bool) []part {
	passing := 0
	for _, number := range p.query.Passing {
		passing += p.query.Classes[number].Passages
	}
	if !indexed || len(p.query.Documents) > 0 || passing <= p.exact {
		return []part{{exact: true, filtered: !p.query.All, classes: p.query.Passing}}
	}
	return p.walks()
}

// walks searches the passages that everybody may read and the others apart, each part
// through its own HNSW index, or exactly where few of it pass.
func (p *plan) walks() []part {
	both := [2]part{{condition: publicOnly}, {condition: restrictedOnly}}
	var passing [2]int
	partOf := func(number int32) int {
		if p.query.Classes[number].Audience.OrPublic() == knowledge.PublicAudience {
			return 0
		}
		return 1
	}
	for number, class := range p.query.Classes {
		both[partOf(int32(number))].passages += class.Passages
	}
	for _, number := range p.query.Passing {
		at := partOf(number)
		passing[at] += p.query.Classes[number].Passages
		both[at].classes = append(both[at].classes, number)
	}
	var walks, exact []part
	for at, q := range both {
		if passing[at] == 0 {
			continue
		}
		q.rows = p.rows
		q.exact = passing[at] <= p.exact
		q.filtered = q.exact || passing[at] < q.passages
		q.share = float64(passing[at]) / float64(q.passages)
		if q.exact {
			exact = append(exact, q)
		} else {
			walks = append(walks, q)
		}
	}
	return slices.Concat(walks, exact)
}

// searchSettings hold for the transaction alone: what is set for a session would not reach
// statements that are prepared already. Plans are made anew, for these settings. A scan
// in parallel takes longer to start than what is scanned exactly takes.
const searchSettings = `SELECT set_config('plan_cache_mode', 'force_custom_plan', true), set_config('hnsw.ef_search', $1, true),
	set_config('hnsw.iterative_scan', 'relaxed_order', true), set_config('hnsw.max_scan_tuples', '100000', true), set_config('hnsw.scan_mem_multiplier', '4', true),
	set_config('enable_seqscan', $2, true), set_config('enable_sort', $2, true), set_config('enable_bitmapscan', $2, true),
	set_config('max_parallel_workers_per_gather', '0', true)`

// searchEffort returns hnsw.ef_search. It grows with the size of the index, and with the share of
// passages that the filter drops, so that enough are left.
func (q part) searchEffort() int {
	least := leastEffort * math.Sqrt(max(1, float64(q.passages)/effortPassages))
	return int(min(max(least, float64(q.rows))/q.share, mostEffort))
}

// queue puts the statements of the parts into a batch, two for each: settings and search.
func (p *plan) queue(batch *pgx.Batch, parts []part) {
	vector := pgvector.NewHalfVector(p.query.Vector)
	for _, q := range parts {
		if !q.exact {
			batch.Queue(searchSettings, fmt.Sprint(q.searchEffort()), "off")
			batch.Queue(p.nearStatement(q), vector, q.rows, q.classes)
			continue
		}
		batch.Queue(searchSettings, fmt.Sprint(leastEffort), "on")
		keys := make([][]byte, len(p.query.Documents))
		for i, key := range p.query.Documents {
			keys[i] = []byte(key)
		}
		batch.Queue(p.exactStatement(q), vector, p.query.Limit, q.classes, keys)
	}
}

// exactStatement scores every passage that passes. Grouping keeps the planner from the
// HNSW index; ties come whole, for the caller to put in order.
func (p *plan) exactStatement(q part) string {
	where := " WHERE halves IS NOT NULL"
	if q.filtered {
		where += " AND class = ANY ($3)"
	} else {
		where += " AND $3::integer[] IS NOT NULL"
	}
	if len(p.query.Documents) > 0 {
		where += " AND document = ANY (ARRAY(SELECT id FROM cairn.document WHERE key = ANY ($4::bytea[])))"
	} else {
		where += " AND $4::bytea[] IS NOT NULL"
	}
	return "SELECT slot, max(-(halves <#> $1)) AS score FROM " + p.table + where +
		" GROUP BY slot ORDER BY score DESC FETCH FIRST ($2) ROWS WITH TIES"
}

// nearStatement walks the HNSW index, further and further while the filter drops what
// it finds (see searchSettings). Vectors are of length 1, where the inner product is the cosine.
func (p *plan) nearStatement(q part) string {
	where := " WHERE " + string(q.condition)
	if q.filtered {
		where += " AND class = ANY ($3)"
	} else {
		where += " AND $3::integer[] IS NOT NULL"
	}
	return "SELECT slot, -(halves <#> $1) AS score FROM " + p.table + where + " ORDER BY halves <#> $1 LIMIT $2"
}

// receiveScores gives the slots that a search found with the score of their best window, and how
// many windows it found.
func receiveScores(results pgx.BatchResults) (scores map[int32]float64, count int, err error) {
	rows, err := results.Query()
	if err != nil {
		return nil, 0, err
	}
	defer rows.Close()
	scores = make(map[int32]float64)
	for rows.Next() {
		var slot int32
		var score float64
		if err := rows.Scan(&slot, &score); err != nil {
			return nil, 0, err
		}
		count++
		if known, ok := scores[slot]; !ok || score > known {
			scores[slot] = score
		}
	}
	return scores, count, rows.Err()
}
