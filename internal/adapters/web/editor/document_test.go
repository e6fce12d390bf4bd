package editor

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cairn-bot/cairn/internal/pages/tree"
)

var seed = flag.Uint64("editor.seed", 1, "seed of random pages")

// randomPage makes a page of paragraphs, some of which a page before has as well.
func randomPage(random *rand.Rand, before *tree.Node) *tree.Node {
	root := tree.New()
	root.Children = nil
	ids := random.Perm(12)[:1+random.IntN(10)]
	for _, id := range ids {
		block := tree.NewBlock(tree.Paragraph, tree.NewText(fmt.Sprintf("text %d", random.IntN(3)), 0))
		block.ID, block.Children[0].ID = fmt.Sprintf("n%d", id), fmt.Sprintf("t%d", id)
		root.Children = append(root.Children, block)
	}
	if before != nil && random.IntN(2) == 0 { // most of it in the same order
		added := slices.DeleteFunc(root.Children, func(n *tree.Node) bool { return findBlock(before, n.ID) >= 0 })
		root.Children = slices.Concat(before.Clone().Children, added)
		at := random.IntN(len(root.Children))
		root.Children = slices.Concat(root.Children[at:], root.Children[:at])
	}
	return root
}

// TestChangesLeadFromOneVersionToAnother also sees that they are made of JSON.
func TestChangesLeadFromOneVersionToAnother(t *testing.T) {
	t.Logf("-editor.seed=%d", *seed)
	random := rand.New(rand.NewPCG(*seed, 0)) //nolint:gosec // no secret
	for range 2000 {
		before := randomPage(random, nil)
		after := randomPage(random, before)
		sent, err := json.Marshal(compareDocuments(newDocument(1, "", before), newDocument(2, "", after)))
		if err != nil {
			t.Fatal(err)
		}
		var changes []blockChange
		if err := json.Unmarshal(sent, &changes); err != nil {
			t.Fatal(err)
		}
		base, edited, err := applyChanges(before, changes)
		if err != nil {
			t.Fatal(err)
		}
		if !edited.Equal(after) || !base.Equal(before) {
			t.Fatalf("from\n%s\nto\n%s\nby %s is\n%s", tree.XML(before), tree.XML(after), sent, tree.XML(edited))
		}
	}
}

func FuzzChanges(f *testing.F) {
	f.Add([]byte(`[{"id": "n1", "removed": true}, {"id": "n2", "node": {"type": "paragraph", "children": []}, "after": "n3"}]`))
	f.Add([]byte(`[{"id": "n9", "base": {"type": "heading", "tag": "h2"}, "node": {"type": "list"}, "after": ""}, {"id": "n9", "after": "n9"}]`))
	f.Fuzz(func(_ *testing.T, sent []byte) {
		var changes []blockChange
		if json.Unmarshal(sent, &changes) != nil {
			return
		}
		root := randomPage(rand.New(rand.NewPCG(1, 1)), nil) //nolint:gosec // no secret
		_, edited, err := applyChanges(root, changes)
		if err != nil {
			return
		}
		tree.AssignIDs(edited, tree.RandomID)
		if tree.Normalize(edited) == nil {
			tree.Encode(edited)
		}
	})
}
