-- +goose Up

-- The passages in slots below it have their vectors of the embedder.
ALTER TABLE cairn.embedder ADD COLUMN embedded_below integer NOT NULL DEFAULT 0;

-- +goose StatementBegin
DO $$
DECLARE
	embedder integer;
BEGIN
	FOR embedder IN SELECT id FROM cairn.embedder LOOP
		EXECUTE format('UPDATE cairn.embedder SET embedded_below = coalesce(
			(SELECT min(slot) FROM cairn.slot s WHERE NOT EXISTS (SELECT FROM cairn.%I v WHERE v.slot = s.slot)),
			(SELECT next_slot FROM cairn.meta)) WHERE id = %s', 'vector_' || embedder, embedder);
	END LOOP;
END $$;
-- +goose StatementEnd

-- A run has one row; its thread stands in the record of the run.
ALTER TABLE cairn.query_log DROP COLUMN thread, ADD CONSTRAINT query_log_run UNIQUE (run);
