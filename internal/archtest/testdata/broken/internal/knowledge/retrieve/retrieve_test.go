package retrieve_test

import (
	_ "github.com/cairn-bot/cairn/internal/config" // want "only app and cmd/bot import config"
	_ "github.com/cairn-bot/cairn/internal/eval"
	_ "github.com/cairn-bot/cairn/internal/knowledge/index/embedded"
)
