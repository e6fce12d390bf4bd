package operations

import (
	_ "cairn/internal/adapters/web"
	_ "cairn/internal/bot" // want "the operations page imports the web page, and contracts of what it shows"
	_ "cairn/internal/runs"
)
