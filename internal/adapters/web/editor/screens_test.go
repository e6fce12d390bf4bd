package editor_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/cairn-bot/cairn/internal/adapters/web/webtest"
	"github.com/cairn-bot/cairn/internal/pages"
)

// sizes are the windows that the page is looked at in: a laptop's, a phone's, and the laptop's
// zoomed to 200 per cent.
var sizes = []struct {
	name          string
	width, height int64
}{{"wide", 1280, 900}, {"phone", 360, 740}, {"zoomed", 640, 450}}

var schemes = []string{"light", "dark"}

// everything is a page with all kinds of blocks.
const everything = "## How much\n\nEvery employee has **27 days** of *paid* leave, `PTO` for short; see [the law](https://example.com/law). ~~Once it was 24.~~\n\n" +
	"## Who decides\n\n- the lead of the team\n- where that is away:\n  - their deputy\n  - else Maria\n\n1. Ask in the thread.\n2. Wait for an answer.\n\n" +
	"- [x] Agree on the numbers\n- [ ] Tell everybody\n\n> Leave that is not taken by March is lost.\n\n---\n\n```go\nfunc days(years int) int {\n\treturn 27 + years/5\n}\n```\n\n" +
	"| Office | Days | Since |\n|---|---|---|\n| Berlin | 28 | 2019 |\n| Lyon | 30 | 2021 |\n\n![A chart of days](https://example.com/chart.png)\n"

var longWord = strings.Repeat("Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft", 3)

// screens are all that the pages show.
var screens = []struct {
	name  string
	reach func(p *place, b *browser)
}{
	{"list", func(p *place, b *browser) {
		p.write("Paid leave", "One")
		p.write("Decision on the database "+longWord[:150], "Two")
		b.do(chromedp.Navigate(p.url+"pages"), chromedp.WaitVisible(".page-list"))
	}},
	{"list-empty", func(p *place, b *browser) {
		b.do(chromedp.Navigate(p.url+"pages"), chromedp.WaitVisible(".nothing"))
	}},
	{"editor", func(p *place, b *browser) {
		b.opens(p.write("Paid leave", everything))
		b.puts("Every employee")
	}},
	{"table", func(p *place, b *browser) {
		b.opens(p.write("Paid leave", everything))
		b.puts("Berlin")
		b.do(chromedp.WaitVisible(".in-table"))
		b.do(chromedp.ScrollIntoView("#text table"))
	}},
	{"long", func(p *place, b *browser) {
		b.opens(p.write(longWord[:200-len("ä")*2], longWord+"\n\n`"+longWord+"`\n\n- "+longWord+"\n\n| "+longWord+" | b |\n|---|---|\n| c | "+longWord+" |"))
	}},
	{"empty", func(p *place, b *browser) { b.opens(p.write("An empty page", "")) }},
	{"conflict", func(p *place, b *browser) {
		id := p.write("Leave", "It is 27 days.\n\nAnd")
		b.opens(id)
		b.clash(id)
	}},
	{"people", func(p *place, b *browser) {
		id := p.write("Leave", everything)
		other := p.browser()
		other.opens(id)
		other.puts("their deputy")
		b.opens(id)
		b.holds(`document.querySelectorAll(".who").length === 1`)
	}},
	{"link", func(p *place, b *browser) {
		b.opens(p.write("Leave", everything))
		b.puts("the la")
		b.holds(`document.querySelector("[data-do=link]").ariaPressed === "true"`)
		b.do(chromedp.Evaluate(`document.querySelector("[data-do=link]").click()`, nil), chromedp.WaitVisible("#link[open]"))
	}},
	{"shortcuts", func(p *place, b *browser) {
		b.opens(p.write("Leave", "One"))
		b.do(chromedp.Evaluate(`document.querySelector("[data-do=help]").click()`, nil), chromedp.WaitVisible("#shortcuts[open]"))
	}},
	{"history", func(p *place, b *browser) {
		id := p.write("Paid leave", everything)
		p.change(id, replace("27", "28"))
		p.change(id, replace("Maria", "Maria, or Paul"))
		b.do(chromedp.Navigate(p.url+"page/"+string(id)+"/history?version=2"), chromedp.WaitVisible(".change"))
	}},
	{"gone", func(p *place, b *browser) {
		b.do(chromedp.Navigate(p.url+"page/nowhere"), chromedp.WaitVisible(".empty"))
	}},
}

// eachScreen shows all that the pages show, in each size and both schemes.
func eachScreen(t *testing.T, look func(b *browser, name string)) {
	t.Helper()
	for _, s := range screens {
		t.Run(s.name, func(t *testing.T) {
			p := open(t, mayWrite)
			b := p.browser()
			b.offline = s.name == "gone" // the browser complains of what is not there
			for _, size := range sizes {
				b.do(chromedp.EmulateViewport(size.width, size.height))
				p.clear()
				s.reach(p, b)
				for _, scheme := range schemes {
					b.prefers(scheme)
					look(b, s.name+"-"+size.name+"-"+scheme)
				}
			}
		})
	}
	t.Run("reading", func(t *testing.T) {
		p := open(t, mayRead)
		id := p.write("Paid leave", everything)
		b := p.browser()
		for _, size := range sizes {
			b.do(chromedp.EmulateViewport(size.width, size.height))
			b.opens(id)
			for _, scheme := range schemes {
				b.prefers(scheme)
				look(b, "reading-"+size.name+"-"+scheme)
			}
		}
	})
}

// clear removes all pages.
func (p *place) clear() {
	p.Helper()
	listed, err := p.library.List(p.Context(), pages.Place{})
	if err != nil {
		p.Fatal(err)
	}
	for _, page := range listed {
		if err := p.library.Delete(p.Context(), pages.Place{}, page.ID); err != nil {
			p.Fatal(err)
		}
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
