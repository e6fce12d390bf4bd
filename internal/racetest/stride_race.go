//go:build race

package racetest

// Stride is from one case of a test to the next that is tried: the race detector makes each take
// about ten times as long, and what it looks for is the same in all of them.
const Stride = 6
