package bot

import (
	_ "cairn/cmd/bot"                            // want "nothing imports a command"
	_ "cairn/internal/adapters/web"              // want "only cmd/bot imports adapters"
	_ "cairn/internal/knowledge/index/embedded"  // want "only cmd/bot chooses a backend"
	_ "cairn/internal/knowledge/index/indextest" // want "packages for tests are imported by tests alone"
)
