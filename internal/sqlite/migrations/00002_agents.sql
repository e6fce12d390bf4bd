-- +goose Up

-- Reports on the agents of processes: internal/agent/reports.
CREATE TABLE agent_report (
	process TEXT PRIMARY KEY,
	saved   INTEGER NOT NULL,            -- Unix milliseconds
	body    BLOB NOT NULL                -- reports.Encode
) WITHOUT ROWID;
