package local

import (
	"math"

	"github.com/cairn-bot/cairn/internal/knowledge/embed/local/matrix"
)

const (
	heads        = 4
	maxHeadWidth = Width / heads
)

// attention is the scratch space of multi-head self-attention over one text.
type attention struct {
	left, right *matrix.Rows
	columns     *matrix.Columns
	valueScales []float32
	scores      []float32 // a row of columns.Count() for each token
}

func newAttention() attention {
	padded := (maxTokens + matrix.TileRows - 1) / matrix.TileRows * matrix.TileRows
	return attention{
		left:        matrix.NewRows(maxTokens, maxTokens),
		right:       matrix.NewRows(maxTokens, maxHeadWidth),
		columns:     matrix.NewColumns(maxTokens, maxTokens),
		valueScales: make([]float32, maxTokens),
		scores:      make([]float32, padded*maxTokens),
	}
}

// attendAll mixes the values of each text's tokens. A row of projected is query, key and
// value of a token, of width numbers each; a row of mixed is width numbers. The texts
// are taken in order, because the last tile of one spoils rows of the next.
func (a *attention) attendAll(projected, mixed []float32, width int, ends []int) {
	start := 0
	for _, end := range ends {
		for head := range heads {
			offset := head * width / heads
			a.attendHead(projected[start*3*width+offset:], mixed[start*width+offset:], width, end-start)
		}
		start = end
	}
}

// attendHead is one head over one text of count tokens.
func (a *attention) attendHead(projected, mixed []float32, width, count int) {
	own, stride := width/heads, 3*width
	a.left.Reset(count, own)
	a.right.Reset(count, own)
	for i := range count {
		a.left.Set(i, projected[i*stride:], matrix.ColumnLimit, noFloor)
		a.right.Set(i, projected[i*stride+width:], matrix.ColumnLimit, noFloor)
	}
	a.columns.Transpose(a.right)
	scoreStride := a.columns.Count()
	a.columns.Mul(a.scores, scoreStride, a.left)

	for i := range count {
		a.right.Set(i, projected[i*stride+2*width:], matrix.ColumnLimit, noFloor)
		a.valueScales[i] = a.right.Scale(i)
	}
	a.columns.Stack(a.right)
	a.left.Reset(count, a.columns.Depth())
	factor := float32(1 / math.Sqrt(float64(own)))
	for i := range count {
		row := a.scores[i*scoreStride : (i+1)*scoreStride]
		sum := softmax(row[:count], a.valueScales, factor)
		clear(row[count:])
		a.left.Set(i, row, matrix.ColumnLimit, noFloor)
		a.left.ScaleBy(i, 1/sum)
	}
	a.columns.Mul(mixed, width, a.left)
}
