-- +goose Up

-- Vectors of passages that everybody may read, and of the others, have an HNSW index each.
SET LOCAL statement_timeout = 0;
SET LOCAL maintenance_work_mem = '256MB';
SET LOCAL max_parallel_maintenance_workers = 0;

-- +goose StatementBegin
DO $$
DECLARE
	embedder record;
	vectors text;
BEGIN
	FOR embedder IN SELECT id, indexed FROM cairn.embedder LOOP
		vectors := 'vector_' || embedder.id;
		EXECUTE format('ALTER TABLE cairn.%I ADD COLUMN restricted boolean NOT NULL DEFAULT false', vectors);
		EXECUTE format('ALTER TABLE cairn.%I ALTER COLUMN restricted DROP DEFAULT', vectors);
		EXECUTE format('DROP INDEX IF EXISTS cairn.%I', vectors || '_halves_idx');
		EXECUTE format('UPDATE cairn.%I v SET restricted = true FROM cairn.class c WHERE c.id = v.class AND c.audience <> ''public''', vectors);
		IF embedder.indexed THEN
			EXECUTE format('CREATE INDEX %I ON cairn.%I USING hnsw (halves halfvec_ip_ops) WITH (m = 24, ef_construction = 128) WHERE NOT restricted',
				vectors || '_public_halves_idx', vectors);
			EXECUTE format('CREATE INDEX %I ON cairn.%I USING hnsw (halves halfvec_ip_ops) WITH (m = 24, ef_construction = 128) WHERE restricted',
				vectors || '_restricted_halves_idx', vectors);
		END IF;
	END LOOP;
END $$;
-- +goose StatementEnd
