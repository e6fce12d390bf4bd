package installs_test

import (
	"testing"

	"cairn/internal/adapters/slack"
	"cairn/internal/adapters/slack/installs"
	"cairn/internal/sqlite/sqlitetest"
)

func TestSQLite(t *testing.T) {
	dir := t.TempDir()
	testStore(t, func(t *testing.T) slack.Installs { return installs.OpenSQLite(sqlitetest.Open(t, dir)) })
}
