//go:build !race

// Package racetest tells tests how much of their work the race detector leaves time for. All of
// it is done without the detector: crashes by .ci/run, the rest by make nightly.
package racetest

// Stride is from one case of a test to the next that is tried.
const Stride = 1
