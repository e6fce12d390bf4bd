-- +goose Up

-- An audience may be longer than an entry of an index.
ALTER TABLE cairn.class DROP CONSTRAINT class_source_kind_audience_key;
CREATE UNIQUE INDEX class_unique ON cairn.class (source, kind, sha256(audience));
