package chat

import (
	_ "github.com/cairn-bot/cairn/internal/chat/markup"
	_ "github.com/cairn-bot/cairn/internal/knowledge" // want "chat imports nothing of Cairn"
)
