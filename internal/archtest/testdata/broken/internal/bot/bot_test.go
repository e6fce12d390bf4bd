package bot

import (
	_ "github.com/cairn-bot/cairn/cmd/bot" // want "nothing imports a command"
	_ "github.com/cairn-bot/cairn/internal/adapters/terminal"
	_ "github.com/cairn-bot/cairn/internal/chat/chattest"
)
