package web

import (
	_ "github.com/cairn-bot/cairn/internal/adapters/terminal" // want "flows, and adapters, do not import one another"
	_ "github.com/cairn-bot/cairn/internal/adapters/web/render"
	_ "github.com/cairn-bot/cairn/internal/bot" // want "adapters import chat alone, and what protects their ports"
	_ "github.com/cairn-bot/cairn/internal/chat"
	_ "github.com/cairn-bot/cairn/internal/chat/markup"
	_ "github.com/cairn-bot/cairn/internal/knowledge" // want "adapters import chat alone, and what protects their ports"
	_ "github.com/slack-go/slack"                     // want "slack-go is imported by adapters/slack alone"
	_ "github.com/slack-go/slackx"                    // want "slack-go is imported by adapters/slack alone"
	_ "golang.org/x/net/html"
)
