package postgres

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"cairn/internal/knowledge"
	"cairn/internal/knowledge/index"
)

// Classes implements index.Catalog.
func (x *Index) Classes(ctx context.Context) ([]index.ClassSummary, error) {
	var classes []index.ClassSummary
	err := x.inReadTransaction(ctx, x.primary, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, `SELECT source, kind, audience, count(*), max(modified), max(last_seen)
			FROM cairn.document JOIN cairn.class ON class.id = document.class
			GROUP BY source, kind, audience ORDER BY source, kind, audience`)
		if err != nil {
			return err
		}
		classes, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (index.ClassSummary, error) {
			var source, kind, audience []byte
			var class index.ClassSummary
			var modified, lastSeen *time.Time
			err := row.Scan(&source, &kind, &audience, &class.Documents, &modified, &lastSeen)
			class.Class = index.Class{Source: knowledge.SourceID(source), Kind: knowledge.Kind(kind), Audience: knowledge.Audience(audience)}
			class.Modified, class.LastSeen = fromTimestamp(modified), fromTimestamp(lastSeen)
			return class, err
		})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list classes of documents: %w", err)
	}
	return classes, nil
}

// LatestDocuments implements index.Catalog.
func (x *Index) LatestDocuments(ctx context.Context, classes []index.Class, limit int) ([]knowledge.Document, error) {
	var sources, kinds, audiences [][]byte
	for _, class := range classes {
		sources, kinds, audiences = append(sources, []byte(class.Source)), append(kinds, []byte(class.Kind)), append(audiences, []byte(class.Audience))
	}
	documents, err := x.queryDocuments(ctx, `WHERE (class.source, class.kind, class.audience) IN
		(SELECT * FROM unnest($1::bytea[], $2::bytea[], $3::bytea[])) ORDER BY modified DESC NULLS LAST, key LIMIT $4`, sources, kinds, audiences, limit)
	if err != nil {
		return nil, fmt.Errorf("list the latest documents: %w", err)
	}
	return documents, nil
}

// IsPublic implements index.Catalog.
func (x *Index) IsPublic(ctx context.Context) (bool, error) {
	public := true
	err := x.inReadTransaction(ctx, x.primary, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, "SELECT DISTINCT audience FROM cairn.class")
		if err != nil {
			return err
		}
		audiences, err := pgx.CollectRows(rows, pgx.RowTo[[]byte])
		public = !slices.ContainsFunc(audiences, func(audience []byte) bool {
			return !knowledge.Viewers{}.MaySee(knowledge.Audience(audience))
		})
		return err
	})
	if err != nil {
		return false, fmt.Errorf("look for documents that are not public: %w", err)
	}
	return public, nil
}
