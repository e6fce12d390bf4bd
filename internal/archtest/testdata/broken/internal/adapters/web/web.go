package web

import (
	_ "cairn/internal/adapters/terminal" // want "flows, and adapters, do not import one another"
	_ "cairn/internal/adapters/web/render"
	_ "cairn/internal/bot" // want "adapters import chat alone, and what protects their ports"
	_ "cairn/internal/chat"
	_ "cairn/internal/chat/markup"
	_ "cairn/internal/knowledge"   // want "adapters import chat alone, and what protects their ports"
	_ "github.com/slack-go/slack"  // want "slack-go is imported by adapters/slack alone"
	_ "github.com/slack-go/slackx" // want "slack-go is imported by adapters/slack alone"
	_ "golang.org/x/net/html"
)
