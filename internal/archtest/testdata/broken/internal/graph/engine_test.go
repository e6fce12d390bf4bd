package graph

import (
	_ "testing"

	_ "cairn/internal/graph/graphtest"
)
