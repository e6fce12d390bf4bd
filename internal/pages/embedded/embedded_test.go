package embedded_test

import (
	"testing"

	"cairn/internal/pages"
	"cairn/internal/pages/embedded"
	"cairn/internal/pages/pagestest"
	"cairn/internal/sqlite/sqlitetest"
)

func TestStore(t *testing.T) {
	dir := t.TempDir()
	pagestest.Run(t, func(t *testing.T) pages.Backend { return embedded.Open(sqlitetest.Open(t, dir)) })
}
