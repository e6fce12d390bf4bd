package access_test

import (
	"testing"

	"github.com/cairn-bot/cairn/internal/access"
	"github.com/cairn-bot/cairn/internal/sqlite/sqlitetest"
)

func TestSQLite(t *testing.T) {
	dir := t.TempDir()
	testStore(t, func(t *testing.T) access.Store { return access.OpenSQLite(sqlitetest.Open(t, dir)) })
}
