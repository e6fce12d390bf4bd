package matrix

// The functions of this file are what the kernels in assembly compute, bit for bit.

// Two columns share a 64-bit word: one multiplication and one addition serve both. The
// sum of the lower column borrows from the upper one, which store gives back.
const (
	pairColumns = TileColumns / 2
	chunkDepth  = 64
)

// chunk is a part of the right side: for each depth the columns j and j+pairColumns,
// the latter in the upper half.
type chunk [chunkDepth][pairColumns]int64

func multiplyWeightsGo(t *tile) {
	var sums [TileRows][pairColumns]int64
	var c chunk
	for from := 0; from < t.depth; from += chunkDepth {
		size := min(chunkDepth, t.depth-from)
		for i := range size {
			pair := (*[2 * TileColumns]byte)(t.weights[(from+i)/2*2*TileColumns:])
			for j := range pairColumns {
				low, high := int8(pair[2*j+i%2]), int8(pair[2*(j+pairColumns)+i%2])
				c[i][j] = int64(low) + int64(high)<<32
			}
		}
		t.accumulate(&sums, c[:size], from)
	}
	t.store(&sums)
}

func multiplyColumnsGo(t *tile) {
	var sums [TileRows][pairColumns]int64
	var c chunk
	for from := 0; from < t.depth; from += chunkDepth {
		size := min(chunkDepth, t.depth-from)
		for i := range size {
			pair := (*[2 * TileColumns]int16)(t.columns[(from+i)/2*2*TileColumns:])
			for j := range pairColumns {
				c[i][j] = int64(pair[2*j+i%2]) + int64(pair[2*(j+pairColumns)+i%2])<<32
			}
		}
		t.accumulate(&sums, c[:size], from)
	}
	t.store(&sums)
}

// accumulate adds the products of the rows from a depth on with a chunk.
func (t *tile) accumulate(sums *[TileRows][pairColumns]int64, chunk [][pairColumns]int64, from int) {
	for r := range sums {
		row := t.rows[r*t.rowStride+from:][:len(chunk)]
		// Named variables, because the compiler keeps no array in registers.
		s := sums[r]
		s0, s1, s2, s3, s4, s5, s6, s7 := s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7]
		for i, v := range row {
			a, b := int64(v), &chunk[i]
			s0 += a * b[0]
			s1 += a * b[1]
			s2 += a * b[2]
			s3 += a * b[3]
			s4 += a * b[4]
			s5 += a * b[5]
			s6 += a * b[6]
			s7 += a * b[7]
		}
		sums[r] = [pairColumns]int64{s0, s1, s2, s3, s4, s5, s6, s7}
	}
}

// store scales the sums and adds the bias.
func (t *tile) store(sums *[TileRows][pairColumns]int64) {
	for r := range sums {
		out := t.out[r*t.outStride:][:TileColumns]
		for j, sum := range sums[r] {
			low := int32(sum)
			high := int32((sum - int64(low)) >> 32)
			out[j] = t.scaled(low, r, j)
			out[j+pairColumns] = t.scaled(high, r, j+pairColumns)
		}
	}
}

// scaled converts each product, which keeps the compiler from fusing it with the
// addition: that would round differently.
func (t *tile) scaled(sum int32, row, column int) float32 {
	v := float32(float32(sum) * t.rowScale[row])
	return float32(v*t.columnScale[column]) + t.bias[column]
}

func absMaxGo(src []float32, floor float32) float32 {
	var largest float32
	for _, v := range src {
		if v < floor {
			v = floor
		}
		if v < 0 {
			v = -v
		}
		if v > largest {
			largest = v
		}
	}
	return largest
}

// roundGo writes src·factor, rounded to even, to dst.
func roundGo(dst []int16, src []float32, floor, factor float32) {
	// Adding and subtracting it rounds numbers below 2^22 to integers.
	const magic = 3 << 22
	for i, v := range src {
		if v < floor {
			v = floor
		}
		dst[i] = int16(float32(float32(v*factor)+magic) - magic)
	}
}
