package chattest

import (
	_ "cairn/internal/chat"
	_ "cairn/internal/chat/transcripttest"
)
