//go:build !race

package graphtest

// CrashStride is from one call or checkpoint at which a process is killed to the next.
const CrashStride = 1
