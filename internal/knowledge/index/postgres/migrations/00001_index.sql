-- +goose Up

-- Strings that come from documents or from who names them are bytea: they may hold
-- any bytes, which text may not. They sort by byte.

CREATE TABLE cairn.meta (
	one boolean PRIMARY KEY DEFAULT true CHECK (one),
	generation bigint NOT NULL DEFAULT 0,    -- counts the writes
	forgotten bigint NOT NULL DEFAULT 0,     -- removals up to this generation are not kept
	next_slot integer NOT NULL DEFAULT 0,
	next_document integer NOT NULL DEFAULT 1,
	next_segment integer NOT NULL DEFAULT 1
);
INSERT INTO cairn.meta DEFAULT VALUES;

-- What filters look at. Documents of one class pass or fail together.
CREATE TABLE cairn.class (
	id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	source bytea NOT NULL,
	kind bytea NOT NULL,
	audience bytea NOT NULL,
	UNIQUE (source, kind, audience)
);

CREATE TABLE cairn.document (
	id integer PRIMARY KEY,
	generation bigint NOT NULL, -- of its last Put
	key bytea NOT NULL UNIQUE,
	class integer NOT NULL,
	path bytea NOT NULL,
	title bytea NOT NULL,
	url bytea NOT NULL,
	owner bytea NOT NULL,
	language bytea NOT NULL,
	modified timestamptz, -- NULL for the zero time
	indexed timestamptz,
	last_seen timestamptz,
	hash bytea NOT NULL,
	state bytea NOT NULL
);
CREATE INDEX document_generation ON cairn.document (generation);
CREATE INDEX document_class ON cairn.document (class, key);

-- A slot is the small number under which everything about a passage is kept. It is
-- never given twice.
CREATE TABLE cairn.slot (
	slot integer PRIMARY KEY,
	generation bigint NOT NULL, -- of the last Put of its document
	document integer NOT NULL,
	position integer NOT NULL,
	title_terms integer NOT NULL, -- how many terms each field has
	heading_terms integer NOT NULL,
	body_terms integer NOT NULL
);
CREATE INDEX slot_generation ON cairn.slot (generation);
CREATE INDEX slot_document ON cairn.slot (document, position);

CREATE TABLE cairn.passage (
	slot integer PRIMARY KEY,
	headings bytea NOT NULL, -- JSON array
	anchor bytea NOT NULL,
	text bytea NOT NULL,
	tokens integer NOT NULL,
	hash bytea NOT NULL
);

-- Slots and documents that a write took away.
CREATE TABLE cairn.removal (
	generation bigint PRIMARY KEY,
	slots integer[] NOT NULL,
	documents integer[] NOT NULL
);

CREATE TABLE cairn.definition (
	slot integer NOT NULL,
	place integer NOT NULL, -- within the passage
	folded bytea NOT NULL, -- short in lower case
	short bytea NOT NULL,
	long bytea NOT NULL,
	PRIMARY KEY (slot, place)
);
CREATE INDEX definition_folded ON cairn.definition USING hash (folded);

-- A segment holds the posting lists of the writes of some generations, for slots that
-- follow those of the segment before. It never changes; some are merged into one.
CREATE TABLE cairn.segment (
	id integer PRIMARY KEY,
	first_generation bigint NOT NULL,
	last_generation bigint NOT NULL,
	bytes bigint NOT NULL
);

-- A page of a segment: entries in order of term, up to the first one of the next page.
CREATE TABLE cairn.page (
	segment integer NOT NULL,
	first bytea NOT NULL,
	entries bytea NOT NULL,
	PRIMARY KEY (segment, first)
);
ALTER TABLE cairn.page ALTER COLUMN entries SET STORAGE EXTERNAL;

CREATE TABLE cairn.cursor (
	source bytea PRIMARY KEY,
	cursor bytea NOT NULL
);

-- Each embedder has vectors in a table of its own, vector_ID.
CREATE TABLE cairn.embedder (
	id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	name text NOT NULL,
	dimension integer NOT NULL,
	indexed boolean NOT NULL DEFAULT false, -- its table has an HNSW index
	UNIQUE (name, dimension)
);

CREATE TABLE cairn.query_log (
	id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	at timestamptz NOT NULL,
	thread bytea NOT NULL,
	run bytea NOT NULL,
	question bytea, -- NULL unless questions are kept as they were asked
	question_hash bytea NOT NULL, -- SHA-256
	lexical integer NOT NULL, -- candidates by words
	dense integer NOT NULL, -- candidates by meaning
	shown integer NOT NULL, -- sources shown to the person
	search_us bigint NOT NULL,
	total_us bigint NOT NULL
);
CREATE INDEX query_log_at ON cairn.query_log (at);
