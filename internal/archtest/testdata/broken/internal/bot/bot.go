package bot

import (
	_ "github.com/cairn-bot/cairn/cmd/bot"                            // want "nothing imports a command"
	_ "github.com/cairn-bot/cairn/internal/adapters/web"              // want "only app and cmd/bot import adapters"
	_ "github.com/cairn-bot/cairn/internal/app"                       // want "only cmd/bot imports app"
	_ "github.com/cairn-bot/cairn/internal/knowledge/index/embedded"  // want "only app and cmd/bot choose a backend"
	_ "github.com/cairn-bot/cairn/internal/knowledge/index/indextest" // want "packages for tests are imported by tests alone"
)
