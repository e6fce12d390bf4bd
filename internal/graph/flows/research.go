package flows

import "time"

// ResearchStep is a part of a run as people are shown it, by a flow that names its own parts
// instead of the nodes of its graph.
type ResearchStep struct {
	ID          string // "query-analysis"
	Description string // for people
	Status      ResearchStatus
	Took        time.Duration // where it ended
	Seq         int64         // of the event that told of it
}

// ResearchStatus is how far a research step is.
type ResearchStatus string

// A step is pending, then running, then one of the others.
const (
	Pending   ResearchStatus = "pending"
	Running   ResearchStatus = "running"
	Completed ResearchStatus = "completed"
	Failed    ResearchStatus = "failed"
	Skipped   ResearchStatus = "skipped"
)
