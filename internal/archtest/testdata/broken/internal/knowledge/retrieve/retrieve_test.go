package retrieve_test

import (
	_ "cairn/internal/config" // want "only app and cmd/bot import config"
	_ "cairn/internal/eval"
	_ "cairn/internal/knowledge/index/embedded"
)
