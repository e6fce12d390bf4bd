//go:build !linux

package main

// lowerPriority does nothing on systems other than Linux.
func lowerPriority() error { return nil }
