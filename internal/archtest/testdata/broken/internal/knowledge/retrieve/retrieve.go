package retrieve

import (
	_ "cairn/internal/chat/markup" // want "knowledge imports neither conversations nor what is built on it"
	_ "cairn/internal/config"      // want "only app and cmd/bot import config"
	_ "cairn/internal/eval"        // want "only cmd/bot and tests import eval"
	_ "cairn/internal/knowledge"
)
