package embedded

import (
	"context"
	"fmt"

	"github.com/cairn-bot/cairn/internal/knowledge/index/engine"
	"github.com/cairn-bot/cairn/internal/knowledge/lexical"
)

// convertedVersion is the schema that this program converts: it kept a row of postings for each
// term and 16,384 slots, and gave the slots of deleted passages again.
const convertedVersion = 2

// renamed are the tables of the former schema that this one has in another form.
var renamed = []string{"meta", "document", "slot", "passage", "definition", "cursor", "ingest", "vector"}

// copyTables fill the tables of this schema from those of the former.
var copyTables = []string{
	`UPDATE meta SET generation = (SELECT generation + 1 FROM former_meta), next_slot = (SELECT coalesce(max(slot) + 1, 0) FROM former_slot),
		next_document = (SELECT coalesce(max(id) + 1, 1) FROM former_document), next_segment = 2,
		title_terms = (SELECT coalesce(sum(title_terms), 0) FROM former_slot), heading_terms = (SELECT coalesce(sum(heading_terms), 0) FROM former_slot),
		body_terms = (SELECT coalesce(sum(body_terms), 0) FROM former_slot)`,
	`INSERT INTO class SELECT row_number() OVER (), 1, source, kind, audience, count(DISTINCT d.id), count(slot)
		FROM former_document d LEFT JOIN former_slot s ON s.document = d.id GROUP BY source, kind, audience`,
	"UPDATE meta SET next_class = (SELECT count(*) + 1 FROM class)",
	`INSERT INTO document SELECT d.id, key, c.id, path, title, url, owner, language, modified, indexed, last_seen, hash, state
		FROM former_document d JOIN class c USING (source, kind, audience)`,
	"INSERT INTO slot SELECT slot, document, position, title_terms, heading_terms, body_terms FROM former_slot WHERE document IS NOT NULL",
	"INSERT INTO passage SELECT slot, headings, anchor, text, tokens, hash FROM former_passage",
	"INSERT INTO definition SELECT slot, row_number() OVER (PARTITION BY slot ORDER BY rowid) - 1, folded, short, long FROM former_definition",
	"INSERT INTO cursor SELECT source, cursor FROM former_cursor",
	"INSERT INTO ingest SELECT source, complete, state FROM former_ingest",
	"INSERT INTO vector SELECT slot, halves FROM former_vector",
	"INSERT INTO sign SELECT slot, 1, signs FROM former_slot WHERE signs IS NOT NULL AND document IS NOT NULL",
}

// convertFormer converts a file of the former schema for a process that only reads. It fails
// with index.ErrLocked while a program of the former version writes to it.
func (x *Index) convertFormer(ctx context.Context, options Options) error {
	version, err := userVersion(ctx, x.db.read)
	if err != nil || version != convertedVersion {
		return err
	}
	options.ReadOnly = false
	writer, err := Open(ctx, options)
	if err != nil {
		return err
	}
	return writer.Close()
}

// convert brings a file of the former schema to this one, in one transaction. Nothing is read
// or embedded again.
func (x *Index) convert(ctx context.Context, options Options) error {
	var former Options
	var analysis int
	err := x.db.write.QueryRowContext(ctx, "SELECT embedder, dimension, analysis FROM meta").Scan(&former.Embedder, &former.Dimension, &analysis)
	if err != nil {
		return fmt.Errorf("read embedder: %w", explainError(err))
	}
	options.Logger.Info("converting the index to the layout of this version", "file", x.db.path, "from", convertedVersion, "to", schemaVersion)
	err = x.db.Write(ctx, func(tx engine.Tx) error {
		if _, err := tx.Exec(ctx, "CREATE TABLE IF NOT EXISTS ingest (source TEXT PRIMARY KEY, complete INTEGER, state BLOB NOT NULL) WITHOUT ROWID"); err != nil {
			return err
		}
		for _, table := range renamed {
			if _, err := tx.Exec(ctx, "ALTER TABLE "+table+" RENAME TO former_"+table); err != nil {
				return err
			}
		}
		if _, err := tx.Exec(ctx, "DROP INDEX definition_folded"); err != nil {
			return err
		}
		if err := createTables(ctx, tx, former); err != nil {
			return err
		}
		for _, statement := range copyTables {
			if _, err := tx.Exec(ctx, statement); err != nil {
				return err
			}
		}
		if _, err := tx.Exec(ctx, "UPDATE meta SET analysis = $1", analysis); err != nil {
			return err
		}
		if err := convertWords(ctx, tx); err != nil {
			return err
		}
		for _, table := range renamed {
			if _, err := tx.Exec(ctx, "DROP TABLE former_"+table); err != nil {
				return err
			}
		}
		for _, table := range []string{"posting", "term"} {
			if _, err := tx.Exec(ctx, "DROP TABLE "+table); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("convert the index: %w", err)
	}
	options.Logger.Info("converted the index", "file", x.db.path)
	return nil
}

// convertWords writes blocks and posting lists.
func convertWords(ctx context.Context, tx engine.Tx) error {
	var importer engine.Importer
	var slot, class int32
	var lengths lexical.Counts
	asked := engine.Query{SQL: "SELECT slot, class, title_terms, heading_terms, body_terms FROM slot JOIN document ON document.id = slot.document"}
	err := tx.Select(ctx, asked, func() error {
		importer.AddPassage(slot, class, lengths)
		return nil
	}, &slot, &class, &lengths.Title, &lengths.Headings, &lengths.Body)
	if err != nil {
		return err
	}
	var term string
	var group int32
	var passages int
	var postings []byte
	err = tx.Select(ctx, engine.Query{SQL: "SELECT term, block, passages, postings FROM posting ORDER BY term, block"}, func() error {
		importer.AddPostings(term, group, passages, postings)
		return nil
	}, &term, &group, &passages, &postings)
	if err != nil {
		return err
	}
	return importer.Write(ctx, tx, 1)
}
