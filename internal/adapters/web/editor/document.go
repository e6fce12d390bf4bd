package editor

import (
	"bytes"
	"encoding/json"
	"slices"
	"sync"

	"github.com/cairn-bot/cairn/internal/pages"
	"github.com/cairn-bot/cairn/internal/pages/tree"
)

// document is a version of a page as browsers keep it: its blocks right below the root, as
// Lexical's JSON, by their ids. It never changes.
type document struct {
	version int
	title   string
	order   []string
	blocks  map[string][]byte
}

func newDocument(version int, title string, root *tree.Node) *document {
	d := &document{version: version, title: title, blocks: make(map[string][]byte, len(root.Children))}
	for _, block := range root.Children {
		d.order = append(d.order, block.ID)
		d.blocks[block.ID] = tree.EncodeNodeForEditor(block)
	}
	return d
}

// blockChange is a change of one block right below the root. Changes are made one after the
// other: those that remove first, then in the order of the document.
type blockChange struct {
	ID string `json:"id"`
	// Node is the block as it is now; null where it is removed, or only moved.
	Node json.RawMessage `json:"node,omitempty"`
	// Base is the block that a browser made its change of; none for one that is new.
	Base    json.RawMessage `json:"base,omitempty"`
	Removed bool            `json:"removed,omitempty"`
	// After is the block behind which this one stands, "" for the beginning; nil where it
	// stays where it is.
	After *string `json:"after,omitempty"`
}

// compareDocuments gives what changed from one version to another.
func compareDocuments(before, after *document) []blockChange {
	changes := []blockChange{}
	for _, id := range before.order {
		if _, ok := after.blocks[id]; !ok {
			changes = append(changes, blockChange{ID: id, Removed: true})
		}
	}
	stays := findUnmoved(before.order, after.order)
	last := ""
	for _, id := range after.order {
		change := blockChange{ID: id}
		was, ok := before.blocks[id]
		if !ok || !bytes.Equal(was, after.blocks[id]) {
			change.Node = after.blocks[id]
		}
		if !stays[id] {
			behind := last
			change.After = &behind
		}
		if change.Node != nil || change.After != nil {
			changes = append(changes, change)
		}
		last = id
	}
	return changes
}

// findUnmoved gives the most ids that come in the same order in both lists: their longest
// increasing subsequence by their places in the first.
func findUnmoved(before, after []string) map[string]bool {
	places := make(map[string]int, len(before))
	for i, id := range before {
		places[id] = i
	}
	var ends []int                      // of subsequences, by their length: an index of after
	previous := make([]int, len(after)) // in the subsequence that ends at an index
	place := func(end int) int { return places[after[end]] }
	for i, id := range after {
		if _, ok := places[id]; !ok {
			continue
		}
		length, _ := slices.BinarySearchFunc(ends, places[id], func(end, wanted int) int { return place(end) - wanted })
		previous[i] = -1
		if length > 0 {
			previous[i] = ends[length-1]
		}
		ends = append(ends[:length], append([]int{i}, ends[min(length+1, len(ends)):]...)...)
	}
	stays := make(map[string]bool, len(ends))
	if len(ends) > 0 {
		for i := ends[len(ends)-1]; i >= 0; i = previous[i] {
			stays[after[i]] = true
		}
	}
	return stays
}

// applyChanges gives the tree that a browser changed, and what it became: base is the version
// that the browser had, with the blocks as they were when it changed them.
func applyChanges(root *tree.Node, changes []blockChange) (base, edited *tree.Node, err error) {
	base = root.Clone()
	for _, change := range changes {
		if change.Base == nil {
			continue
		}
		was, err := decodeBlock(change.ID, change.Base)
		if err != nil {
			return nil, nil, err
		}
		if at := findBlock(base, change.ID); at >= 0 {
			base.Children[at] = was
		} else {
			insertBlock(base, was, change.After)
		}
	}
	edited = base.Clone()
	for _, change := range changes {
		at := findBlock(edited, change.ID)
		var block *tree.Node
		if at >= 0 {
			block = edited.Children[at]
		}
		if change.Node != nil {
			if block, err = decodeBlock(change.ID, change.Node); err != nil {
				return nil, nil, err
			}
		}
		switch {
		case change.Removed && at >= 0:
			edited.Children = slices.Delete(edited.Children, at, at+1)
		case change.Removed || block == nil:
		case at >= 0 && change.After == nil:
			edited.Children[at] = block
		default:
			if at >= 0 {
				edited.Children = slices.Delete(edited.Children, at, at+1)
			}
			insertBlock(edited, block, change.After)
		}
	}
	return base, edited, nil
}

func decodeBlock(id string, data []byte) (*tree.Node, error) {
	block, err := tree.DecodeNode(data)
	if err != nil {
		return nil, err
	}
	if block.Kind == tree.Root || block.IsInline() {
		return nil, &tree.Error{Node: id, Reason: "it is no block of a page"}
	}
	if block.IsKnown() && tree.ValidID(id) {
		block.ID = id
	}
	return block, nil
}

func findBlock(root *tree.Node, id string) int {
	return slices.IndexFunc(root.Children, func(n *tree.Node) bool { return n.ID == id })
}

// insertBlock puts a block behind another; at the end where that is not there.
func insertBlock(root, block *tree.Node, after *string) {
	at := len(root.Children)
	if after != nil && *after == "" {
		at = 0
	} else if after != nil {
		if found := findBlock(root, *after); found >= 0 {
			at = found + 1
		}
	}
	root.Children = slices.Insert(root.Children, at, block)
}

// recent keeps the documents that were asked for last, since all who look at a page ask for the
// same ones. The zero recent is empty.
type recent struct {
	mu   sync.Mutex
	kept []keptDocument // the last asked for last
}

type keptDocument struct {
	page pages.PageID
	*document
}

// maxRecent is how many documents are kept; the largest take 4 MB.
const maxRecent = 6

func (r *recent) find(page pages.PageID, version int) *document {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := slices.IndexFunc(r.kept, func(k keptDocument) bool { return k.page == page && k.version == version })
	if at < 0 {
		return nil
	}
	found := r.kept[at]
	r.kept = append(slices.Delete(r.kept, at, at+1), found)
	return found.document
}

func (r *recent) keep(page pages.PageID, d *document) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.kept) == maxRecent {
		r.kept = slices.Delete(r.kept, 0, 1)
	}
	r.kept = append(r.kept, keptDocument{page, d})
}
