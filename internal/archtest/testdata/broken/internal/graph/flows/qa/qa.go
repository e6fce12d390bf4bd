package qa

import (
	_ "cairn/internal/chat" // want "flows import the engine and what they look at, never sessions, chat or adapters"
	_ "cairn/internal/graph"
	_ "cairn/internal/graph/flows"
	_ "cairn/internal/graph/flows/page" // want "flows, and adapters, do not import one another"
	_ "cairn/internal/graph/flows/qa/words"
	_ "cairn/internal/knowledge/index"
	_ "cairn/internal/session" // want "flows import the engine and what they look at, never sessions, chat or adapters"
)
