package retrieve

import (
	_ "github.com/cairn-bot/cairn/internal/chat/markup" // want "knowledge imports neither conversations nor what is built on it"
	_ "github.com/cairn-bot/cairn/internal/config"      // want "only app and cmd/bot import config"
	_ "github.com/cairn-bot/cairn/internal/eval"        // want "only cmd/bot and tests import eval"
	_ "github.com/cairn-bot/cairn/internal/knowledge"
)
