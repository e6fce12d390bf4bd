package embedded_test

import (
	"testing"

	"cairn/internal/access"
	"cairn/internal/access/accesstest"
	"cairn/internal/access/embedded"
	"cairn/internal/sqlite/sqlitetest"
)

func TestStore(t *testing.T) {
	dir := t.TempDir()
	accesstest.Run(t, func(t *testing.T) access.Store { return embedded.Open(sqlitetest.Open(t, dir)) })
}
