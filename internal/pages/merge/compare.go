package merge

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/cairn-bot/cairn/internal/pages/tree"
	"github.com/cairn-bot/cairn/internal/shorten"
)

// Change is what differs in one block between two versions. "" stands for a block that is
// not there.
type Change struct {
	Block  string // its id
	Before string // as Markdown
	After  string
	Moved  bool // it stands elsewhere
}

// Compare gives what differs between two versions of a page, in the order of the later one;
// what is gone comes first. Blocks are the smallest that hold text of their own.
func Compare(before, after *tree.Node) []Change {
	was, is := indexOf(before), indexOf(after)
	m := &merger{}
	var changes []Change
	for _, id := range was.order {
		old := was.blocks[id]
		if is.blocks[id] == nil && old.isShown() {
			changes = append(changes, Change{Block: id, Before: m.show(old)})
		}
	}
	for _, id := range is.order {
		now, old := is.blocks[id], was.blocks[id]
		switch {
		case !now.isShown():
		case old == nil:
			changes = append(changes, Change{Block: id, After: m.show(now)})
		case !isUnchanged(old, now):
			changes = append(changes, Change{Block: id, Before: m.show(old), After: m.show(now)})
		}
	}
	return append(changes, moves(was, is)...)
}

// isShown tells a block that people see something of: text, or a rule.
func (b *block) isShown() bool {
	return len(b.line) > 0 || b.node.Kind == tree.Rule || !b.node.IsKnown()
}

// moves gives the blocks that stand elsewhere among those of both versions.
func moves(was, is *index) []Change {
	var changes []Change
	for _, id := range is.order {
		now, old := is.blocks[id], was.blocks[id]
		if old != nil && id != tree.RootID && old.parent != now.parent && (now.isShown() || len(now.children) > 0) {
			changes = append(changes, Change{Block: id, Moved: true})
		}
	}
	for _, id := range is.order {
		old := was.blocks[id]
		if old == nil || isSameOrder(old.children, is.blocks[id].children) {
			continue
		}
		changes = append(changes, Change{Block: id, Moved: true})
	}
	return changes
}

// maxShown is how many lines a diff has, and maxLine how long each is, in letters.
const (
	maxShown = 12
	maxLine  = 300
)

// Diff writes changes for people, as Markdown: a line with − for what was and one with + for
// what is, at most 12, and a line that counts the rest. whole says that there is no rest.
func Diff(changes []Change) (text string, whole bool) {
	var b bytes.Buffer
	lines, left, moved := 0, 0, 0
	add := func(sign, text string) {
		if text == "" {
			return
		}
		if lines++; lines > maxShown {
			left++
			return
		}
		fmt.Fprintf(&b, "%s %s\n", sign, shorten.Line(text, maxLine))
	}
	for _, change := range changes {
		if change.Moved {
			moved++
			continue
		}
		add("−", change.Before)
		add("+", change.After)
	}
	text = "```\n" + strings.ReplaceAll(b.String(), "```", "ʼʼʼ") + "```"
	if b.Len() == 0 {
		text = ""
	}
	if moved > 0 {
		text = strings.TrimLeft(fmt.Sprintf("%s\nMoved: %d.", text, moved), "\n")
	}
	if left > 0 {
		text += fmt.Sprintf("\n… and %d more lines.", left)
	}
	return text, left == 0
}
