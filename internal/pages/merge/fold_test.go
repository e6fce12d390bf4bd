package merge

import "github.com/cairn-bot/cairn/internal/pages/tree"

// MergeWhole is Merge with nothing folded, for tests to compare with.
func MergeWhole(base, ours, theirs *tree.Node, choice Choice) (*tree.Node, []Conflict, error) {
	return mergeTrees(base, ours, theirs, choice)
}
