package local

import (
	"math"

	"github.com/cairn-bot/cairn/internal/knowledge/embed/local/matrix"
)

// maxTokens is how much of a text the encoder sees.
const maxTokens = 128

// batchTokens is how many tokens are computed together at most: enough to read the
// weights once for several short texts, few enough for the processor's cache, and a
// multiple of the rows that the kernels take at a time.
const batchTokens = 22 * matrix.TileRows

// model is the encoder: two transformer layers, the mean over the tokens, one dense
// layer. See "Universal Sentence Encoder", Cer et al. 2018 (arXiv:1803.11175).
type model struct {
	Model
	positions []float32 // maxTokens × EmbeddingWidth
}

func newModel(w Model) *model {
	const half = EmbeddingWidth / 2
	m := &model{Model: w, positions: make([]float32, maxTokens*EmbeddingWidth)}
	for t := range maxTokens {
		row := m.positions[t*EmbeddingWidth:]
		for i, frequency := range w.Frequencies {
			sin, cos := math.Sincos(float64(float32(t) * frequency))
			row[i], row[half+i] = float32(sin), float32(cos)
		}
	}
	return m
}

// workspace is the scratch space of one batch. Matrices have a row for each token.
type workspace struct {
	ids    []uint16 // of all texts, one after the other
	ends   []int    // where each text ends in ids
	input  []float32
	hidden []float32 // what passes from layer to layer
	wide   []float32 // inside a layer: projections, or the feed-forward part
	narrow []float32 // the result of a part, before it is added to hidden
	mixed  []float32 // values as the attention mixes them
	pooled []float32
	rows   *matrix.Rows
	attention
}

func newWorkspace() *workspace {
	return &workspace{
		input:  make([]float32, batchTokens*EmbeddingWidth),
		hidden: make([]float32, batchTokens*Width),
		wide:   make([]float32, batchTokens*HiddenWidth),
		narrow: make([]float32, batchTokens*Width),
		// A text need not end where a tile does; its last tile runs over the end.
		mixed:     make([]float32, (batchTokens+matrix.TileRows-1)*Width),
		pooled:    make([]float32, Width),
		rows:      matrix.NewRows(batchTokens, HiddenWidth),
		attention: newAttention(),
	}
}

// encodeTexts computes the texts in the workspace and gives one vector each to take. The
// workspace holds at most batchTokens ids, at most maxTokens and at least one a text.
func (m *model) encodeTexts(w *workspace, take func(text int, vector []float32)) {
	m.embedTokens(w)
	count := len(w.ids)
	w.rows.Reset(count, EmbeddingWidth)
	for i := range count {
		w.rows.Set(i, w.input[i*EmbeddingWidth:], matrix.WeightLimit, noFloor)
	}
	m.Entry.Mul(w.hidden, Width, w.rows)
	for i := range m.Layers {
		in := w.hidden
		if i == 0 {
			in = w.input
		}
		w.addLayer(&m.Layers[i], in)
	}
	m.poolRows(w, take)
}

// embedTokens sums embedding and position of each token. The original adds the embedding twice.
func (m *model) embedTokens(w *workspace) {
	const width = EmbeddingWidth
	start := 0
	for _, end := range w.ends {
		for i, id := range w.ids[start:end] {
			row := w.input[(start+i)*width:][:width]
			position := m.positions[i*width:][:width]
			numbers := m.Embedding.Data[int(id)*width:][:width]
			scale := 2 * m.Embedding.Scale[id]
			for j := range row {
				row[j] = float32(scale*float32(int8(numbers[j]))) + position[j]
			}
		}
		start = end
	}
}

// addLayer adds attention over in and then the feed-forward part to hidden.
func (w *workspace) addLayer(l *Layer, in []float32) {
	count, width := len(w.ids), l.AttentionWidth()
	w.normalizeLayer(l.AttentionNorm, in)
	l.Projection.Mul(w.wide, 3*width, w.rows)
	w.attendAll(w.wide, w.mixed, width, w.ends)
	w.rows.Reset(count, width)
	for i := range count {
		w.rows.Set(i, w.mixed[i*width:], matrix.WeightLimit, noFloor)
	}
	l.AttentionOutput.Mul(w.narrow, Width, w.rows)
	w.addNarrow()

	w.normalizeLayer(l.FeedForwardNorm, w.hidden)
	l.Expand.Mul(w.wide, HiddenWidth, w.rows)
	w.rows.Reset(count, HiddenWidth)
	for i := range count {
		w.rows.Set(i, w.wide[i*HiddenWidth:], matrix.WeightLimit, 0)
	}
	l.Contract.Mul(w.narrow, Width, w.rows)
	w.addNarrow()
}

func (w *workspace) addNarrow() {
	used := len(w.ids) * Width
	addTo(w.hidden[:used], w.narrow[:used])
}

// normalizeLayer sets rows to the layer normalization of in.
func (w *workspace) normalizeLayer(n Norm, in []float32) {
	count, width := len(w.ids), len(n.Scale)
	w.rows.Reset(count, width)
	row := w.narrow[:width]
	for i := range count {
		normalizeRow(row, in[i*width:(i+1)*width], n)
		w.rows.Set(i, row, matrix.WeightLimit, noFloor)
	}
}

// poolRows gives the mean of each text's rows through the last layer, made length 1.
func (m *model) poolRows(w *workspace, take func(text int, vector []float32)) {
	const width = Width
	w.rows.Reset(len(w.ends), width)
	start := 0
	for text, end := range w.ends {
		clear(w.pooled)
		for i := start; i < end; i++ {
			addTo(w.pooled, w.hidden[i*width:(i+1)*width])
		}
		factor := 1 / float32(end-start)
		for j := range w.pooled {
			w.pooled[j] *= factor
		}
		w.rows.Set(text, w.pooled, matrix.WeightLimit, noFloor)
		start = end
	}
	m.Output.Mul(w.narrow, width, w.rows)
	for text := range w.ends {
		vector := make([]float32, width)
		var sum float64
		for j, v := range w.narrow[text*width:][:width] {
			y := math.Tanh(float64(v))
			vector[j] = float32(y)
			sum += y * y
		}
		factor := float32(1 / math.Sqrt(max(sum, 1e-12)))
		for j := range vector {
			vector[j] *= factor
		}
		take(text, vector)
	}
}
