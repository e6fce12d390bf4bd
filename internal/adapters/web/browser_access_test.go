package web

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
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
			w := serve(t, screenBot())
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

// contrast gives the texts whose colour is too near to that of what is behind them.
const contrast = `(() => {
  const light = (color) => {
    const [r, g, b] = color.match(/[\d.]+/g).map(Number).map((v) => (v /= 255) <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
    return .2126 * r + .7152 * g + .0722 * b;
  };
  const behind = (element) => {
    for (; element; element = element.parentElement) {
      const box = element.closest("svg") && element.parentElement?.querySelector(":scope > .box");
      if (box && getComputedStyle(box).fill !== "none") return getComputedStyle(box).fill;
      const color = getComputedStyle(element).backgroundColor;
      if (!/, 0\)$|transparent/.test(color)) return color;
    }
    return "rgb(255, 255, 255)";
  };
  const bad = [];
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((n) => n.nodeType === 3 && n.data.trim()) || element.matches("textarea");
    if (!own || !element.checkVisibility({ visibilityProperty: true }) || element.closest(".hidden, title")) continue;
    const styles = [getComputedStyle(element)];
    if (element.matches("textarea")) styles.push(getComputedStyle(element, "::placeholder"));
    for (const style of styles) {
      const color = element.closest("svg") ? style.fill : style.color;
      const [a, b] = [light(color), light(behind(element))];
      const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
      if (ratio < 4.5) bad.push(element.className + " " + element.tagName + " " + ratio.toFixed(2) + " " + element.textContent.trim().slice(0, 40));
    }
  }
  return bad;
})()`

// unnamed gives what assistive technology could not tell: controls without a name,
// ids that are not unique or not there, headings that skip a level.
const unnamed = `(() => {
  const bad = [];
  for (const element of document.querySelectorAll("input:not([type=hidden]), textarea, select, button, a, [role=region], dialog, aside:not([hidden]), nav")) {
    const by = element.getAttribute("aria-labelledby");
    const name = element.getAttribute("aria-label") || (by && document.getElementById(by)?.textContent) ||
      [...(element.labels || [])].map((l) => l.textContent).join("") || (element.matches("button, a") ? element.textContent : "");
    if (!name.trim()) bad.push("no name: " + element.outerHTML.slice(0, 80));
  }
  const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
  ids.filter((id, i) => ids.indexOf(id) !== i).forEach((id) => bad.push("id twice: " + id));
  for (const element of document.querySelectorAll("[aria-describedby]")) {
    const id = element.getAttribute("aria-describedby");
    if (!document.getElementById(id)) bad.push("described by nothing: " + id);
  }
  let level = 0;
  for (const heading of document.querySelectorAll("main h1, main h2, main h3, main h4, main h5, main h6")) {
    const next = Number(heading.tagName[1]);
    if (next > level + 1) bad.push("heading skips a level: " + heading.outerHTML.slice(0, 80));
    level = next;
  }
  if (document.querySelectorAll("h1").length !== 1) bad.push("not one h1");
  if (!document.documentElement.lang) bad.push("no language");
  return bad;
})()`

// cramped gives what is wider than the window, and what is too small to be touched.
const cramped = `(() => {
  const bad = [];
  const wide = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > wide) {
    for (const element of document.querySelectorAll("body *")) {
      if (element.getBoundingClientRect().right > wide + 1 && !element.closest(".scroll, pre, .hidden, #threads")) bad.push("too wide: " + element.outerHTML.slice(0, 90));
    }
    bad.push("the page scrolls sideways: " + document.documentElement.scrollWidth);
  }
  for (const element of document.querySelectorAll("button, summary, select, .icon, .quiet, #list a")) {
    const box = element.getBoundingClientRect();
    if (element.checkVisibility() && (box.height < 24 || box.width < 24)) bad.push("too small to be touched: " + element.outerHTML.slice(0, 90));
  }
  return bad;
})()`

func TestBrowserScreens(t *testing.T) {
	eachScreen(t, func(b *browser, name string) {
		b.shoot(name)
		for _, check := range []string{contrast, unnamed, cramped} {
			for _, problem := range evaluate[[]string](b, check) {
				b.Errorf("%s: %s", name, problem)
			}
		}
	})
}
