package buildcontext

import (
	"github.com/cairn-bot/cairn/internal/graph/flows"
)

// Initial is the state that a run of a request begins with.
func (f *Flow) Initial(request flows.Request) State { return f.newState(request) }
