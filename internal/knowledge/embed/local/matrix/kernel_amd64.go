package matrix

import "golang.org/x/sys/cpu"

var (
	hasAVX2 = cpu.X86.HasAVX2
	// hasVNNI reports whether pairs can be multiplied and added up in one instruction for 16
	// columns at a time.
	hasVNNI = hasAVX2 && cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512VNNI
)

//go:noescape
func multiplyWeightsVNNI(t *tile)

//go:noescape
func multiplyColumnsVNNI(t *tile)

//go:noescape
func multiplyWeightsAVX2(t *tile)

//go:noescape
func multiplyColumnsAVX2(t *tile)

// absMaxAVX2 takes slices whose length is a multiple of 8.
//
//go:noescape
func absMaxAVX2(src []float32, floor float32) float32

// roundAVX2 takes slices whose length is a multiple of 16.
//
//go:noescape
func roundAVX2(dst []int16, src []float32, floor, factor float32)

func multiplyWeights(t *tile) {
	switch {
	case hasVNNI:
		multiplyWeightsVNNI(t)
	case hasAVX2:
		multiplyWeightsAVX2(t)
	default:
		multiplyWeightsGo(t)
	}
}

func multiplyColumns(t *tile) {
	switch {
	case hasVNNI:
		multiplyColumnsVNNI(t)
	case hasAVX2:
		multiplyColumnsAVX2(t)
	default:
		multiplyColumnsGo(t)
	}
}

func absMax(src []float32, floor float32) float32 {
	if hasAVX2 && len(src)%TileColumns == 0 {
		return absMaxAVX2(src, floor)
	}
	return absMaxGo(src, floor)
}

func round(dst []int16, src []float32, floor, factor float32) {
	if hasAVX2 && len(src)%TileColumns == 0 {
		roundAVX2(dst, src, floor, factor)
		return
	}
	roundGo(dst, src, floor, factor)
}
