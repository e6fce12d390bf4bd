package markup

import "fmt"

// Size returns a number of bytes as people read it: "640 bytes", "12 KB", "3 MB"; rounded up.
func Size(bytes int) string {
	switch {
	case bytes == 1:
		return "1 byte"
	case bytes < 1<<10:
		return fmt.Sprintf("%d bytes", bytes)
	case bytes <= 1<<20-1<<10:
		return fmt.Sprintf("%d KB", (bytes+1<<10-1)>>10)
	}
	return fmt.Sprintf("%d MB", (bytes+1<<20-1)>>20)
}
