package operations

import (
	_ "github.com/cairn-bot/cairn/internal/adapters/web"
	_ "github.com/cairn-bot/cairn/internal/bot" // want "the operations page imports the web page, and contracts of what it shows"
	_ "github.com/cairn-bot/cairn/internal/runs"
)
