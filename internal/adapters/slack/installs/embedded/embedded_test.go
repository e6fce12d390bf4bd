package embedded_test

import (
	"testing"

	"cairn/internal/adapters/slack"
	"cairn/internal/adapters/slack/installs/embedded"
	"cairn/internal/adapters/slack/installs/installstest"
	"cairn/internal/sqlite/sqlitetest"
)

func TestStore(t *testing.T) {
	dir := t.TempDir()
	installstest.Run(t, func(t *testing.T) slack.Installs { return embedded.Open(sqlitetest.Open(t, dir)) })
}
