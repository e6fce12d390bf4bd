package webtest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/cairn-bot/cairn/internal/servertest"
)

// violations runs axe-core over a page that has loaded it and gives what it finds.
const violations = `axe.run(document, { resultTypes: ["violations"] }).then((found) =>
	found.violations.flatMap((v) => v.nodes.map((n) => v.id + ": " + n.target.join(" ") + ": " + (n.any[0] ?? n.all[0] ?? n.none[0])?.message)))`

// Problems gives what is wrong with the page that a window shows: the findings of axe-core, texts
// that can't be read, and what does not fit or can't be touched.
func Problems(ctx context.Context, t *testing.T) []string {
	t.Helper()
	axe, err := loadAxe()
	if err != nil {
		t.Fatal(err)
	}
	var problems []string
	err = chromedp.Run(ctx,
		chromedp.Evaluate(axe, nil),
		chromedp.Evaluate(violations, &problems, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
	if err != nil {
		t.Fatal(err)
	}
	for _, check := range []string{contrast, cramped} {
		var found []string
		if err := chromedp.Run(ctx, chromedp.Evaluate(check, &found)); err != nil {
			t.Fatal(err)
		}
		problems = append(problems, found...)
	}
	return problems
}

// loadAxe gives the source of axe-core, which scripts/axe.sh brings.
var loadAxe = sync.OnceValues(func() (string, error) {
	script, err := servertest.FindScript("axe.sh")
	if err != nil {
		return "", err
	}
	var said strings.Builder
	command := exec.CommandContext(context.Background(), script)
	command.Stderr = &said
	path, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("fetch axe-core: %w: %s", err, strings.TrimSpace(said.String()))
	}
	source, err := os.ReadFile(strings.TrimSpace(string(path)))
	return string(source), err
})

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
