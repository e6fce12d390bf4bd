package chat

import (
	_ "cairn/internal/chat/markup"
	_ "cairn/internal/knowledge" // want "chat imports nothing of Cairn"
)
