-- +goose Up

-- Pages that people write together: internal/pages/sqlite.go.
CREATE TABLE page (
	id       TEXT PRIMARY KEY,
	title    TEXT NOT NULL,
	audience TEXT NOT NULL,              -- knowledge.Audience
	version  INTEGER NOT NULL,
	root     BLOB NOT NULL,              -- Lexical's JSON: pages.EncodeRoot
	created  INTEGER NOT NULL,           -- Unix milliseconds
	updated  INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE page_version (
	page   TEXT NOT NULL,
	number INTEGER NOT NULL,
	base   INTEGER NOT NULL,             -- the version that the author saw
	author TEXT NOT NULL,                -- '' for one who was forgotten
	at     INTEGER NOT NULL,
	why    TEXT NOT NULL,
	run    TEXT NOT NULL,
	key    TEXT NOT NULL,                -- of the write, '' for none
	name   TEXT NOT NULL,                -- of a snapshot, '' for none
	title  TEXT NOT NULL,
	root   BLOB NOT NULL,
	PRIMARY KEY (page, number)
) WITHOUT ROWID;
CREATE UNIQUE INDEX page_version_key ON page_version (page, key) WHERE key <> '';
CREATE INDEX page_version_author ON page_version (author);

-- The page that a thread or channel works on.
CREATE TABLE page_active (
	place TEXT PRIMARY KEY,
	page  TEXT NOT NULL
) WITHOUT ROWID;
