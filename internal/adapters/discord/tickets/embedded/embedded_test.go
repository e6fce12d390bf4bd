package embedded_test

import (
	"testing"

	"cairn/internal/adapters/discord"
	"cairn/internal/adapters/discord/tickets/embedded"
	"cairn/internal/adapters/discord/tickets/ticketstest"
	"cairn/internal/sqlite/sqlitetest"
)

func TestStore(t *testing.T) {
	dir := t.TempDir()
	ticketstest.Run(t, func(t *testing.T) discord.Tickets { return embedded.Open(sqlitetest.Open(t, dir)) })
}
