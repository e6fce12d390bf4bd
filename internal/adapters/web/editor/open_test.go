package editor_test

import (
	"context"
	"flag"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"

	"github.com/cairn-bot/cairn/internal/pages/tree"
)

var blocks = flag.Int("blocks", 300, "blocks of the page that is opened and measured")

// TestBrowserOpensALongPage opens a page of -blocks blocks, logs how long that takes until it can
// be written on, and writes on it.
func TestBrowserOpensALongPage(t *testing.T) {
	p := open(t, mayWrite)
	id := p.write("A long page", strings.Repeat("A paragraph with a few words in it.\n\n", *blocks-1)+"The end.")
	b := p.browser()
	b.do(performance.Enable().WithTimeDomain(performance.EnableTimeDomainThreadTicks))
	for range 3 {
		before := b.busy()
		b.opens(id)
		took := evaluate[float64](b, `performance.getEntriesByName("ready")[0].startTime`)
		t.Logf("%d blocks can be written on %.0f ms after they were asked for; the window's thread worked for %.0f ms", *blocks, took, b.busy()-before)
	}
	b.puts("The end.")
	b.types(" Or not.")
	b.saves()
	p.change(id, func(root *tree.Node) *tree.Node {
		root.Children[0].Children[0].Text = "Another paragraph."
		return root
	})
	b.do(chromedp.Poll(`document.querySelector("#text > p").textContent.startsWith("Another")`, nil))
	if got := p.load(id).Root; len(got.Children) != *blocks || got.Children[*blocks-1].PlainText() != "The end. Or not." {
		t.Errorf("the page has %d blocks and ends with %q", len(got.Children), got.Children[len(got.Children)-1].PlainText())
	}
}

// busy gives how long the window's thread has worked, in ms of processor time.
func (b *browser) busy() (worked float64) {
	b.Helper()
	b.do(chromedp.ActionFunc(func(ctx context.Context) error {
		metrics, err := performance.GetMetrics().Do(ctx)
		for _, metric := range metrics {
			if metric.Name == "TaskDuration" {
				worked = metric.Value * 1000
			}
		}
		return err
	}))
	return worked
}
