-- +goose Up

-- What a worker saves goes under its lease, whose token is in the table of threads.
ALTER TABLE session DROP COLUMN fence;
ALTER TABLE record_list DROP COLUMN fence;
