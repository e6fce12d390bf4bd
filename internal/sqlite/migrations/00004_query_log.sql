-- +goose Up

-- Questions that were answered: internal/knowledge/index/querylog.
CREATE TABLE query_log (
	run           TEXT PRIMARY KEY,
	at            INTEGER NOT NULL,      -- Unix milliseconds
	question      TEXT,                  -- NULL unless the text is kept
	question_hash BLOB NOT NULL,         -- SHA-256
	lexical       INTEGER NOT NULL,
	dense         INTEGER NOT NULL,
	shown         INTEGER NOT NULL,
	search_us     INTEGER NOT NULL,
	total_us      INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX query_log_at ON query_log (at);
