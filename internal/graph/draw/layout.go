package draw

import (
	"cmp"
	"slices"

	"github.com/cairn-bot/cairn/internal/graph"
)

// Distances in pixels.
const (
	gapX      = 28.0 // between boxes of a layer
	gapY      = 46.0 // between layers
	gapBend   = 14.0 // between edges that pass through a layer
	margin    = 16.0
	dotRadius = 6.0
)

type point struct{ x, y float64 }

// box is a placed node, or a bend of an edge that passes through a layer (node nil).
type box struct {
	name          string // begin and graph.End for the dots
	node          *graph.ShapeNode
	words         words
	inner         *layout // of a nested graph
	width, height float64
	x, y          float64 // centre
	layer, place  int

	above, below []*box // neighbours of the layers next to it
}

// line is a drawn edge: from, the bends between, to. A line that goes back up
// is laid out downwards, from its target to its source.
type line struct {
	edge     graph.ShapeEdge
	from, to *box
	back     bool
	boxes    []*box // from top to bottom
}

// layout is a graph with a place for everything, its corner at 0,0. It is made as
// Sugiyama, Tagawa and Toda describe (1981): nodes in layers, crossings between
// layers reduced by barycentres, then positions that keep edges straight.
type layout struct {
	boxes         map[string]*box
	order         []*box // those of boxes, as declared
	lines         []*line
	layers        [][]*box
	width, height float64
}

func arrangeLayout(shape graph.Shape) *layout {
	l := &layout{boxes: map[string]*box{}}
	l.addBox(&box{name: begin, width: 2 * dotRadius, height: 2 * dotRadius})
	for i := range shape.Nodes {
		l.addBox(measureBox(&shape.Nodes[i]))
	}
	l.addBox(&box{name: graph.End, width: 2 * dotRadius, height: 2 * dotRadius})
	edges := append([]graph.ShapeEdge{{From: begin, To: shape.Start}}, shape.Edges...)
	for _, e := range edges {
		l.lines = append(l.lines, &line{edge: e, from: l.boxes[e.From], to: l.boxes[e.To]})
	}
	l.reverseLoops()
	l.rankBoxes()
	l.routeLines()
	l.reduceCrossings()
	l.positionBoxes()
	return l
}

func (l *layout) addBox(b *box) {
	l.boxes[b.name] = b
	l.order = append(l.order, b)
}

// reverseLoops finds the lines that close a loop, which go back up.
func (l *layout) reverseLoops() {
	const open, closed = 1, 2
	seen := map[*box]int{}
	var visit func(b *box)
	visit = func(b *box) {
		seen[b] = open
		for _, line := range l.lines {
			if line.from != b {
				continue
			}
			switch seen[line.to] {
			case open:
				line.back = true
			case closed:
			default:
				visit(line.to)
			}
		}
		seen[b] = closed
	}
	visit(l.boxes[begin])
}

// rankBoxes puts each box one layer below the lowest that leads to it.
func (l *layout) rankBoxes() {
	for changed := true; changed; {
		changed = false
		for _, line := range l.lines {
			if !line.back && line.to.layer <= line.from.layer {
				line.to.layer = line.from.layer + 1
				changed = true
			}
		}
	}
	for _, b := range l.order {
		for len(l.layers) <= b.layer {
			l.layers = append(l.layers, nil)
		}
		l.layers[b.layer] = append(l.layers[b.layer], b)
	}
}

// routeLines gives every line a place in each layer that it passes.
func (l *layout) routeLines() {
	for _, line := range l.lines {
		top, bottom := line.from, line.to
		if line.back {
			top, bottom = bottom, top
		}
		line.boxes = []*box{top}
		for layer := top.layer + 1; layer < bottom.layer; layer++ {
			bend := &box{layer: layer}
			l.layers[layer] = append(l.layers[layer], bend)
			line.boxes = append(line.boxes, bend)
		}
		if top != bottom {
			line.boxes = append(line.boxes, bottom)
		}
		for i, upper := range line.boxes[:len(line.boxes)-1] {
			lower := line.boxes[i+1]
			upper.below, lower.above = append(upper.below, lower), append(lower.above, upper)
		}
	}
	for _, layer := range l.layers {
		numberBoxes(layer)
	}
}

func numberBoxes(layer []*box) {
	for i, b := range layer {
		b.place = i
	}
}

