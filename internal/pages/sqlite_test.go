package pages_test

import (
	"testing"

	"cairn/internal/pages"
	"cairn/internal/pages/pagestest"
	"cairn/internal/sqlite/sqlitetest"
)

func TestSQLite(t *testing.T) {
	dir := t.TempDir()
	pagestest.Run(t, func(t *testing.T) pages.Backend { return pages.OpenSQLite(sqlitetest.Open(t, dir)) })
}
