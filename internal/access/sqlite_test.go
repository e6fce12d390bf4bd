package access_test

import (
	"testing"

	"cairn/internal/access"
	"cairn/internal/sqlite/sqlitetest"
)

func TestSQLite(t *testing.T) {
	dir := t.TempDir()
	testStore(t, func(t *testing.T) access.Store { return access.OpenSQLite(sqlitetest.Open(t, dir)) })
}
