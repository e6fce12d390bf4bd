package flows_test

import (
	"os"
	"strings"
	"testing"
)

// TestTheDocumentedFlowIsTheExample keeps docs/flows.md and the example the same.
func TestTheDocumentedFlowIsTheExample(t *testing.T) {
	source, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../../docs/flows.md")
	if err != nil {
		t.Fatal(err)
	}
	_, example, began := strings.Cut(string(source), "// begin of the example\n")
	example, _, ended := strings.Cut(example, "// end of the example\n")
	if !began || !ended {
		t.Fatal("the example has lost its marks")
	}
	if !strings.Contains(string(page), "```go\n"+strings.TrimSpace(example)+"\n```\n") {
		t.Error("docs/flows.md shows another flow than example_test.go has")
	}
}
