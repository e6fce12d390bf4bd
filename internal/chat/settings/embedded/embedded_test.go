package embedded_test

import (
	"testing"

	"cairn/internal/chat/settings"
	"cairn/internal/chat/settings/embedded"
	"cairn/internal/chat/settings/settingstest"
	"cairn/internal/sqlite/sqlitetest"
)

func TestStore(t *testing.T) {
	dir := t.TempDir()
	settingstest.Run(t, func(t *testing.T) settings.Store { return embedded.Open(sqlitetest.Open(t, dir)) })
}
