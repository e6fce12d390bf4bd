//go:build axe

package web

import (
	"os"
	"testing"

	"github.com/chromedp/chromedp"
)

// violations runs axe-core over the page and gives what it finds.
const violations = `axe.run(document, { resultTypes: ["violations"] }).then((found) =>
	found.violations.flatMap((v) => v.nodes.map((n) => v.id + ": " + n.target.join(" ") + ": " + (n.any[0] ?? n.all[0] ?? n.none[0])?.message)))`

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
		b.do(chromedp.Evaluate(violations, &found, awaited))
		for _, violation := range found {
			b.Errorf("%s: %s", name, violation)
		}
	})
}
