package access

import (
	_ "github.com/cairn-bot/cairn/internal/chat"
	_ "github.com/cairn-bot/cairn/internal/knowledge"
	_ "github.com/cairn-bot/cairn/internal/session" // want "access imports chat and the words of knowledge, never an index or a bot"
)
