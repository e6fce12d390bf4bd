package matrix

// kernelSets are what this processor can compute tiles with.
func kernelSets() []kernelSet {
	sets := []kernelSet{{"chosen", multiplyWeights, multiplyColumns, absMax, round}}
	if hasAVX2 {
		sets = append(sets, kernelSet{"AVX2", multiplyWeightsAVX2, multiplyColumnsAVX2, absMaxAVX2, roundAVX2})
	}
	if hasVNNI {
		sets = append(sets, kernelSet{"VNNI", multiplyWeightsVNNI, multiplyColumnsVNNI, absMaxAVX2, roundAVX2})
	}
	return sets
}
