-- +goose Up

-- What searches need of passages stands in blocks, which processes keep as far as they have
-- room, in place of a snapshot of all passages in each process.
SET LOCAL statement_timeout = 0;

ALTER TABLE cairn.meta RENAME COLUMN forgotten TO cleared; -- generation in which all was thrown away
ALTER TABLE cairn.meta
	ADD COLUMN next_class integer NOT NULL DEFAULT 1,
	ADD COLUMN title_terms bigint NOT NULL DEFAULT 0, -- of all passages
	ADD COLUMN heading_terms bigint NOT NULL DEFAULT 0,
	ADD COLUMN body_terms bigint NOT NULL DEFAULT 0;
UPDATE cairn.meta SET cleared = 0, generation = generation + 1,
	next_class = (SELECT coalesce(max(id) + 1, 1) FROM cairn.class),
	title_terms = (SELECT coalesce(sum(title_terms), 0) FROM cairn.slot),
	heading_terms = (SELECT coalesce(sum(heading_terms), 0) FROM cairn.slot),
	body_terms = (SELECT coalesce(sum(body_terms), 0) FROM cairn.slot);

ALTER TABLE cairn.class ALTER COLUMN id DROP IDENTITY,
	ADD COLUMN generation bigint NOT NULL DEFAULT 0, -- of its last change
	ADD COLUMN documents integer NOT NULL DEFAULT 0, -- how many are of it
	ADD COLUMN passages integer NOT NULL DEFAULT 0;
UPDATE cairn.class c SET documents = (SELECT count(*) FROM cairn.document d WHERE d.class = c.id);
UPDATE cairn.class c SET passages = counted.passages
	FROM (SELECT class, count(*) AS passages FROM cairn.slot JOIN cairn.document d ON d.id = document GROUP BY class) counted WHERE counted.class = c.id;

-- For each of 4,096 slots, up to the last in use: number of the class, 0 for none, and weighted
-- length. The generation is that of its last change.
CREATE TABLE cairn.block (
	number integer PRIMARY KEY,
	generation bigint NOT NULL,
	passages bytea NOT NULL
);
INSERT INTO cairn.block
	SELECT b.number, (SELECT generation FROM cairn.meta),
		(SELECT string_agg(int4send(coalesce(class, 0)) || float4send(coalesce(title_terms + 2 * heading_terms + body_terms, 0)::real), ''::bytea ORDER BY n)
			FROM generate_series(b.number * 4096, b.last) n LEFT JOIN (cairn.slot JOIN cairn.document d ON d.id = document) ON slot = n)
	FROM (SELECT slot / 4096 AS number, max(slot) AS last FROM cairn.slot GROUP BY 1) b;

DROP TABLE cairn.removal;
ALTER TABLE cairn.slot DROP COLUMN generation;
ALTER TABLE cairn.document DROP COLUMN generation;