// reduceCrossings orders each layer by the mean place of the neighbours, downwards and
// upwards in turn, and keeps the order with the fewest crossings.
func (l *layout) reduceCrossings() {
	best, fewest := l.copyOrder(), l.countCrossings()
	for sweep := 0; sweep < 12 && fewest > 0; sweep++ {
		down := sweep%2 == 0
		for i := range l.layers {
			layer := l.layers[i]
			if !down {
				layer = l.layers[len(l.layers)-1-i]
			}
			slices.SortStableFunc(layer, func(a, b *box) int {
				return cmp.Compare(barycentre(a, down), barycentre(b, down))
			})
			numberBoxes(layer)
		}
		if crossings := l.countCrossings(); crossings < fewest {
			best, fewest = l.copyOrder(), crossings
		}
	}
	l.layers = best
	for _, layer := range l.layers {
		numberBoxes(layer)
	}
}

func (l *layout) copyOrder() [][]*box {
	layers := make([][]*box, len(l.layers))
	for i, layer := range l.layers {
		layers[i] = slices.Clone(layer)
	}
	return layers
}

func barycentre(b *box, down bool) float64 {
	neighbours := b.below
	if down {
		neighbours = b.above
	}
	if len(neighbours) == 0 {
		return float64(b.place)
	}
	sum := 0
	for _, n := range neighbours {
		sum += n.place
	}
	return float64(sum) / float64(len(neighbours))
}

func (l *layout) countCrossings() int {
	count := 0
	for _, layer := range l.layers {
		for i, left := range layer {
			for _, right := range layer[i+1:] {
				for _, a := range left.below {
					for _, b := range right.below {
						if a.place > b.place {
							count++
						}
					}
				}
			}
		}
	}
	return count
}

// positionBoxes gives every box its centre.
func (l *layout) positionBoxes() {
	y := margin
	for _, layer := range l.layers {
		height := 0.0
		for _, b := range layer {
			height = max(height, b.height)
		}
		for _, b := range layer {
			b.y = y + height/2
		}
		y += height + gapY
		spreadBoxes(layer, func(*box) float64 { return 0 })
	}
	l.height = y - gapY + margin
	for round := range 10 {
		for i := range l.layers {
			if round%2 == 0 {
				spreadBoxes(l.layers[i], func(b *box) float64 { return meanCentre(b, b.above) })
			} else {
				spreadBoxes(l.layers[len(l.layers)-1-i], func(b *box) float64 { return meanCentre(b, b.below) })
			}
		}
	}
	l.shiftToMargin()
}

func meanCentre(b *box, neighbours []*box) float64 {
	if len(neighbours) == 0 {
		return b.x
	}
	sum := 0.0
	for _, n := range neighbours {
		sum += n.x
	}
	return sum / float64(len(neighbours))
}

// spreadBoxes puts the boxes of a layer as near to where they want to be as their order and
// widths allow, in least squares: neighbours that want to overlap are moved as a block
// to the mean of their wishes (pool adjacent violators).
func spreadBoxes(layer []*box, wish func(*box) float64) {
	type block struct {
		sum   float64
		count int
	}
	mean := func(b block) float64 { return b.sum / float64(b.count) }
	offsets := make([]float64, len(layer))
	var blocks []block
	for i, b := range layer {
		if i > 0 {
			offsets[i] = offsets[i-1] + layer[i-1].width/2 + minDistance(layer[i-1], b) + b.width/2
		}
		blocks = append(blocks, block{wish(b) - offsets[i], 1})
		for n := len(blocks); n > 1 && mean(blocks[n-2]) > mean(blocks[n-1]); n-- {
			blocks[n-2] = block{blocks[n-2].sum + blocks[n-1].sum, blocks[n-2].count + blocks[n-1].count}
			blocks = blocks[:n-1]
		}
	}
	i := 0
	for _, block := range blocks {
		for range block.count {
			layer[i].x = mean(block) + offsets[i]
			i++
		}
	}
}

func minDistance(a, b *box) float64 {
	if a.width == 0 || b.width == 0 {
		return gapBend
	}
	return gapX
}

// shiftToMargin moves everything to the right of the margin and measures the whole.
func (l *layout) shiftToMargin() {
	left, right := 0.0, 0.0
	for _, layer := range l.layers {
		for _, b := range layer {
			left, right = min(left, b.x-b.width/2), max(right, b.x+b.width/2)
		}
	}
	for _, line := range l.lines {
		if line.from == line.to {
			right = max(right, line.from.x+line.from.width/2+2*gapBend)
		}
	}
	for _, layer := range l.layers {
		for _, b := range layer {
			b.x += margin - left
		}
	}
	l.width = right - left + 2*margin
}
