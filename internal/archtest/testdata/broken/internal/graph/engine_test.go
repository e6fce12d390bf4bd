package graph

import (
	_ "testing"

	_ "github.com/cairn-bot/cairn/internal/graph/graphtest"
)
