package graph

import (
	_ "context"
	_ "go/parser"

	_ "github.com/cairn-bot/cairn/internal/graph/draw"
	_ "github.com/cairn-bot/cairn/internal/graph/flows"    // want "the engine in graph knows no flow"
	_ "github.com/cairn-bot/cairn/internal/graph/flows/qa" // want "the engine in graph knows no flow"
	_ "github.com/cairn-bot/cairn/internal/knowledge"      // want "the engine in graph imports the standard library alone"
	_ "golang.org/x/sync/errgroup"                         // want "the engine in graph imports the standard library alone"
)
