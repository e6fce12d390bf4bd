-- +goose Up

-- Files that people attached on the web page: internal/adapters/web/uploads/sqlite.go.
CREATE TABLE upload (
	id         TEXT PRIMARY KEY,
	thread     TEXT NOT NULL,
	author     TEXT NOT NULL,
	name       TEXT NOT NULL,
	media_type TEXT NOT NULL,
	size       INTEGER NOT NULL,          -- of content, in bytes
	at         INTEGER NOT NULL,          -- Unix milliseconds
	used       INTEGER NOT NULL,          -- when it was last read
	content    BLOB NOT NULL
);
CREATE INDEX upload_thread ON upload (thread, at);
CREATE INDEX upload_used ON upload (used);
