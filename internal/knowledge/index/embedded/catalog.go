package embedded

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"cairn/internal/knowledge"
	"cairn/internal/knowledge/index"
)

// Classes implements index.Catalog.
func (x *Index) Classes(ctx context.Context) ([]index.ClassSummary, error) {
	rows, err := x.read.QueryContext(ctx, `SELECT source, kind, audience, count(*), max(modified), max(last_seen) FROM document
		GROUP BY source, kind, audience ORDER BY source, kind, audience`)
	if err != nil {
		return nil, fmt.Errorf("list classes of documents: %w", explainError(err))
	}
	defer rows.Close()
	var classes []index.ClassSummary
	for rows.Next() {
		var class index.ClassSummary
		var modified, lastSeen sql.NullInt64
		if err := rows.Scan(&class.Source, &class.Kind, &class.Audience, &class.Documents, &modified, &lastSeen); err != nil {
			return nil, fmt.Errorf("list classes of documents: %w", err)
		}
		class.Modified, class.LastSeen = fromMicros(modified), fromMicros(lastSeen)
		classes = append(classes, class)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("list classes of documents: %w", explainError(err))
	}
	return classes, nil
}

// LatestDocuments implements index.Catalog.
func (x *Index) LatestDocuments(ctx context.Context, classes []index.Class, limit int) ([]knowledge.Document, error) {
	if len(classes) == 0 {
		return nil, nil
	}
	var arguments []any
	for _, class := range classes {
		arguments = append(arguments, string(class.Source), string(class.Kind), string(class.Audience))
	}
	values := strings.TrimSuffix(strings.Repeat("(?, ?, ?), ", len(classes)), ", ")
	documents, err := x.queryDocuments(ctx, "WHERE (source, kind, audience) IN (VALUES "+values+") ORDER BY modified DESC, key LIMIT ?", append(arguments, limit)...)
	if err != nil {
		return nil, fmt.Errorf("list the latest documents: %w", err)
	}
	return documents, nil
}

// IsPublic implements index.Catalog.
func (x *Index) IsPublic(ctx context.Context) (bool, error) {
	public := true
	err := x.readSnapshot(ctx, func(_ *sql.Tx, snap *snapshot) error {
		public = !slices.ContainsFunc(snap.classes, func(class index.Class) bool {
			return !knowledge.Viewers{}.MaySee(class.Audience)
		})
		return nil
	})
	if err != nil {
		return false, fmt.Errorf("look for documents that are not public: %w", err)
	}
	return public, nil
}
