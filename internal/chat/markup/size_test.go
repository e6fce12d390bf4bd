package markup

import (
	"testing"
)

func TestSize(t *testing.T) {
	for bytes, want := range map[int]string{
		0: "0 bytes", 1: "1 byte", 1023: "1023 bytes", 1024: "1 KB", 1025: "2 KB", 512 << 10: "512 KB",
		1<<20 - 1<<10: "1023 KB", 1<<20 - 1: "1 MB", 1 << 20: "1 MB", 1<<20 + 1: "2 MB",
	} {
		if got := Size(bytes); got != want {
			t.Errorf("%d bytes are %q, want %q", bytes, got, want)
		}
	}
}
