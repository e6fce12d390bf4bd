package pages_test

import (
	"testing"

	"github.com/cairn-bot/cairn/internal/pages"
	"github.com/cairn-bot/cairn/internal/pages/pagestest"
	"github.com/cairn-bot/cairn/internal/sqlite/sqlitetest"
)

func TestSQLite(t *testing.T) {
	dir := t.TempDir()
	pagestest.Run(t, func(t *testing.T) pages.Backend { return pages.OpenSQLite(sqlitetest.Open(t, dir)) })
}
