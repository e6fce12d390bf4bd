// Package graph runs flows: typed nodes and edges over a typed state, with a
// checkpoint after every step, questions to people, and resumption after a crash. It
// knows no chat, no store and no model, and uses the standard library only.
//
// # A graph
//
// New takes the fields of the state: each a named slot with its reducer (Replace,
// Append, Merge). Node, Sub, Edge, Route and Join build the graph; Compile checks it
// and reports every mistake at once; Compiled.Start and Compiled.Resume run it.
//
// A node reads the state and returns changes as data. It never writes to the state:
// branches that run at the same time share it.
//
// # A run
//
// A run goes in steps. The nodes of a step run in parallel, each by its Policy, and
// see the state as it was before the step. When all have finished, their changes are
// folded into the state in the order in which the nodes were led to: that of the
// finished nodes of the step before, and for one node that of its edges as declared.
// Which node finished first makes no difference. Then the edges decide on the next
// step. A Join waits over several steps until all its branches have come.
//
// A node that returns Ask pauses. Its siblings go on; when nothing is left to run,
// Start or Resume returns Waiting with every question that stands. Answers may come
// together or one by one. An answered node runs again with its answer; what finished
// is not run again. A question's id is made from the run, the node's place, its visit
// and the key, so that it is the same after any restart.
//
// A node that fails is run again as its Policy says, after a pause. One that fails for
// good, or panics, ends the call with a NodeError. Siblings are cancelled, and what they
// finished is kept: the next Resume runs the rest. A save that fails ends the call with
// a SaveError. Cancelling ctx ends it before the next node, and inside a node as soon as
// the node returns: the engine never abandons a goroutine, and so relies on nodes that
// honour their ctx, for time-outs too.
//
// # The checkpoint
//
// A run has one checkpoint, a JSON document that each save replaces: after every
// step, when a branch finishes before its siblings, when a question is raised and when
// answers come in. A save encodes the values that changed since the one before it.
//
//	{
//	  "format": 2,              version of this layout
//	  "run": "…",
//	  "seq": 17,                number of the last event
//	  "answered": [{            every answer that the run took, in order
//	    "question_id": "…", "choice": "…", "text": "…", "by": "…", "at": "…"
//	  }],
//	  "graph": {
//	    "name": "answer", "version": 3,
//	    "steps": 4,             finished steps
//	    "done": true,           left out until there is nothing more to run
//	    "state": {field: value},
//	    "tasks": [{             the nodes of the step that runs, in merge order
//	      "node": "…", "visit": 1,
//	      "done": true, "changes": [{field: value}, …],
//	      "question": {         what the node waits for
//	        "key": "…", "id": "…", "text": "…", "who": "asker",
//	        "choices": [{"id": "…", "label": "…", "detail": "…"}],
//	        "free_text": true, "deadline_ns": 0
//	      },
//	      "answers": [{"key": "…", "question": id}],   which of answered it has had
//	      "sub": {…}            a nested graph's position, of the form of "graph"
//	    }],
//	    "joins": {join: [nodes that have come]},
//	    "visits": {node: how often the run has come to it}
//	  }
//	}
//
// What is empty or false is left out. A part that this list does not have is an error,
// as is a count out of range or a question that nobody could have asked
// (CheckpointError): a run is never taken up from what is understood in part.
//
// Format 1 is read too (format1.go), and replaced at the next save. It had "answered"
// as an object by question id, each task's answers whole ({"key": …, "answer": {…}}),
// and "node" in each question.
//
// An older graph's checkpoint is read where the graph says how: Field.Was for a renamed
// field, Retired for one that went, Alias for a renamed node, Migrate for a new meaning.
// What is left unexplained is an error (SchemaError, UnknownNodeError,
// UnknownFieldError) and the checkpoint stays as it is.
//
// # Reading order
//
// field.go (state), step.go (what nodes see), graph.go and compile.go (the plan),
// frame.go (steps), task.go (one node), session.go (saving, events), run.go (Start,
// Resume, answers), encode.go (writing a checkpoint), decode.go, format1.go and
// checkpoint.go (reading one), nested.go, shape.go.
package graph
