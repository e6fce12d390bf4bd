package installs_test

import (
	"testing"

	"github.com/cairn-bot/cairn/internal/adapters/slack"
	"github.com/cairn-bot/cairn/internal/adapters/slack/installs"
	"github.com/cairn-bot/cairn/internal/sqlite/sqlitetest"
)

func TestSQLite(t *testing.T) {
	dir := t.TempDir()
	testStore(t, func(t *testing.T) slack.Installs { return installs.OpenSQLite(sqlitetest.Open(t, dir)) })
}
