package matrix

import "golang.org/x/sys/cpu"

// hasDot reports whether the processor has SDOT, which adds up four products of 8-bit
// numbers. x/sys/cpu names the feature as Linux does and explains it wrongly.
var hasDot = cpu.ARM64.HasASIMDDP

// multiplyWeightsDot splits the rows into halves of 7 bits.
//
//go:noescape
func multiplyWeightsDot(t *tile)

//go:noescape
func multiplyWeightsNEON(t *tile)

//go:noescape
func multiplyColumnsNEON(t *tile)

// absMaxNEON takes slices whose length is a multiple of 16.
//
//go:noescape
func absMaxNEON(src []float32, floor float32) float32

// roundNEON takes slices whose length is a multiple of 16.
//
//go:noescape
func roundNEON(dst []int16, src []float32, floor, factor float32)

func multiplyWeights(t *tile) {
	if hasDot {
		multiplyWeightsDot(t)
		return
	}
	multiplyWeightsNEON(t)
}

func multiplyColumns(t *tile) { multiplyColumnsNEON(t) }

func absMax(src []float32, floor float32) float32 {
	if len(src)%TileColumns == 0 {
		return absMaxNEON(src, floor)
	}
	return absMaxGo(src, floor)
}

func round(dst []int16, src []float32, floor, factor float32) {
	if len(src)%TileColumns == 0 {
		roundNEON(dst, src, floor, factor)
		return
	}
	roundGo(dst, src, floor, factor)
}
