package postgres

import (
	"fmt"
	"math"

	"github.com/jackc/pgx/v5"
	"github.com/pgvector/pgvector-go"

	"cairn/internal/knowledge/index"
	"cairn/internal/knowledge/index/ranking"
)

// An HNSW search keeps so many nearest ones in view while it walks: more find more and
// take longer. At 100,000 vectors 100 find the best 20; at 1,000,000 316 do.
const (
	leastEffort = 100
	mostEffort  = 1000 // what pgvector allows

	effortPassages = 100_000 // from here on effort grows with the root of the number
)

// densePart is a condition on the vectors that a walk searches, as its HNSW index has it.
type densePart string

// The parts that have an HNSW index each.
const (
	publicPart     densePart = "NOT restricted"
	restrictedPart densePart = "restricted"
)

// denseQuery is the plan of a search by vectors: all of them exactly, or those of a part.
type denseQuery struct {
	table    string
	part     densePart // "": all
	exact    bool      // score all that pass, instead of walking the HNSW index
	filtered bool      // not all classes of the part pass
	classes  []int32   // of the part that pass
	rows     int       // vectors asked of the HNSW index
	share    float64   // of the part's passages that pass
	passages int       // of the part
}

// queueSettings sets what a transaction's next statements are planned by.
func (d denseQuery) queueSettings(batch *pgx.Batch) {
	if d.exact {
		batch.Queue(searchSettings, fmt.Sprint(leastEffort), "on")
		return
	}
	batch.Queue(searchSettings, fmt.Sprint(d.searchEffort()), "off")
}

// needsSettings tells whether the settings of the query before don't do.
func (d denseQuery) needsSettings(before denseQuery) bool {
	return d.exact != before.exact || !d.exact && d.searchEffort() != before.searchEffort()
}

// searchEffort returns hnsw.ef_search. It grows with the size of the index, and with the share of
// passages that the filter drops, so that enough are left.
func (d denseQuery) searchEffort() int {
	least := leastEffort * math.Sqrt(max(1, float64(d.passages)/effortPassages))
	return int(min(max(least, float64(d.rows))/d.share, mostEffort))
}

// exactStatement scores every passage that passes. Grouping keeps the planner from the
// HNSW index; ties come whole, for the caller to put in order.
func (d denseQuery) exactStatement(restrict bool) string {
	where := " WHERE halves IS NOT NULL"
	if d.filtered {
		where += " AND class = ANY ($3)"
	} else {
		where += " AND $3::integer[] IS NOT NULL"
	}
	if restrict {
		where += " AND document = ANY (ARRAY(SELECT id FROM cairn.document WHERE key = ANY ($4::bytea[])))"
	} else {
		where += " AND $4::bytea[] IS NULL"
	}
	return "SELECT slot, max(-(halves <#> $1)) AS score FROM " + d.table + where +
		" GROUP BY slot ORDER BY score DESC FETCH FIRST ($2) ROWS WITH TIES"
}

// nearStatement walks the HNSW index, further and further while the filter drops what
// it finds (see searchSettings). Vectors are of length 1, where the inner product is the cosine.
func (d denseQuery) nearStatement() string {
	where := " WHERE " + string(d.part)
	if d.filtered {
		where += " AND class = ANY ($3)"
	} else {
		where += " AND $3::integer[] IS NOT NULL"
	}
	return "SELECT slot, -(halves <#> $1) AS score FROM " + d.table + where + " ORDER BY halves <#> $1 LIMIT $2"
}

func (p *plan) queueDense(batch *pgx.Batch) {
	vector := pgvector.NewHalfVector(p.query.Vector)
	for i, d := range p.dense {
		if i > 0 && d.needsSettings(p.dense[i-1]) {
			d.queueSettings(batch)
		}
		if !d.exact {
			batch.Queue(d.nearStatement(), vector, d.rows, d.classes)
			continue
		}
		var keys [][]byte
		if p.restrict {
			keys = p.documentKeys()
		}
		batch.Queue(d.exactStatement(p.restrict), vector, p.query.Limit, d.classes, keys)
	}
}

// receiveDense returns the best passages by their best window.
func (p *plan) receiveDense(results pgx.BatchResults) ([]index.Hit, error) {
	best := ranking.NewBest(p.query.Limit, p.snap.passageID)
	for i, d := range p.dense {
		if i > 0 && d.needsSettings(p.dense[i-1]) {
			if _, err := results.Exec(); err != nil {
				return nil, fmt.Errorf("settings: %w", err)
			}
		}
		scores, count, err := receiveScores(results)
		if err != nil {
			return nil, err
		}
		if !d.exact && count == d.rows && len(scores) < p.query.Limit {
			return nil, errShort
		}
		for slot, score := range scores {
			if !p.snap.isUsed(slot) {
				return nil, fmt.Errorf("slot %d has vectors and no passage: the index is damaged, build it anew", slot)
			}
			best.Offer(slot, score)
		}
	}
	hits, _ := best.Hits()
	return hits, nil
}

// receiveScores gives the slots that a dense query found with the score of their best window,
// and how many windows it found.
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
