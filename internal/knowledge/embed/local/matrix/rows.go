package matrix

// Rows are quantized activations, one scale for each row. They are scratch space: made
// once for the largest use, then filled again and again.
type Rows struct {
	values       []int16
	scale        []float32
	count, width int
}

// NewRows makes room for count rows of width numbers.
func NewRows(count, width int) *Rows {
	padded := paddedRows(count)
	return &Rows{values: make([]int16, padded*width), scale: make([]float32, padded)}
}

// Reset sets the shape, at most the one of NewRows. Every row is to be set after it.
func (r *Rows) Reset(count, width int) {
	r.count, r.width = count, width
}

// Padded returns the number of rows that Mul writes: the count, rounded up to TileRows.
func (r *Rows) Padded() int { return paddedRows(r.count) }

func paddedRows(count int) int {
	return (count + TileRows - 1) / TileRows * TileRows
}

// Set rounds src to integers of magnitude up to limit. Numbers below floor count as
// floor: 0 makes a rectifier of it, minus infinity changes nothing. The width is a
// multiple of TileColumns.
func (r *Rows) Set(i int, src []float32, limit int, floor float32) {
	dst := r.values[i*r.width : (i+1)*r.width]
	src = src[:len(dst)]
	// Below this magnitude the factor would overflow; such a row is as good as zero.
	const tiny = 1e-30
	largest := absMax(src, floor)
	if largest < tiny {
		clear(dst)
		r.scale[i] = 0
		return
	}
	round(dst, src, floor, float32(limit)/largest)
	r.scale[i] = largest / float32(limit)
}

// ScaleBy multiplies a row by factor, exactly but for its scale.
func (r *Rows) ScaleBy(i int, factor float32) { r.scale[i] *= factor }

// Scale returns what 1 in row i stands for.
func (r *Rows) Scale(i int) float32 { return r.scale[i] }
