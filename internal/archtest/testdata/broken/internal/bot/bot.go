package bot

import (
	_ "cairn/cmd/bot"                            // want "nothing imports a command"
	_ "cairn/internal/adapters/web"              // want "only app and cmd/bot import adapters"
	_ "cairn/internal/app"                       // want "only cmd/bot imports app"
	_ "cairn/internal/knowledge/index/embedded"  // want "only app and cmd/bot choose a backend"
	_ "cairn/internal/knowledge/index/indextest" // want "packages for tests are imported by tests alone"
)
