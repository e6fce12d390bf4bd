package main

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// backgroundNice is the nice value of a process that others don't wait for.
const backgroundNice = 10

// lowerPriority lets other processes, which answer questions, have the processor first.
// Linux keeps the value for each thread; threads begin with that of the one that starts
// them.
func lowerPriority() error {
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return fmt.Errorf("list the threads of this process: %w", err)
	}
	for _, thread := range threads {
		id, err := strconv.Atoi(thread.Name())
		if err != nil {
			return fmt.Errorf("thread %q: %w", thread.Name(), err)
		}
		if err := unix.Setpriority(unix.PRIO_PROCESS, id, backgroundNice); err != nil && err != unix.ESRCH {
			return fmt.Errorf("set the priority of thread %d: %w", id, err)
		}
	}
	return nil
}
