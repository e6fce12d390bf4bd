package retrieve_test

import (
	_ "cairn/internal/config" // want "only cmd/bot imports config"
	_ "cairn/internal/eval"
	_ "cairn/internal/knowledge/index/embedded"
)
