package web

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/cairn-bot/cairn/internal/adapters/web/webtest"
)

var shots = flag.String("shots", "", "folder to keep pictures of all that the page shows in")

func awaited(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }

// sizes are the windows that the page is looked at in: a laptop's, a phone's, and the
// laptop's zoomed to 200 per cent.
var sizes = []struct {
	name          string
	width, height int64
}{{"wide", 1280, 900}, {"phone", 360, 740}, {"zoomed", 640, 450}}

var schemes = []string{"light", "dark"}

func (b *browser) prefers(scheme string) {
	b.Helper()
	b.do(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}))
}

// eachScreen shows all that the page shows, in each size and both schemes.
func eachScreen(t *testing.T, look func(b *browser, name string)) {
	for _, s := range screens {
		t.Run(s.name, func(t *testing.T) {
			w, _ := serveShelf(t)
			b := openBrowser(t)
			for _, size := range sizes {
				b.do(chromedp.EmulateViewport(size.width, size.height), chromedp.Navigate(w.URL()), chromedp.WaitVisible("#empty"))
				s.reach(b, w)
				for _, scheme := range schemes {
					b.prefers(scheme)
					look(b, s.name+"-"+size.name+"-"+scheme)
				}
			}
		})
	}
}

func (b *browser) shoot(name string) {
	b.Helper()
	if *shots == "" {
		return
	}
	var png []byte
	b.do(chromedp.CaptureScreenshot(&png))
	if err := os.WriteFile(filepath.Join(*shots, name+".png"), png, 0o644); err != nil {
		b.Fatal(err)
	}
}

func TestBrowserScreens(t *testing.T) {
	eachScreen(t, func(b *browser, name string) {
		b.shoot(name)
		for _, problem := range webtest.Problems(b.ctx, b.T) {
			b.Errorf("%s: %s", name, problem)
		}
	})
}
