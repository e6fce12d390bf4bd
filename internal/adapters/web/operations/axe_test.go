//go:build axe

package operations_test

import (
	"os"
	"testing"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"cairn/internal/adapters/web/webtest"
)

func awaited(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }

// TestAxe looks at every screen with axe-core, which axe.sh of the web page brings.
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
