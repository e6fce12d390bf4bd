package manifest

import (
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// tree is a node of YAML. It is read from the syntax tree, where an alias stays one and is
// followed where it is read: what is small as text can't become large. The zero tree is of
// what is not there.
type tree struct {
	node    ast.Node
	anchors map[string]ast.Node // of the document, by their names
}

// pair is an entry of a mapping.
type pair struct {
	key   string
	line  int
	value tree
}

// parseYAML returns the first document of a file.
func parseYAML(content []byte) (tree, error) {
	if err := checkNesting(content); err != nil {
		return tree{}, err
	}
	file, err := parser.ParseBytes(content, 0)
	if err != nil {
		return tree{}, formatError(err)
	}
	if len(file.Docs) == 0 {
		return tree{}, nil
	}
	anchors := make(anchorFinder)
	ast.Walk(anchors, file.Docs[0].Body)
	return tree{file.Docs[0].Body, anchors}, nil
}

// anchorFinder notes the anchors of a document. Of several of one name the last counts.
type anchorFinder map[string]ast.Node

// Visit implements ast.Visitor.
func (f anchorFinder) Visit(node ast.Node) ast.Visitor {
	if anchor, ok := node.(*ast.AnchorNode); ok && anchor.Name != nil {
		f[anchor.Name.String()] = anchor.Value
	}
	return f
}

// Bounds of what is followed to find a value.
const (
	maxAliases = 8  // that lead from one to the next
	maxMerged  = 32 // mappings that are merged into one another
)

// unwrapNode passes tags and anchors, and follows aliases.
func (t tree) unwrapNode() ast.Node {
	node := t.node
	for aliases := 0; ; {
		switch n := node.(type) {
		case *ast.AnchorNode:
			node = n.Value
		case *ast.TagNode:
			node = n.Value
		case *ast.AliasNode:
			if aliases++; aliases > maxAliases || n.Value == nil {
				return nil
			}
			node = t.anchors[n.Value.String()]
		default:
			return node
		}
	}
}

// mappingPairs returns the entries of a mapping, none of anything else.
func (t tree) mappingPairs() []pair {
	var values []*ast.MappingValueNode
	switch n := t.unwrapNode().(type) {
	case *ast.MappingNode:
		values = n.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{n}
	}
	var all []pair
	for _, value := range values {
		key, ok := value.Key.(ast.ScalarNode)
		if !ok || value.Key.GetToken() == nil || value.Value == nil {
			continue
		}
		all = append(all, pair{key.GetToken().Value, key.GetToken().Position.Line, tree{value.Value, t.anchors}})
	}
	return all
}

// childOf returns the value of a key, which a mapping may have from one that it merges.
func (t tree) childOf(key string) tree { return t.mergedChild(key, make(map[ast.Node]bool)) }

// mergedChild looks for a key in a mapping that is none of the seen ones, and in those that
// it merges.
func (t tree) mergedChild(key string, seen map[ast.Node]bool) tree {
	node := t.unwrapNode()
	if node == nil || seen[node] || len(seen) == maxMerged {
		return tree{}
	}
	seen[node] = true
	pairs := t.mappingPairs()
	for _, p := range pairs {
		if p.key == key {
			return p.value
		}
	}
	for _, p := range pairs {
		if p.key != "<<" {
			continue
		}
		merged := p.value.listItems()
		if merged == nil {
			merged = []tree{p.value}
		}
		for _, one := range merged {
			if found := one.mergedChild(key, seen); found.node != nil {
				return found
			}
		}
	}
	return tree{}
}

// listItems returns the elements of a list.
func (t tree) listItems() []tree {
	list, ok := t.unwrapNode().(*ast.SequenceNode)
	if !ok {
		return nil
	}
	var all []tree
	for _, value := range list.Values {
		all = append(all, tree{value, t.anchors})
	}
	return all
}

// scalarText returns a scalar as it is written, "" for anything else.
func (t tree) scalarText() string {
	switch n := t.unwrapNode().(type) {
	case *ast.LiteralNode:
		if n.Value != nil {
			return n.Value.Value
		}
	case ast.ScalarNode:
		if n.GetToken() != nil {
			return n.GetToken().Value
		}
	}
	return ""
}

// lineNumber returns where a node begins, 0 for none: an alias where it stands.
func (t tree) lineNumber() int {
	node := t.node
	if node == nil || node.GetToken() == nil {
		return 0
	}
	return node.GetToken().Position.Line
}
