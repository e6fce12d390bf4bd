package embedded

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	sqlite "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"

	"cairn/internal/knowledge/index"
	"cairn/internal/knowledge/lexical"
)

// schemaVersion stands in the file's user_version. Raise it when a table or a blob
// changes: both must fit what was written.
const schemaVersion = 2

// A slot is the small number under which everything about a passage is kept. The
// slot of a deleted passage stays in the table without a document, so that a
// snapshot learns of the deletion, and is given to the next new passage.
//
// posting holds, for a block of slots and a term, who contains it how often
// (postings.go). The block leads the key: a write touches the pages of a few blocks
// instead of one page a term.
const schema = `
CREATE TABLE meta (
	one INTEGER PRIMARY KEY CHECK (one = 1),
	embedder TEXT NOT NULL,
	dimension INTEGER NOT NULL,
	analysis INTEGER NOT NULL, -- lexical.Version of what was written
	generation INTEGER NOT NULL -- counts the writes
);
CREATE TABLE document (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	generation INTEGER NOT NULL, -- of its last Put
	key TEXT NOT NULL UNIQUE,
	source TEXT NOT NULL,
	kind TEXT NOT NULL,
	path TEXT NOT NULL,
	title TEXT NOT NULL,
	url TEXT NOT NULL,
	owner TEXT NOT NULL,
	language TEXT NOT NULL,
	modified INTEGER, -- times in microseconds since 1970, NULL for the zero time
	indexed INTEGER,
	last_seen INTEGER,
	hash TEXT NOT NULL,
	audience TEXT NOT NULL,
	state TEXT NOT NULL
);
CREATE INDEX document_source ON document (source, key);
CREATE INDEX document_generation ON document (generation);
CREATE TABLE slot (
	slot INTEGER PRIMARY KEY,
	generation INTEGER NOT NULL, -- of its last change
	document INTEGER, -- NULL: free
	position INTEGER NOT NULL,
	title_terms INTEGER NOT NULL, -- how many terms each field has
	heading_terms INTEGER NOT NULL,
	body_terms INTEGER NOT NULL,
	signs BLOB -- one bit a component, window after window; NULL: not embedded yet
);
CREATE INDEX slot_generation ON slot (generation);
CREATE INDEX slot_free ON slot (slot) WHERE document IS NULL;
CREATE INDEX slot_unembedded ON slot (slot) WHERE signs IS NULL AND document IS NOT NULL;
CREATE TABLE passage (
	slot INTEGER PRIMARY KEY,
	document INTEGER NOT NULL,
	position INTEGER NOT NULL,
	headings TEXT NOT NULL, -- JSON array
	anchor TEXT NOT NULL,
	text TEXT NOT NULL,
	tokens INTEGER NOT NULL,
	hash TEXT NOT NULL,
	UNIQUE (document, position)
);
CREATE TABLE definition (
	slot INTEGER NOT NULL,
	folded TEXT NOT NULL, -- short in lower case
	short TEXT NOT NULL,
	long TEXT NOT NULL
);
CREATE INDEX definition_folded ON definition (folded);
CREATE INDEX definition_slot ON definition (slot);
CREATE TABLE vector (
	slot INTEGER PRIMARY KEY,
	halves BLOB NOT NULL -- half floats, window after window
);
CREATE TABLE posting (
	block INTEGER NOT NULL,
	term TEXT NOT NULL,
	passages INTEGER NOT NULL,
	postings BLOB NOT NULL,
	PRIMARY KEY (block, term)
) WITHOUT ROWID;
CREATE TABLE term (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	text TEXT NOT NULL UNIQUE,
	blocks INTEGER NOT NULL -- how many blocks have a posting row for it
);
CREATE TABLE cursor (
	source TEXT PRIMARY KEY,
	cursor TEXT NOT NULL
) WITHOUT ROWID;
`

const rebuild = "build it anew with `cairn ingest --rebuild`"

// createSchema makes the tables of a new file, and in one that is there those that were
// added since (ingestSchema).
func createSchema(ctx context.Context, db *sql.DB, options Options) error {
	version, err := userVersion(ctx, db)
	if err == nil && version == schemaVersion {
		_, err = db.ExecContext(ctx, ingestSchema)
		return explainError(err)
	}
	if err != nil || version != 0 {
		return err
	}
	// The page size holds for good once the file is in WAL mode.
	for _, pragma := range []string{"PRAGMA page_size = 8192", "PRAGMA journal_mode = WAL"} {
		if _, err := db.ExecContext(ctx, pragma); err != nil {
			return fmt.Errorf("%s: %w", pragma, explainError(err))
		}
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return explainError(err)
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, schema+ingestSchema); err != nil {
		return fmt.Errorf("create tables: %w", explainError(err))
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO meta VALUES (1, ?, ?, ?, 0)", options.Embedder, options.Dimension, lexical.Version); err != nil {
		return fmt.Errorf("store embedder: %w", explainError(err))
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", schemaVersion)); err != nil {
		return fmt.Errorf("store schema version: %w", explainError(err))
	}
	return explainError(tx.Commit())
}

func userVersion(ctx context.Context, db *sql.DB) (int, error) {
	var version int
	if err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return 0, fmt.Errorf("read schema version: %w", explainError(err))
	}
	return version, nil
}

// checkMeta refuses an index that this program or this embedder did not build.
func checkMeta(ctx context.Context, db *sql.DB, options Options) error {
	version, err := userVersion(ctx, db)
	if err != nil {
		return err
	}
	if version != schemaVersion {
		return fmt.Errorf("%w: it has version %d, this program reads %d; %s", index.ErrSchema, version, schemaVersion, rebuild)
	}
	var embedder string
	var dimension, analysis int
	err = db.QueryRowContext(ctx, "SELECT embedder, dimension, analysis FROM meta").Scan(&embedder, &dimension, &analysis)
	if err != nil {
		return fmt.Errorf("read embedder: %w", explainError(err))
	}
	if analysis != lexical.Version {
		return fmt.Errorf("%w: its text was analysed by version %d, this program searches with version %d; %s",
			index.ErrSchema, analysis, lexical.Version, rebuild)
	}
	if embedder != options.Embedder || dimension != options.Dimension {
		return fmt.Errorf("%w: it has %s with %d dimensions, configured is %s with %d; configure the former, or %s",
			index.ErrEmbedder, embedder, dimension, options.Embedder, options.Dimension, rebuild)
	}
	return nil
}

// explainError adds the remedy to an error of SQLite, where one is known.
func explainError(err error) error {
	var failure *sqlite.Error
	if !errors.As(err, &failure) {
		return err
	}
	// SHMSIZE: no room for the memory-mapped file beside the index.
	if failure.Code()&0xff == codes.SQLITE_FULL || failure.Code() == codes.SQLITE_IOERR_SHMSIZE {
		return fmt.Errorf("%w: free space on the disk of the data directory and start again; nothing is lost (%w)", index.ErrFull, err)
	}
	switch failure.Code() & 0xff {
	case codes.SQLITE_NOTADB:
		return fmt.Errorf("%w: the file is not an index; %s (%w)", index.ErrSchema, rebuild, err)
	case codes.SQLITE_CORRUPT:
		return fmt.Errorf("the file is damaged; %s: %w", rebuild, err)
	}
	return err
}
