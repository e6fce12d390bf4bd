package pace_test

import (
	"testing"

	"cairn/internal/adapters/slack/pace"
	"cairn/internal/adapters/slack/pace/pacetest"
)

func TestLocal(t *testing.T) {
	pacetest.Run(t, func(*testing.T) (one, other pace.Turns) {
		turns := pace.NewLocal(nil)
		return turns, turns
	})
}
