// Package embedded keeps queues, leases, checkpoints, events, outboxes and records of runs
// in SQLite, with no server. How safe what is written is says [github.com/cairn-bot/cairn/internal/sqlite.DB].
package embedded
