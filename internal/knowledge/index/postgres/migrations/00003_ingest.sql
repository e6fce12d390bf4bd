-- +goose Up

-- How the last ingest of each source went. What a search sees does not depend on it.
CREATE TABLE cairn.ingest (
	source bytea PRIMARY KEY,
	complete timestamptz, -- when the source was last read to its end; NULL: never
	state bytea NOT NULL -- JSON with a version
);
