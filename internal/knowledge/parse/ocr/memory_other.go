//go:build !linux

package ocr

// limitMemory does nothing: other systems bound no process from outside.
func limitMemory(int) {}
