package matrix

import "fmt"

// Columns are quantized activations packed as the right-hand side of a product, like
// the bytes of Weights but of 16 bits. Like Rows they are scratch space.
type Columns struct {
	values       []int16
	scale, bias  []float32
	depth, count int // both padded
}

// NewColumns makes room for count columns of depth numbers.
func NewColumns(count, depth int) *Columns {
	count, depth = roundUp(count, TileColumns), roundUp(depth, depthStep)
	return &Columns{
		values: make([]int16, count*depth),
		scale:  make([]float32, count),
		bias:   make([]float32, count),
	}
}

func roundUp(n, step int) int { return (n + step - 1) / step * step }

// Count returns the number of columns that Mul writes: a multiple of TileColumns.
func (c *Columns) Count() int { return c.count }

// Depth returns the width of the rows that Mul takes: a multiple of 4.
func (c *Columns) Depth() int { return c.depth }

// Transpose makes a column of every row. The padding columns are zero.
func (c *Columns) Transpose(rows *Rows) {
	c.reset(rows.count, rows.width)
	copy(c.scale, rows.scale[:rows.count])
	clear(c.scale[rows.count:c.count])
	for j := range rows.count {
		row := rows.values[j*rows.width : (j+1)*rows.width]
		group, lane := j/TileColumns, j%TileColumns
		dst := c.values[group*TileColumns*c.depth+2*lane:]
		for i := 0; i+1 < len(row); i += 2 {
			at := i * TileColumns
			dst[at], dst[at+1] = row[i], row[i+1]
		}
	}
}

// Stack takes the rows as they are, as a matrix [count, width], but for their scales,
// which the caller applies to the other side. The padding rows are zero.
func (c *Columns) Stack(rows *Rows) {
	c.reset(rows.width, rows.count)
	for j := range c.scale[:c.count] {
		c.scale[j] = 1
	}
	groups := c.count / TileColumns
	for i := range c.depth {
		for group := range groups {
			dst := c.values[group*TileColumns*c.depth+(i/2)*2*TileColumns+i%2:]
			dst = dst[:2*TileColumns-1]
			if i >= rows.count {
				for lane := range TileColumns {
					dst[2*lane] = 0
				}
				continue
			}
			src := rows.values[i*rows.width+group*TileColumns:]
			for lane, v := range src[:TileColumns] {
				dst[2*lane] = v
			}
		}
	}
}

func (c *Columns) reset(count, depth int) {
	c.count, c.depth = roundUp(count, TileColumns), roundUp(depth, depthStep)
	if c.depth > maxColumnDepth {
		panic(fmt.Sprintf("matrix: columns of %d numbers, at most %d", c.depth, maxColumnDepth))
	}
	if used := c.count * c.depth; used > len(c.values) || c.count > len(c.scale) {
		panic(fmt.Sprintf("matrix: no room for %d columns of %d numbers", c.count, c.depth))
	}
	// Only the last group can have padding columns.
	clear(c.values[(c.count-TileColumns)*c.depth : c.count*c.depth])
}

// Mul writes rows·columns to dst, whose rows are stride numbers apart, as Weights.Mul
// does. The rows are set with ColumnLimit, and so are those the columns were made of.
func (c *Columns) Mul(dst []float32, stride int, rows *Rows) {
	if rows.width != c.depth {
		panic(fmt.Sprintf("matrix: rows of %d numbers for columns of %d", rows.width, c.depth))
	}
	t := tile{rowStride: rows.width, depth: c.depth, outStride: stride}
	for column := 0; column < c.count; column += TileColumns {
		t.columns = c.values[column*c.depth : (column+TileColumns)*c.depth]
		t.columnScale = c.scale[column : column+TileColumns]
		t.bias = c.bias[column : column+TileColumns]
		for row := 0; row < rows.count; row += TileRows {
			t.place(dst, rows, row, column)
			multiplyColumns(&t)
		}
	}
}
