// Package matrix multiplies rows of activations by quantized weights, in 16-bit
// integers with 32-bit sums.
//
// The weights are 8-bit with a scale for each column, the activations are rounded
// to 14 bits with a scale for each row just before they are used: that loses nothing
// that the weights have not lost already, and lets one instruction multiply twice as
// many numbers as in float32. Because the sums are exact, every processor gives the
// same result for the same row, whatever other rows it is multiplied with.
package matrix

import (
	"fmt"
	"math"
)

// The kernels compute tiles of TileRows rows and TileColumns columns, and take
// depthStep numbers of each row at a time.
const (
	TileRows    = 6
	TileColumns = 16
	depthStep   = 4
)

// Limits of the magnitude of a quantized activation: products of up to 2,056 (with
// Weights) and 128 (with Columns) numbers stay within 32 bits.
const (
	WeightLimit = 8191
	ColumnLimit = 4095
)

const (
	maxWeightDepth = math.MaxInt32 / (WeightLimit * math.MaxInt8)
	maxColumnDepth = math.MaxInt32 / (ColumnLimit * ColumnLimit)
)

// Weights is a linear map x·W + Bias from In to Out numbers.
type Weights struct {
	In, Out int
	// Data is W as signed bytes in the order in which the kernels read it: groups of
	// TileColumns columns; in a group, pairs of consecutive inputs; in a pair, the two
	// numbers of each column side by side. It is not changed.
	Data  []byte
	Scale []float32 // of each column: what 1 in Data stands for
	Bias  []float32 // of each column
}

// Validate checks that the map is one that Mul can compute.
func (w Weights) Validate() error {
	if w.In <= 0 || w.In%depthStep != 0 || w.In > maxWeightDepth {
		return fmt.Errorf("%d inputs, want a multiple of %d up to %d", w.In, depthStep, maxWeightDepth)
	}
	if w.Out <= 0 || w.Out%TileColumns != 0 {
		return fmt.Errorf("%d outputs, want a multiple of %d", w.Out, TileColumns)
	}
	if len(w.Data) != w.In*w.Out || len(w.Scale) != w.Out || len(w.Bias) != w.Out {
		return fmt.Errorf("%d numbers, %d scales and %d biases for %d×%d",
			len(w.Data), len(w.Scale), len(w.Bias), w.In, w.Out)
	}
	return nil
}

// Mul writes rows·W + Bias to dst, whose rows are stride numbers apart. dst holds
// rows.Padded() rows; those from the number of rows on hold garbage afterwards.
func (w Weights) Mul(dst []float32, stride int, rows *Rows) {
	if rows.width != w.In {
		panic(fmt.Sprintf("matrix: rows of %d numbers for weights of %d inputs", rows.width, w.In))
	}
	t := tile{rowStride: rows.width, depth: w.In, outStride: stride}
	for column := 0; column < w.Out; column += TileColumns {
		t.weights = w.Data[column*w.In : (column+TileColumns)*w.In]
		t.columnScale = w.Scale[column : column+TileColumns]
		t.bias = w.Bias[column : column+TileColumns]
		for row := 0; row < rows.count; row += TileRows {
			t.place(dst, rows, row, column)
			multiplyWeights(&t)
		}
	}
}

// tile is one call of a kernel: TileRows rows times TileColumns columns.
type tile struct {
	rows        []int16 // the first row begins at 0
	rowStride   int     // numbers
	rowScale    []float32
	depth       int // numbers in a row, a multiple of depthStep
	weights     []byte
	columns     []int16
	columnScale []float32
	bias        []float32
	out         []float32
	outStride   int // numbers
}

// place points the tile at its rows and its part of dst. Slicing to the exact extent
// is the bounds check for the kernels in assembly.
func (t *tile) place(dst []float32, rows *Rows, row, column int) {
	t.rows = rows.values[row*rows.width : (row+TileRows)*rows.width]
	t.rowScale = rows.scale[row : row+TileRows]
	first := row*t.outStride + column
	t.out = dst[first : first+(TileRows-1)*t.outStride+TileColumns]
}

// Quantize packs the matrix values, [in, out] row by row, into Weights. The scale of
// each column is the one of a few candidates that gives the least squared error.
func Quantize(values []float32, in, out int, bias []float32) (Weights, error) {
	if len(values) != in*out {
		return Weights{}, fmt.Errorf("%d numbers for a matrix of %d×%d", len(values), in, out)
	}
	w := Weights{In: in, Out: out, Data: make([]byte, in*out), Scale: make([]float32, out), Bias: bias}
	if err := w.Validate(); err != nil {
		return Weights{}, err
	}
	column := make([]float32, in)
	for j := range out {
		for i := range in {
			column[i] = values[i*out+j]
		}
		rounded, scale := QuantizeVector(column)
		w.Scale[j] = scale
		for i, q := range rounded {
			w.Data[packedIndex(in, i, j)] = byte(q)
		}
	}
	return w, nil
}

// packedIndex returns the place of input i of column j in packed weights of in inputs.
func packedIndex(in, i, j int) int {
	group, lane := j/TileColumns, j%TileColumns
	return group*in*TileColumns + (i/2)*2*TileColumns + 2*lane + i%2
}

// QuantizeVector rounds values to 8-bit integers times the scale. Clipping the few
// largest numbers can be better for all the others, so it tries scales down to .8 of
// the one that clips nothing.
func QuantizeVector(values []float32) (rounded []int8, scale float32) {
	var largest float64
	for _, v := range values {
		largest = max(largest, math.Abs(float64(v)))
	}
	rounded = make([]int8, len(values))
	if largest == 0 {
		return rounded, 0
	}
	least := math.Inf(1)
	for step := range 41 {
		candidate := largest / math.MaxInt8 * (1 - .005*float64(step))
		if e := squaredError(values, candidate); e < least {
			least, scale = e, float32(candidate)
		}
	}
	for i, v := range values {
		rounded[i] = int8(roundToByte(float64(v), float64(scale)))
	}
	return rounded, scale
}

func squaredError(values []float32, scale float64) float64 {
	var sum float64
	for _, v := range values {
		d := float64(v) - scale*roundToByte(float64(v), scale)
		sum += d * d
	}
	return sum
}

func roundToByte(v, scale float64) float64 {
	return max(-math.MaxInt8, min(math.MaxInt8, math.RoundToEven(v/scale)))
}
