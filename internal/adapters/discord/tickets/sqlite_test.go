package tickets_test

import (
	"testing"

	"github.com/cairn-bot/cairn/internal/adapters/discord"
	"github.com/cairn-bot/cairn/internal/adapters/discord/tickets"
	"github.com/cairn-bot/cairn/internal/sqlite/sqlitetest"
)

func TestSQLite(t *testing.T) {
	dir := t.TempDir()
	testStore(t, func(t *testing.T) discord.Tickets { return tickets.OpenSQLite(sqlitetest.Open(t, dir)) })
}
