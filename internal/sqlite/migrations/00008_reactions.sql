-- +goose Up

-- Ratings that came of a reaction to an answer: internal/runs/embedded.
ALTER TABLE rating ADD COLUMN by_reaction INTEGER NOT NULL DEFAULT 0;
