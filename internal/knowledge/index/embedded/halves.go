package embedded

import (
	"encoding/binary"
	"math"
)

// signWords returns how many 64-bit words the sign bits of a vector take.
func signWords(dimension int) int {
	return (dimension + 63) / 64
}

// signsOf returns the sign bits of a vector: bit i of word i/64 reports whether component i
// is above 0.
func signsOf(vector []float32) []uint64 {
	signs := make([]uint64, signWords(len(vector)))
	for i, component := range vector {
		if component > 0 {
			signs[i/64] |= 1 << (i % 64)
		}
	}
	return signs
}

// Between a half float and a float32 with its bits shifted into place lies this
// factor: the difference of the exponents' biases.
const halfBias = 0x1p112

// appendHalves adds a vector's components, of size 1 at most, as IEEE 754 half
// floats, little-endian, rounded to the nearest.
func appendHalves(data []byte, vector []float32) []byte {
	for _, component := range vector {
		bits := math.Float32bits(component)
		scaled := math.Float32bits(math.Float32frombits(bits&^(1<<31)) / halfBias)
		scaled += 0xfff + scaled>>13&1 // ties to even
		data = binary.LittleEndian.AppendUint16(data, uint16(bits>>31<<15|scaled>>13))
	}
	return data
}

func halfToFloat(half uint16) float32 {
	size := math.Float32frombits(uint32(half&0x7fff)<<13) * halfBias
	return math.Float32frombits(math.Float32bits(size) | uint32(half>>15)<<31)
}

// dotHalves returns the dot product of a vector and as many half floats.
func dotHalves(vector []float32, halves []byte) float64 {
	halves = halves[:2*len(vector)]
	var even, odd float32
	i := 0
	for ; i+1 < len(vector); i += 2 {
		pair := binary.LittleEndian.Uint32(halves[2*i:])
		even += vector[i] * halfToFloat(uint16(pair))
		odd += vector[i+1] * halfToFloat(uint16(pair>>16))
	}
	if i < len(vector) {
		even += vector[i] * halfToFloat(binary.LittleEndian.Uint16(halves[2*i:]))
	}
	return float64(even + odd)
}
