package manifest

import (
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// tree is a node of YAML. It is read from the syntax tree, where an alias stays one: what
// is small as text can't become large. The zero tree is of what is not there.
type tree struct{ node ast.Node }

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
	return tree{file.Docs[0].Body}, nil
}

// unwrapNode passes tags and anchors.
func (t tree) unwrapNode() ast.Node {
	node := t.node
	for {
		switch n := node.(type) {
		case *ast.AnchorNode:
			node = n.Value
		case *ast.TagNode:
			node = n.Value
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
		all = append(all, pair{key.GetToken().Value, key.GetToken().Position.Line, tree{value.Value}})
	}
	return all
}

// childOf returns the value of a key.
func (t tree) childOf(key string) tree {
	for _, p := range t.mappingPairs() {
		if p.key == key {
			return p.value
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
		all = append(all, tree{value})
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

// lineNumber returns where a node begins, 0 for none.
func (t tree) lineNumber() int {
	node := t.unwrapNode()
	if node == nil || node.GetToken() == nil {
		return 0
	}
	return node.GetToken().Position.Line
}
