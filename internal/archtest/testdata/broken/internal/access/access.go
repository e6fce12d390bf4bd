package access

import (
	_ "cairn/internal/chat"
	_ "cairn/internal/knowledge"
	_ "cairn/internal/session" // want "access imports chat and the words of knowledge, never an index or a bot"
)
