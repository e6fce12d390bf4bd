-- +goose Up

CREATE TABLE cairn.written_page (
	id       text PRIMARY KEY,
	title    text NOT NULL,
	audience text NOT NULL,              -- knowledge.Audience
	version  integer NOT NULL,
	root     bytea NOT NULL,             -- Lexical's JSON: pages.EncodeRoot
	created  timestamptz NOT NULL,
	updated  timestamptz NOT NULL
);

CREATE TABLE cairn.written_page_version (
	page   text NOT NULL,
	number integer NOT NULL,
	base   integer NOT NULL,             -- the version that the author saw
	author text NOT NULL,                -- '' for one who was forgotten
	at     timestamptz NOT NULL,
	why    text NOT NULL,
	run    text NOT NULL,
	key    text NOT NULL,                -- of the write, '' for none
	name   text NOT NULL,                -- of a snapshot, '' for none
	title  text NOT NULL,
	root   bytea NOT NULL,
	PRIMARY KEY (page, number)
);
CREATE UNIQUE INDEX written_page_version_key ON cairn.written_page_version (page, key) WHERE key <> '';
CREATE INDEX written_page_version_author ON cairn.written_page_version (author);

-- The page that a thread or channel works on.
CREATE TABLE cairn.written_page_active (
	place text PRIMARY KEY,
	page  text NOT NULL
);
CREATE INDEX written_page_active_page ON cairn.written_page_active (page);
