package tickets_test

import (
	"testing"

	"cairn/internal/adapters/discord"
	"cairn/internal/adapters/discord/tickets"
	"cairn/internal/sqlite/sqlitetest"
)

func TestSQLite(t *testing.T) {
	dir := t.TempDir()
	testStore(t, func(t *testing.T) discord.Tickets { return tickets.OpenSQLite(sqlitetest.Open(t, dir)) })
}
