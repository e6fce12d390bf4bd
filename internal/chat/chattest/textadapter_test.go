package chattest_test

import (
	"bytes"
	"os"
	"testing"
)

// TestTheExampleIsSmall keeps the adapter that docs/platforms.md shows as short as it says.
func TestTheExampleIsSmall(t *testing.T) {
	source, err := os.ReadFile("textadapter.go")
	if err != nil {
		t.Fatal(err)
	}
	if lines := bytes.Count(source, []byte("\n")); lines >= 300 {
		t.Errorf("the adapter has %d lines, the page promises fewer than 300", lines)
	}
}
