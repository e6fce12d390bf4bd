package merge

import "github.com/cairn-bot/cairn/internal/pages/tree"

// sides are a page and the two changes of it that are merged.
type sides struct{ base, ours, theirs *tree.Node }

// folds are runs of blocks, each by the id of the rule that stands for it.
type folds map[string][]*tree.Node

// minFold is how many blocks make a run: its first and its last stay where they are, for what
// comes to stand beside them may join them.
const minFold = 3

// foldUnchanged gives the three trees without what nobody changed: of each run of blocks right
// below the root that is the same in all three, one rule stands for the inner ones. The time of
// a merge then follows what was changed, not how long the page is.
func foldUnchanged(base, ours, theirs *tree.Node) (sides, folds) {
	inOurs, inTheirs := positions(ours), positions(theirs)
	was, mine, other := newFolding(base), newFolding(ours), newFolding(theirs)
	same := make(folds)
	for at := 0; at < len(base.Children); {
		a, okOurs := inOurs[base.Children[at].ID]
		b, okTheirs := inTheirs[base.Children[at].ID]
		if !okOurs || !okTheirs {
			at++
			continue
		}
		run := runLength(base.Children[at:], ours.Children[a:], theirs.Children[b:])
		if run >= minFold {
			rule := tree.NewBlock(tree.Rule)
			rule.ID = tree.RandomID()
			same[rule.ID] = base.Children[at+1 : at+run-1]
			was.fold(at+1, at+run-1, rule)
			mine.fold(a+1, a+run-1, rule)
			other.fold(b+1, b+run-1, rule)
		}
		at += max(run, 1)
	}
	return sides{was.root(), mine.root(), other.root()}, same
}

// positions gives where each block right below the root stands.
func positions(root *tree.Node) map[string]int {
	at := make(map[string]int, len(root.Children))
	for i, child := range root.Children {
		at[child.ID] = i
	}
	return at
}

// runLength counts the blocks that three lists begin with alike.
func runLength(base, ours, theirs []*tree.Node) int {
	length := 0
	for length < min(len(base), len(ours), len(theirs)) && base[length].Equal(ours[length]) && base[length].Equal(theirs[length]) {
		length++
	}
	return length
}

// folding is a tree whose blocks are being folded.
type folding struct {
	whole  *tree.Node
	folded []bool             // by the position of a block
	rules  map[int]*tree.Node // by the position of the first that it stands for
}

func newFolding(root *tree.Node) folding {
	return folding{root, make([]bool, len(root.Children)), make(map[int]*tree.Node)}
}

// fold has a rule stand for the blocks from one position to before another.
func (f folding) fold(from, to int, rule *tree.Node) {
	f.rules[from] = rule
	for i := from; i < to; i++ {
		f.folded[i] = true
	}
}

// root gives the tree with its rules. It shares its blocks with the whole one.
func (f folding) root() *tree.Node {
	root := *f.whole
	root.Children = nil
	for i, child := range f.whole.Children {
		switch rule := f.rules[i]; {
		case rule != nil:
			root.Children = append(root.Children, rule)
		case !f.folded[i]:
			root.Children = append(root.Children, child)
		}
	}
	return &root
}

// unfold puts copies of the blocks in the places of their rules.
func (f folds) unfold(root *tree.Node) {
	var whole []*tree.Node
	for _, n := range root.Children {
		run, ok := f[n.ID]
		if !ok {
			whole = append(whole, n)
		}
		for _, unchanged := range run {
			whole = append(whole, unchanged.Clone())
		}
	}
	root.Children = whole
}
