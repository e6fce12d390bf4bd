//go:build !amd64 && !arm64

package matrix

func multiplyWeights(t *tile)                                 { multiplyWeightsGo(t) }
func multiplyColumns(t *tile)                                 { multiplyColumnsGo(t) }
func absMax(src []float32, floor float32) float32             { return absMaxGo(src, floor) }
func round(dst []int16, src []float32, floor, factor float32) { roundGo(dst, src, floor, factor) }
