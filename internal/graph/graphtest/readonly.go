package graphtest

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"github.com/cairn-bot/cairn/internal/graph"
)

// Reporter is the part of testing.TB that ReadOnly reports to.
type Reporter interface {
	Errorf(format string, args ...any)
}

// ReadOnly returns the node with a check around it: what the state encodes to must be
// the same after the node as before it.
func ReadOnly[S any](t Reporter, node graph.Node[S]) graph.Node[S] {
	return func(ctx context.Context, step graph.Step[S]) (graph.Result[S], error) {
		before, err := hashState(step.State)
		if err != nil {
			return graph.Result[S]{}, err
		}
		state := step.State
		result, nodeErr := node(ctx, step)
		after, err := hashState(state)
		if err != nil {
			return graph.Result[S]{}, err
		}
		if before != after {
			t.Errorf("node %q wrote to the state that it was given", step.Node)
		}
		return result, nodeErr
	}
}

func hashState[S any](state S) ([sha256.Size]byte, error) {
	raw, err := json.Marshal(state)
	if err != nil {
		return [sha256.Size]byte{}, fmt.Errorf("encode state: %w", err)
	}
	return sha256.Sum256(raw), nil
}
