package audit

import (
	_ "log/slog"

	_ "cairn/internal/chat" // want "audit imports nothing of Cairn"
)
