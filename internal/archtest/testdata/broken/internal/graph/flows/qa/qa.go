package qa

import (
	_ "github.com/cairn-bot/cairn/internal/chat" // want "flows import the engine and what they look at, never sessions, chat or adapters"
	_ "github.com/cairn-bot/cairn/internal/graph"
	_ "github.com/cairn-bot/cairn/internal/graph/flows"
	_ "github.com/cairn-bot/cairn/internal/graph/flows/page" // want "flows, and adapters, do not import one another"
	_ "github.com/cairn-bot/cairn/internal/graph/flows/qa/words"
	_ "github.com/cairn-bot/cairn/internal/knowledge/index"
	_ "github.com/cairn-bot/cairn/internal/session" // want "flows import the engine and what they look at, never sessions, chat or adapters"
)
