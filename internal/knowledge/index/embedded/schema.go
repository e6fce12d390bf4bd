package embedded

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	sqlite "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"

	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/knowledge/index/engine"
	"github.com/cairn-bot/cairn/internal/knowledge/lexical"
)

// schemaVersion stands in the file's user_version. Raise it when a table or a blob
// changes, and convert what was written before (convert.go).
const schemaVersion = 3

// embedderID is the row of the one embedder of a file.
const embedderID = 1

// schema has what package engine expects, and the vectors. A slot is the small number under
// which everything about a passage is kept. It is never given twice.
const schema = `
CREATE TABLE meta (
	one INTEGER PRIMARY KEY CHECK (one = 1),
	analysis INTEGER NOT NULL, -- lexical.Version of what was written
	generation INTEGER NOT NULL DEFAULT 0, -- counts the writes
	cleared INTEGER NOT NULL DEFAULT 0, -- generation in which all was thrown away
	next_slot INTEGER NOT NULL DEFAULT 0,
	next_document INTEGER NOT NULL DEFAULT 1,
	next_class INTEGER NOT NULL DEFAULT 1,
	next_segment INTEGER NOT NULL DEFAULT 1,
	title_terms INTEGER NOT NULL DEFAULT 0, -- of all passages
	heading_terms INTEGER NOT NULL DEFAULT 0,
	body_terms INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE embedder (
	id INTEGER PRIMARY KEY,
	name TEXT NOT NULL,
	dimension INTEGER NOT NULL,
	embedded_below INTEGER NOT NULL DEFAULT 0 -- the passages in slots below it have their vectors
);
CREATE TABLE class ( -- what filters look at
	id INTEGER PRIMARY KEY,
	generation INTEGER NOT NULL, -- of its last change
	source TEXT NOT NULL,
	kind TEXT NOT NULL,
	audience TEXT NOT NULL,
	documents INTEGER NOT NULL, -- how many are of it
	passages INTEGER NOT NULL
);
CREATE TABLE document (
	id INTEGER PRIMARY KEY,
	key TEXT NOT NULL UNIQUE,
	class INTEGER NOT NULL,
	path TEXT NOT NULL,
	title TEXT NOT NULL,
	url TEXT NOT NULL,
	owner TEXT NOT NULL,
	language TEXT NOT NULL,
	modified INTEGER, -- times in microseconds since 1970, NULL for the zero time
	indexed INTEGER,
	last_seen INTEGER,
	hash TEXT NOT NULL,
	state TEXT NOT NULL
);
CREATE INDEX document_class ON document (class, key);
CREATE TABLE slot (
	slot INTEGER PRIMARY KEY,
	document INTEGER NOT NULL,
	position INTEGER NOT NULL,
	title_terms INTEGER NOT NULL, -- how many terms each field has
	heading_terms INTEGER NOT NULL,
	body_terms INTEGER NOT NULL
);
CREATE INDEX slot_document ON slot (document, position);
CREATE TABLE passage (
	slot INTEGER PRIMARY KEY,
	headings TEXT NOT NULL, -- JSON array
	anchor TEXT NOT NULL,
	text TEXT NOT NULL,
	tokens INTEGER NOT NULL,
	hash TEXT NOT NULL
);
CREATE TABLE block ( -- class and length of the passages in 4,096 slots
	number INTEGER PRIMARY KEY,
	generation INTEGER NOT NULL,
	passages BLOB NOT NULL
);
CREATE TABLE definition (
	slot INTEGER NOT NULL,
	place INTEGER NOT NULL, -- within the passage
	folded TEXT NOT NULL, -- short in lower case
	short TEXT NOT NULL,
	long TEXT NOT NULL,
	PRIMARY KEY (slot, place)
) WITHOUT ROWID;
CREATE INDEX definition_folded ON definition (folded);
CREATE TABLE segment ( -- the posting lists of the writes of some generations
	id INTEGER PRIMARY KEY,
	first_generation INTEGER NOT NULL,
	last_generation INTEGER NOT NULL,
	bytes INTEGER NOT NULL
);
CREATE TABLE page ( -- entries in order of term, up to the first one of the next page
	segment INTEGER NOT NULL,
	first TEXT NOT NULL,
	entries BLOB NOT NULL,
	PRIMARY KEY (segment, first)
) WITHOUT ROWID;
CREATE TABLE cursor (
	source TEXT PRIMARY KEY,
	cursor TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE ingest (
	source TEXT PRIMARY KEY,
	complete INTEGER, -- when the source was last read to its end; NULL: never
	state BLOB NOT NULL -- JSON with a version
) WITHOUT ROWID;
CREATE TABLE vector (
	slot INTEGER PRIMARY KEY,
	halves BLOB NOT NULL -- half floats, window after window
);
CREATE TABLE sign (
	slot INTEGER PRIMARY KEY,
	generation INTEGER NOT NULL,
	signs BLOB NOT NULL -- one bit a component, window after window
);
CREATE INDEX sign_generation ON sign (generation);
`

const rebuild = "build it anew with `cairn ingest --rebuild`"

// prepareSchema makes the tables of a new file, and converts those of a former version.
func (x *Index) prepareSchema(ctx context.Context, options Options) error {
	version, err := userVersion(ctx, x.db.write)
	if err != nil || version != 0 {
		if version == convertedVersion {
			err = x.convert(ctx, options)
		}
		return err
	}
	// The page size holds for good once the file is in WAL mode.
	for _, pragma := range []string{"PRAGMA page_size = 8192", "PRAGMA journal_mode = WAL"} {
		if _, err := x.db.write.ExecContext(ctx, pragma); err != nil {
			return fmt.Errorf("%s: %w", pragma, explainError(err))
		}
	}
	return x.db.Write(ctx, func(tx engine.Tx) error { return createTables(ctx, tx, options) })
}

func createTables(ctx context.Context, tx engine.Tx, options Options) error {
	for statement := range strings.SplitSeq(strings.TrimSuffix(schema, ";\n"), ";\n") {
		if _, err := tx.Exec(ctx, statement); err != nil {
			return fmt.Errorf("create tables: %w", err)
		}
	}
	if _, err := tx.Exec(ctx, "INSERT INTO meta (one, analysis) VALUES (1, $1)", lexical.Version); err != nil {
		return fmt.Errorf("store version: %w", err)
	}
	_, err := tx.Exec(ctx, "INSERT INTO embedder (id, name, dimension) VALUES ($1, $2, $3)", embedderID, options.Embedder, options.Dimension)
	if err != nil {
		return fmt.Errorf("store embedder: %w", err)
	}
	if _, err := tx.Exec(ctx, fmt.Sprintf("PRAGMA user_version = %d", schemaVersion)); err != nil {
		return fmt.Errorf("store schema version: %w", err)
	}
	return nil
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
	err = db.QueryRowContext(ctx, "SELECT name, dimension, analysis FROM meta, embedder").Scan(&embedder, &dimension, &analysis)
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
