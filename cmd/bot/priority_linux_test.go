package main

import (
	"os"
	"os/exec"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// TestLowerPriority runs itself: a process without privileges can't raise its priority again.
func TestLowerPriority(t *testing.T) {
	if os.Getenv("CAIRN_TEST_LOWER_PRIORITY") == "" {
		command := exec.Command(os.Args[0], "-test.run=^TestLowerPriority$")
		command.Env = append(os.Environ(), "CAIRN_TEST_LOWER_PRIORITY=1")
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return
	}
	if err := lowerPriority(); err != nil {
		t.Fatal(err)
	}
	done := make(chan int)
	go func() {
		runtime.LockOSThread()
		// The system call gives 20 less the nice value.
		value, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
		if err != nil {
			t.Error(err)
		}
		done <- 20 - value
	}()
	if nice := <-done; nice < backgroundNice {
		t.Errorf("a thread has the nice value %d, want %d", nice, backgroundNice)
	}
}
