-- +goose Up

-- Answers that experts pinned to questions: internal/curated/sqlite.go.
CREATE TABLE curated (
	id   TEXT PRIMARY KEY,
	body BLOB NOT NULL                   -- JSON: curated.Encode
) WITHOUT ROWID;

CREATE TABLE curated_revision (
	id       INTEGER PRIMARY KEY CHECK (id = 1),
	revision INTEGER NOT NULL            -- counts the changes of curated
);
