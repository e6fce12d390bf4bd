//go:build axe

package editor_test

import (
	"os"
	"testing"

	"github.com/chromedp/chromedp"

	"cairn/internal/adapters/web/webtest"
)

// TestAxe looks at every screen with axe-core, which ../axe.sh brings.
func TestAxe(t *testing.T) {
	script, err := os.ReadFile(os.Getenv("CAIRN_TEST_AXE"))
	if err != nil {
		t.Fatalf("read axe-core, which axe.sh names in CAIRN_TEST_AXE: %v", err)
	}
	eachScreen(t, func(b *browser, name string) {
		b.do(chromedp.Evaluate(string(script), nil))
		for _, violation := range evaluateAwaited[[]string](b, webtest.Violations) {
			b.Errorf("%s: %s", name, violation)
		}
	})
}
