package local

import (
	"math"
)

// noFloor is the floor of matrix.Rows.Set that changes nothing.
var noFloor = float32(math.Inf(-1))

// addTo adds src to dst.
func addTo(dst, src []float32) {
	src = src[:len(dst)]
	for i, v := range src {
		dst[i] += v
	}
}

// normalizeRow writes the layer normalization of src to dst. The length is a multiple of 4.
func normalizeRow(dst, src []float32, n Norm) {
	const epsilon = 1e-6
	mean := sum(src) / float32(len(src))
	dst = dst[:len(src)]
	for i, v := range src {
		dst[i] = v - mean
	}
	factor := float32(1 / math.Sqrt(float64(sumOfSquares(dst)/float32(len(dst))+epsilon)))
	scale, shift := n.Scale[:len(dst)], n.Shift[:len(dst)]
	for i, v := range dst {
		dst[i] = float32(float32(v*factor)*scale[i]) + shift[i]
	}
}

// sum and sumOfSquares add in four lanes: a single one would wait for each addition.
func sum(values []float32) float32 {
	var a, b, c, d float32
	for ; len(values) >= 4; values = values[4:] {
		a += values[0]
		b += values[1]
		c += values[2]
		d += values[3]
	}
	return (a + b) + (c + d)
}

func sumOfSquares(values []float32) float32 {
	var a, b, c, d float32
	for ; len(values) >= 4; values = values[4:] {
		a += float32(values[0] * values[0])
		b += float32(values[1] * values[1])
		c += float32(values[2] * values[2])
		d += float32(values[3] * values[3])
	}
	return (a + b) + (c + d)
}

// softmax replaces each score s by exp(factor·s) over a constant, times its weight, and
// gives the sum of the exponentials: the caller divides by it.
func softmax(scores, weight []float32, factor float32) (total float32) {
	largest := scores[0]
	for _, s := range scores {
		if s > largest {
			largest = s
		}
	}
	factor *= rootSteps * math.Log2E
	weight = weight[:len(scores)]
	for i, s := range scores {
		e := exp2((s - largest) * factor)
		total += e
		scores[i] = e * weight[i]
	}
	return total
}

// rootSteps is the number of entries of roots.
const rootSteps = 64

// roots are the powers 2^(i/rootSteps), as the bits of float32.
var roots = func() (bits [rootSteps]uint32) {
	for i := range bits {
		bits[i] = math.Float32bits(float32(math.Exp2(float64(i) / rootSteps)))
	}
	return bits
}()

// exp2 is 2^(x/rootSteps) for x ≤ 0, to a relative error of 2e-7; less than 2^-100 is 0.
func exp2(x float32) float32 {
	const (
		magic  = 3 << 22 // rounds to an integer when added and subtracted
		first  = math.Ln2 / rootSteps
		second = first * first / 2
	)
	if x < -100*rootSteps {
		return 0
	}
	whole := float32(x+magic) - magic
	n := int32(whole)
	rest := x - whole
	root := math.Float32frombits(roots[n&(rootSteps-1)] + uint32(n>>6)<<23)
	return root * (1 + float32(rest*(first+float32(rest*second))))
}
