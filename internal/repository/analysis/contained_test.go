package analysis

import (
	"strings"
	"testing"
)

func TestAPanicIsContained(t *testing.T) {
	err := recoverPanic("a.yaml", func() error { panic("no such node") })
	if err == nil || !strings.Contains(err.Error(), "read a.yaml: its parser failed: no such node") {
		t.Errorf("%v", err)
	}
	if err := recoverPanic("a.yaml", func() error { return nil }); err != nil {
		t.Error(err)
	}
}
