-- +goose Up

-- The version of the analysis (lexical.Version) that the posting lists were made with.
ALTER TABLE cairn.meta ADD COLUMN analysis integer NOT NULL DEFAULT 1;
