package graph

import (
	_ "context"
	_ "go/parser"

	_ "cairn/internal/graph/draw"
	_ "cairn/internal/graph/flows"    // want "the engine in graph knows no flow"
	_ "cairn/internal/graph/flows/qa" // want "the engine in graph knows no flow"
	_ "cairn/internal/knowledge"      // want "the engine in graph imports the standard library alone"
	_ "golang.org/x/sync/errgroup"    // want "the engine in graph imports the standard library alone"
)
