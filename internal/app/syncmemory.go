package app

import (
	"os"
	"runtime/debug"
	"runtime/metrics"
)

const (
	// syncMemory is where the collector begins to work harder while documents are read, in bytes: most of
	// what a large one takes is garbage.
	syncMemory = 110 << 20
	// syncRoom is how much may be in use besides what was before, in bytes.
	syncRoom = 64 << 20
)

// LimitSyncMemory has the collector work harder while documents are read, until restore is called. A
// limit that the environment sets holds.
func LimitSyncMemory() (restore func()) {
	if os.Getenv("GOMEMLIMIT") != "" {
		return func() {}
	}
	inUse := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(inUse)
	before := debug.SetMemoryLimit(max(syncMemory, int64(inUse[0].Value.Uint64())+syncRoom))
	return func() { debug.SetMemoryLimit(before) }
}
