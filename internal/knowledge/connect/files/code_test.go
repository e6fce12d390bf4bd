package files

import (
	"testing"

	"github.com/cairn-bot/cairn/internal/knowledge"
)

func TestSourceCodeIsReadWhereItIsAskedFor(t *testing.T) {
	f := newFolder(t)
	f.Put("a.md", "# A")
	f.Put("pkg/b.go", "package b")
	f.Put("pkg/b.json", "{}")
	f.Put("vendor/c.go", "package c")
	if found := f.documents(); len(found) != 1 {
		t.Errorf("%d documents, want 1", len(found))
	}
	f.options.SourceCode = true
	found := f.documents()
	if len(found) != 2 || found["pkg/b.go"].Document.Kind != knowledge.KindCode || found["a.md"].Document.Kind != knowledge.KindDocumentation {
		t.Errorf("read are %+v", found)
	}
}
