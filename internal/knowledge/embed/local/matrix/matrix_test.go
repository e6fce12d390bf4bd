package matrix

import (
	"math"
	"math/rand/v2"
	"testing"
)

var noFloor = float32(math.Inf(-1))

func randomFloats(rng *rand.Rand, n int) []float32 {
	values := make([]float32, n)
	for i := range values {
		values[i] = float32(rng.NormFloat64())
	}
	return values
}

// kernelSet is one form of what a processor computes tiles with. Slices for absMax and
// round are a multiple of TileColumns long.
type kernelSet struct {
	name             string
	weights, columns func(*tile)
	absMax           func(src []float32, floor float32) float32
	round            func(dst []int16, src []float32, floor, factor float32)
}

// randomTile has numbers up to the limits in places that end where they must.
func randomTile(rng *rand.Rand, depth, rowLimit int) tile {
	spare := rng.IntN(9)
	stride := depth + 2*rng.IntN(5)
	made := tile{
		rowStride: stride, depth: depth, outStride: TileColumns + spare,
		rows:        make([]int16, (TileRows-1)*stride+depth),
		rowScale:    randomFloats(rng, TileRows),
		weights:     make([]byte, TileColumns*depth),
		columns:     make([]int16, TileColumns*depth),
		columnScale: randomFloats(rng, TileColumns),
		bias:        randomFloats(rng, TileColumns),
		out:         make([]float32, (TileRows-1)*(TileColumns+spare)+TileColumns),
	}
	extreme := rng.IntN(4) == 0
	random := func(limit int) int {
		if extreme {
			return (2*rng.IntN(2) - 1) * limit
		}
		return rng.IntN(2*limit+1) - limit
	}
	for i := range made.rows {
		made.rows[i] = int16(random(rowLimit))
	}
	for i := range made.weights {
		made.weights[i] = byte(random(math.MaxInt8))
		made.columns[i] = int16(random(ColumnLimit))
	}
	return made
}

// checkTile compares what a kernel gives with the portable form, bit for bit.
func checkTile(t *testing.T, name string, job tile, kernel, portable func(*tile)) {
	t.Helper()
	got, want := job, job
	got.out, want.out = make([]float32, len(job.out)), make([]float32, len(job.out))
	kernel(&got)
	portable(&want)
	for i := range want.out {
		if math.Float32bits(got.out[i]) != math.Float32bits(want.out[i]) {
			t.Fatalf("%s, depth %d: number %d is %g, want %g", name, job.depth, i, got.out[i], want.out[i])
		}
	}
}

// checkKernels compares all forms with the portable one on one random tile.
func checkKernels(t *testing.T, rng *rand.Rand, depth int) {
	t.Helper()
	job := randomTile(rng, depth, WeightLimit)
	for _, set := range kernelSets() {
		checkTile(t, set.name+" weights", job, set.weights, multiplyWeightsGo)
	}
	job = randomTile(rng, min(depth, maxColumnDepth/depthStep*depthStep), ColumnLimit)
	for _, set := range kernelSets() {
		checkTile(t, set.name+" columns", job, set.columns, multiplyColumnsGo)
	}
}

func TestKernelsAgree(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		checkKernels(t, rng, depthStep*(1+rng.IntN(60)))
	}
	checkKernels(t, rng, maxWeightDepth/depthStep*depthStep)
}

func FuzzKernels(f *testing.F) {
	f.Add(uint64(1), uint16(0))
	f.Add(uint64(2), uint16(513))
	f.Fuzz(func(t *testing.T, seed uint64, steps uint16) {
		checkKernels(t, rand.New(rand.NewPCG(seed, 1)), depthStep*(1+int(steps)%(maxWeightDepth/depthStep)))
	})
}

func TestRoundingAgrees(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		src := randomFloats(rng, TileColumns*rng.IntN(20))
		for i := range src {
			switch rng.IntN(20) {
			case 0: // halves are rounded to even
				src[i] = float32(rng.IntN(9)) - 4
			case 1:
				src[i] = float32(math.Copysign(0, -1))
			}
		}
		for _, floor := range []float32{0, noFloor} {
			checkRounding(t, src, floor)
		}
	}
}

func checkRounding(t *testing.T, src []float32, floor float32) {
	t.Helper()
	largest := absMaxGo(src, floor)
	want := make([]int16, len(src))
	for _, factor := range []float32{WeightLimit / largest, .5} {
		roundGo(want, src, floor, factor)
		for _, set := range kernelSets() {
			if got := set.absMax(src, floor); got != largest {
				t.Fatalf("%s: largest magnitude of %d numbers is %g, want %g", set.name, len(src), got, largest)
			}
			got := make([]int16, len(src))
			set.round(got, src, floor, factor)
			for i := range want {
				if got[i] != want[i] {
					t.Fatalf("%s: %g of %d numbers by %g is %d, want %d", set.name, src[i], len(src), factor, got[i], want[i])
				}
			}
		}
	}
}

// product is rows·matrix in float64.
func product(rows, matrix []float32, count, depth, width int) []float64 {
	out := make([]float64, count*width)
	for r := range count {
		for j := range width {
			for k := range depth {
				out[r*width+j] += float64(rows[r*depth+k]) * float64(matrix[k*width+j])
			}
		}
	}
	return out
}

