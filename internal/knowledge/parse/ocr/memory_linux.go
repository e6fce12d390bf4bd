package ocr

import "golang.org/x/sys/unix"

// limitMemory bounds the memory of a process that was just started.
func limitMemory(process int) {
	limit := &unix.Rlimit{Cur: memoryLimit, Max: memoryLimit}
	unix.Prlimit(process, unix.RLIMIT_AS, limit, nil) //nolint:errcheck // it may have ended
}
