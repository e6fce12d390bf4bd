package bot

import (
	_ "cairn/cmd/bot" // want "nothing imports a command"
	_ "cairn/internal/adapters/terminal"
	_ "cairn/internal/chat/chattest"
)
