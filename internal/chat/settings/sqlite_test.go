package settings_test

import (
	"testing"

	"github.com/cairn-bot/cairn/internal/chat/settings"
	"github.com/cairn-bot/cairn/internal/sqlite/sqlitetest"
)

func TestSQLite(t *testing.T) {
	dir := t.TempDir()
	testStore(t, func(t *testing.T) settings.Store { return settings.OpenSQLite(sqlitetest.Open(t, dir)) })
}
