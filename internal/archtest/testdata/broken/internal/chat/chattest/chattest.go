package chattest

import (
	_ "github.com/cairn-bot/cairn/internal/chat"
	_ "github.com/cairn-bot/cairn/internal/chat/transcripttest"
)
