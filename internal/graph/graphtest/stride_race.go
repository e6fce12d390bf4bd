//go:build race

package graphtest

// CrashStride is from one call or checkpoint at which a process is killed to the next: the
// race detector makes runs take ten times as long, and looks for the same at all of them.
const CrashStride = 6
