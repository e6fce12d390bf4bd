package audit

import (
	_ "log/slog"

	_ "github.com/cairn-bot/cairn/internal/chat" // want "audit imports nothing of Cairn"
)
