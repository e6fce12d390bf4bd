package main

import (
	"fmt"

	"github.com/cairn-bot/cairn/internal/knowledge/embed/local"
	"github.com/cairn-bot/cairn/internal/knowledge/embed/local/matrix"
)

// The graph keeps variables, their optimized copies and constants under different names.
const (
	variables = "module/Encoder_en/KonaTransformer/Encode/"
	applied   = "module_apply_default/Encoder_en/KonaTransformer/Encode/"
	stack     = applied + "TransformerStack/"
	joined    = "/ConcatPartitions/concat"
)

// converter keeps the first error.
type converter struct {
	from published
	err  error
}

func convertModel(from published) (local.Model, error) {
	c := &converter{from: from}
	model := local.Model{
		Pieces:      from.vocabulary,
		Embedding:   c.quantizeEmbedding("module/Embeddings_en"),
		Frequencies: c.tensorValues(stack + "Layer_0/AddTimingSignal/TimingSignal/ExpandDims_1"),
		Entry: c.quantizeMatrix(applied+"Layer_0/TransformerLayer/dense/kernel"+joined,
			applied+"Layer_0/TransformerLayer/dense/bias"+joined),
		Output: c.quantizeMatrix("module/Encoder_en/hidden_layers/tanh_layer_0/weights",
			"module/Encoder_en/hidden_layers/tanh_layer_0/bias"),
	}
	for i := range model.Layers {
		model.Layers[i] = c.convertLayer(fmt.Sprintf("Layer_%d/TransformerLayer/", i))
	}
	return model, c.err
}

func (c *converter) convertLayer(name string) local.Layer {
	attention, forward := name+"MultiheadAttention/", name+"FFN/"
	return local.Layer{
		AttentionNorm: c.convertNorm(applied + name),
		Projection: c.quantizeMatrix(variables+attention+"qkv_transform_single/kernel/part_0",
			applied+attention+"qkv_transform_single/bias"+joined),
		AttentionOutput: c.quantizeMatrix(variables+attention+"output_transform_single/kernel/part_0",
			applied+attention+"output_transform_single/bias"+joined),
		FeedForwardNorm: c.convertNorm(applied + forward),
		Expand: c.quantizeMatrix(stack+forward+"conv1/Tensordot/Reshape_1",
			applied+forward+"conv1/bias"+joined),
		Contract: c.quantizeMatrix(stack+forward+"conv2/Tensordot/Reshape_1",
			applied+forward+"conv2/bias"+joined),
	}
}

func (c *converter) findTensor(name string) tensor {
	t, ok := c.from.tensors[name]
	if !ok && c.err == nil {
		c.err = fmt.Errorf("missing tensor %s", name)
	}
	return t
}

func (c *converter) tensorValues(name string) []float32 { return c.findTensor(name).values }

func (c *converter) convertNorm(name string) local.Norm {
	name += "layer_prepostprocess/layer_norm/layer_norm_"
	return local.Norm{Scale: c.tensorValues(name + "scale" + joined), Shift: c.tensorValues(name + "bias" + joined)}
}

// quantizeMatrix quantizes a kernel whose last two dimensions are [in, out].
func (c *converter) quantizeMatrix(kernel, bias string) matrix.Weights {
	t, b := c.findTensor(kernel), c.tensorValues(bias)
	if c.err != nil {
		return matrix.Weights{}
	}
	in, out := t.shape[len(t.shape)-2], t.shape[len(t.shape)-1]
	w, err := matrix.Quantize(t.values, in, out, b)
	if err != nil {
		c.err = fmt.Errorf("quantize %s: %w", kernel, err)
	}
	return w
}

// quantizeEmbedding quantizes the rows that a token can reach.
func (c *converter) quantizeEmbedding(name string) local.Embedding {
	t := c.findTensor(name)
	if c.err != nil {
		return local.Embedding{}
	}
	var e local.Embedding
	const width = local.EmbeddingWidth
	for token := range local.Vocabulary {
		row, scale := matrix.QuantizeVector(t.values[token*width : (token+1)*width])
		e.Scale = append(e.Scale, scale)
		for _, q := range row {
			e.Data = append(e.Data, byte(q))
		}
	}
	return e
}
