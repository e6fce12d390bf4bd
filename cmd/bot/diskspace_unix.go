//go:build linux || darwin

package main

import "syscall"

// freeSpace gives the bytes that this user may still write where path is.
func freeSpace(path string) (free uint64, known bool, err error) {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(path, &disk); err != nil {
		return 0, false, err
	}
	return disk.Bavail * uint64(disk.Bsize), true, nil //nolint:gosec // the size of a block is positive
}
