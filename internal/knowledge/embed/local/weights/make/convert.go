package main

import (
	"fmt"

	"cairn/internal/knowledge/embed/local/matrix"
	"cairn/internal/knowledge/embed/local/weights"
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

func convert(from published) (weights.Model, error) {
	c := &converter{from: from}
	model := weights.Model{
		Pieces:      from.vocabulary,
		Embedding:   c.embedding("module/Embeddings_en"),
		Frequencies: c.values(stack + "Layer_0/AddTimingSignal/TimingSignal/ExpandDims_1"),
		Entry: c.matrix(applied+"Layer_0/TransformerLayer/dense/kernel"+joined,
			applied+"Layer_0/TransformerLayer/dense/bias"+joined),
		Output: c.matrix("module/Encoder_en/hidden_layers/tanh_layer_0/weights",
			"module/Encoder_en/hidden_layers/tanh_layer_0/bias"),
	}
	for i := range model.Layers {
		model.Layers[i] = c.layer(fmt.Sprintf("Layer_%d/TransformerLayer/", i))
	}
	return model, c.err
}

func (c *converter) layer(name string) weights.Layer {
	attention, forward := name+"MultiheadAttention/", name+"FFN/"
	return weights.Layer{
		AttentionNorm: c.norm(applied + name),
		Projection: c.matrix(variables+attention+"qkv_transform_single/kernel/part_0",
			applied+attention+"qkv_transform_single/bias"+joined),
		AttentionOutput: c.matrix(variables+attention+"output_transform_single/kernel/part_0",
			applied+attention+"output_transform_single/bias"+joined),
		FeedForwardNorm: c.norm(applied + forward),
		Expand: c.matrix(stack+forward+"conv1/Tensordot/Reshape_1",
			applied+forward+"conv1/bias"+joined),
		Contract: c.matrix(stack+forward+"conv2/Tensordot/Reshape_1",
			applied+forward+"conv2/bias"+joined),
	}
}

func (c *converter) tensor(name string) tensor {
	t, ok := c.from.tensors[name]
	if !ok && c.err == nil {
		c.err = fmt.Errorf("it has no tensor %s", name)
	}
	return t
}

func (c *converter) values(name string) []float32 { return c.tensor(name).values }

func (c *converter) norm(name string) weights.Norm {
	name += "layer_prepostprocess/layer_norm/layer_norm_"
	return weights.Norm{Scale: c.values(name + "scale" + joined), Shift: c.values(name + "bias" + joined)}
}

// matrix quantizes a kernel whose last two dimensions are [in, out].
func (c *converter) matrix(kernel, bias string) matrix.Weights {
	t, b := c.tensor(kernel), c.values(bias)
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

// embedding quantizes the rows that a token can reach.
func (c *converter) embedding(name string) weights.Embedding {
	t := c.tensor(name)
	if c.err != nil {
		return weights.Embedding{}
	}
	var e weights.Embedding
	const width = weights.EmbeddingWidth
	for token := range weights.Vocabulary {
		row, scale := matrix.QuantizeVector(t.values[token*width : (token+1)*width])
		e.Scale = append(e.Scale, scale)
		for _, q := range row {
			e.Data = append(e.Data, byte(q))
		}
	}
	return e
}
