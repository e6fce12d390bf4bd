package matrix

// kernelSets are what this processor can compute tiles with.
func kernelSets() []kernelSet {
	sets := []kernelSet{
		{"chosen", multiplyWeights, multiplyColumns, absMax, round},
		{"NEON", multiplyWeightsNEON, multiplyColumnsNEON, absMaxNEON, roundNEON},
	}
	if hasDot {
		sets = append(sets, kernelSet{"SDOT", multiplyWeightsDot, multiplyColumnsNEON, absMaxNEON, roundNEON})
	}
	return sets
}
