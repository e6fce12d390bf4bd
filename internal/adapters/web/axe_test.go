//go:build axe

package web

import (
	"os"
	"testing"

	"github.com/chromedp/chromedp"

	"cairn/internal/adapters/web/webtest"
)

// TestAxe looks at every screen with axe-core, which axe.sh brings. It has a build tag
// of its own because it needs what the other tests don't: the npm registry.
func TestAxe(t *testing.T) {
	script, err := os.ReadFile(os.Getenv("CAIRN_TEST_AXE"))
	if err != nil {
		t.Fatalf("read axe-core, which axe.sh names in CAIRN_TEST_AXE: %v", err)
	}
	eachScreen(t, func(b *browser, name string) {
		b.do(chromedp.Evaluate(string(script), nil))
		var found []string
		b.do(chromedp.Evaluate(webtest.Violations, &found, awaited))
		for _, violation := range found {
			b.Errorf("%s: %s", name, violation)
		}
	})
}
