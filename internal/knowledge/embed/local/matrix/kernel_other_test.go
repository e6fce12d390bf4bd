//go:build !amd64 && !arm64

package matrix

// kernelSets are what this processor can compute tiles with.
func kernelSets() []kernelSet {
	return []kernelSet{{"chosen", multiplyWeights, multiplyColumns, absMax, round}}
}
