package graph

// NodeKind says what sort of node a Shape shows.
type NodeKind string

// The kinds of nodes: one that runs, one that may ask a person (Policy.Asks), and one
// that runs a nested graph.
const (
	KindNode     NodeKind = "node"
	KindQuestion NodeKind = "question"
	KindNested   NodeKind = "nested"
)

// Shape is a graph as it is drawn.
type Shape struct {
	Name  string
	Start string
	Nodes []ShapeNode // in order of declaration; End is not among them
	Edges []ShapeEdge
}

// ShapeNode is a node as it is drawn.
type ShapeNode struct {
	Name        string
	Description string
	Kind        NodeKind
	Nested      *Shape // for KindNested
}

// ShapeEdge is one way from a node to another, or to End.
type ShapeEdge struct {
	From, To    string
	Label       string
	Conditional bool // taken only when the node's route chooses it
	Join        bool // To waits for all edges of this kind
}

// Shape returns the graph for drawing.
func (c *Compiled[S]) Shape() Shape {
	shape := Shape{Name: c.name, Start: c.start.name}
	for _, n := range c.nodes {
		shown := ShapeNode{Name: n.name, Description: n.policy.Description, Kind: KindNode}
		if n.policy.Asks {
			shown.Kind = KindQuestion
		}
		if n.nested != nil {
			nested := n.nested.nestedShape()
			shown.Kind, shown.Nested = KindNested, &nested
		}
		shape.Nodes = append(shape.Nodes, shown)
		for _, way := range n.ways {
			if way.join != nil {
				shape.Edges = append(shape.Edges, c.labelEdge(n.name, way.join.node.name, ShapeEdge{Join: true}))
			}
			for _, to := range way.names {
				shape.Edges = append(shape.Edges, c.labelEdge(n.name, to, ShapeEdge{Conditional: way.choose != nil}))
			}
		}
	}
	return shape
}

func (c *Compiled[S]) labelEdge(from, to string, edge ShapeEdge) ShapeEdge {
	edge.From, edge.To, edge.Label = from, to, c.labels[[2]string{from, to}]
	return edge
}