func checkClose(t *testing.T, what string, got []float32, want []float64, tolerance float64) {
	t.Helper()
	var difference, length float64
	for i := range want {
		d := float64(got[i]) - want[i]
		difference += d * d
		length += want[i] * want[i]
	}
	if relative := math.Sqrt(difference / length); relative > tolerance || math.IsNaN(relative) {
		t.Errorf("%s: relative error %.5f, want at most %.5f", what, relative, tolerance)
	}
}

func TestWeightsMul(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, count := range []int{1, 5, 6, 7, 13} {
		const in, out = 64, 48
		values, bias, src := randomFloats(rng, in*out), randomFloats(rng, out), randomFloats(rng, count*in)
		w, err := Quantize(values, in, out, bias)
		if err != nil {
			t.Fatal(err)
		}
		rows := NewRows(count, in)
		rows.Reset(count, in)
		for i := range count {
			rows.Set(i, src[i*in:], WeightLimit, noFloor)
		}
		dst := make([]float32, rows.Padded()*out)
		w.Mul(dst, out, rows)
		want := product(src, values, count, in, out)
		for i := range want {
			want[i] += float64(bias[i%out])
		}
		checkClose(t, "rows·weights", dst[:count*out], want, .01)
	}
}

func TestColumnsMul(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	rows, other := NewRows(40, 64), NewRows(40, 64)
	columns := NewColumns(64, 64)
	// Descending, so that the scratch space holds numbers of the use before.
	for _, count := range []int{40, 33, 17, 16, 2, 1} {
		const width = 32
		left, right := randomFloats(rng, count*width), randomFloats(rng, count*width)
		rows.Reset(count, width)
		other.Reset(count, width)
		for i := range count {
			rows.Set(i, left[i*width:], ColumnLimit, noFloor)
			other.Set(i, right[i*width:], ColumnLimit, noFloor)
		}

		columns.Transpose(other)
		dst := make([]float32, rows.Padded()*columns.Count())
		columns.Mul(dst, columns.Count(), rows)
		transposed := make([]float32, width*count)
		for i := range count {
			for j := range width {
				transposed[j*count+i] = right[i*width+j]
			}
		}
		got := make([]float32, count*count)
		for i := range count {
			copy(got[i*count:(i+1)*count], dst[i*columns.Count():])
		}
		checkClose(t, "rows·rows", got, product(left, transposed, count, width, count), .001)

		columns.Stack(other)
		depth := roundUp(columns.Depth(), TileColumns)
		left = make([]float32, count*depth)
		scaled := make([]float32, count*columns.Depth())
		rows.Reset(count, columns.Depth())
		for i := range count {
			for j := range count {
				v := float32(rng.NormFloat64())
				left[i*count+j] = v
				scaled[i*columns.Depth()+j] = v * other.Scale(j)
			}
			rows.Set(i, scaled[i*columns.Depth():], ColumnLimit, noFloor)
		}
		dst = make([]float32, rows.Padded()*width)
		columns.Mul(dst, width, rows)
		checkClose(t, "rows·stack", dst[:count*width], product(left, right, count, count, width), .001)
	}
}

func TestRowsSet(t *testing.T) {
	rows := NewRows(1, TileColumns)
	rows.Reset(1, TileColumns)
	src := make([]float32, TileColumns)
	rows.Set(0, src, WeightLimit, noFloor)
	if rows.Scale(0) != 0 {
		t.Errorf("scale of a row of zeros is %g, want 0", rows.Scale(0))
	}
	src[3], src[4] = -2, 1
	rows.Set(0, src, WeightLimit, 0)
	if rows.values[3] != 0 || rows.values[4] != WeightLimit {
		t.Errorf("rectified -2, 1 are %d, %d, want 0, %d", rows.values[3], rows.values[4], WeightLimit)
	}
}

func TestQuantizeRefuses(t *testing.T) {
	for name, shape := range map[string][2]int{"inputs": {6, 16}, "outputs": {8, 10}, "depth": {4096, 16}} {
		if _, err := Quantize(make([]float32, shape[0]*shape[1]), shape[0], shape[1], make([]float32, shape[1])); err == nil {
			t.Errorf("%s: a matrix of %v was accepted", name, shape)
		}
	}
	if _, err := Quantize(make([]float32, 5), 8, 16, nil); err == nil {
		t.Error("a matrix of too few numbers was accepted")
	}
}

func BenchmarkTile(b *testing.B) {
	const depth = 512
	job := randomTile(rand.New(rand.NewPCG(9, 10)), depth, WeightLimit)
	portable := kernelSet{name: "portable", weights: multiplyWeightsGo, columns: multiplyColumnsGo}
	for _, set := range append(kernelSets(), portable) {
		b.Run(set.name, func(b *testing.B) {
			for b.Loop() {
				set.weights(&job)
			}
			perSecond := float64(b.N) / b.Elapsed().Seconds()
			b.ReportMetric(perSecond*TileRows*TileColumns*depth/1e9, "Gmul/s")
		})
	}
}
