// Command pictures draws the pictures of the README: an answer in the terminal, one on the page,
// both by the program that it is given over the folder handbook, and one in Slack, from the golden
// file of Slack's messages. It needs Chromium.
//
//	go run ./docs/pictures CAIRN
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/creack/pty"
)

const (
	folder   = "docs/pictures"
	question = "How do I roll back a release?"
	patience = time.Minute
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: pictures CAIRN (from the top of a checkout)")
		os.Exit(2)
	}
	if err := drawAll(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "pictures:", err)
		os.Exit(1)
	}
}

func drawAll(cairn string) (err error) {
	cairn, err = filepath.Abs(cairn)
	if err != nil {
		return err
	}
	home, err := os.MkdirTemp("", "cairn-pictures-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(home)) }()
	ctx, end := context.WithTimeout(context.Background(), patience)
	defer end()
	program := &program{ctx: ctx, path: cairn, env: append(os.Environ(), "HOME="+home, "CAIRN_DATA_DIR="+filepath.Join(home, "data"), "TERM=xterm-256color")}
	if out, err := program.command("ingest", folder+"/handbook").CombinedOutput(); err != nil {
		return fmt.Errorf("ingest: %w\n%s", err, out)
	}
	said, err := program.inTerminal("ask", question)
	if err != nil {
		return err
	}
	message, err := os.ReadFile("internal/adapters/slack/testdata/answer.golden")
	if err != nil {
		return err
	}
	browser, endBrowser := chromedp.NewContext(ctx)
	defer endBrowser()
	return errors.Join(
		drawHTML(browser, "terminal.png", terminalHTML(question, said)),
		drawHTML(browser, "slack.png", slackHTML(string(message))),
		program.drawPage(browser),
	)
}

// program is Cairn over the folder handbook.
type program struct {
	ctx  context.Context //nolint:containedctx // of all that it runs
	path string
	env  []string
}

func (p *program) command(args ...string) *exec.Cmd {
	command := exec.CommandContext(p.ctx, p.path, args...)
	command.Env = p.env
	return command
}

// inTerminal gives what a command writes to a terminal of 80 columns.
func (p *program) inTerminal(args ...string) (string, error) {
	terminal, err := pty.StartWithSize(p.command(args...), &pty.Winsize{Rows: 40, Cols: 80})
	if err != nil {
		return "", err
	}
	said, err := io.ReadAll(terminal)
	if errors.Is(err, syscall.EIO) { // is how a terminal tells that its program ended
		err = nil
	}
	return strings.ReplaceAll(string(said), "\r\n", "\n"), errors.Join(err, terminal.Close())
}

// drawPage asks on the page.
func (p *program) drawPage(browser context.Context) (err error) {
	web := p.command("web", "--listen", "127.0.0.1:0")
	out, err := web.StdoutPipe()
	if err != nil {
		return err
	}
	if err := web.Start(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, web.Process.Signal(syscall.SIGTERM), web.Wait()) }()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return err
	}
	start := strings.Index(line, "http")
	if start < 0 {
		return fmt.Errorf("cairn web names no address: %q", line)
	}
	address := line[start:]
	return draw(browser, "page.png",
		chromedp.EmulateViewport(960, 600), chromedp.Navigate(strings.TrimSpace(address)),
		chromedp.SendKeys("#text", question), chromedp.Click("//button[.='Send']"),
		chromedp.WaitVisible(".part-said .reply"), chromedp.WaitVisible(".sources"),
	)
}

// drawHTML draws the first element of a page's body.
func drawHTML(browser context.Context, name, page string) error {
	return draw(browser, name, chromedp.EmulateViewport(760, 100), chromedp.Navigate("data:text/html,"+url.PathEscape(page)))
}

func draw(browser context.Context, name string, actions ...chromedp.Action) error {
	var picture []byte
	if err := chromedp.Run(browser, append(actions, chromedp.FullScreenshot(&picture, 100))...); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return os.WriteFile(filepath.Join(folder, name), picture, 0o644)
}

var (
	link   = regexp.MustCompile("\x1b\\]8;;[^\x1b]*\x1b\\\\")
	style  = regexp.MustCompile("\x1b\\[([0-9;]*)m")
	colors = map[string]string{"1": "b", "2": "f", "3": "i", "33": "code", "36": "mark", "32": "good", "31": "bad"}
)

// cleared is what takes the draft of an answer off the screen.
const cleared = "\x1b[J"

// terminalHTML shows what a terminal shows in the end.
func terminalHTML(asked, said string) string {
	said = link.ReplaceAllString(said[strings.LastIndex(said, cleared)+len(cleared):], "")
	said = style.ReplaceAllStringFunc(html.EscapeString(said), func(sequence string) string {
		codes := style.FindStringSubmatch(sequence)[1]
		if codes == "0" || codes == "" {
			return "</span>"
		}
		var classes []string
		for code := range strings.SplitSeq(codes, ";") {
			classes = append(classes, colors[code])
		}
		return `<span class="` + strings.Join(classes, " ") + `">`
	})
	return `<meta charset="utf-8"><style>body{margin:0;background:#16181d;color:#e6e6e6}pre{margin:0;padding:18px 22px;font:15px/1.45 monospace}
.b{font-weight:700}.f{opacity:.65}.i{font-style:italic}.code{color:#e5c07b}.mark{color:#56c8d8}.good{color:#98c379}.bad{color:#e06c75}</style>
<pre><span class="good">$</span> cairn ask "` + html.EscapeString(asked) + `"
` + strings.TrimSpace(said) + `</pre>`
}

var (
	slackBold = regexp.MustCompile(`\*([^*]+)\*`)
	slackCode = regexp.MustCompile("`([^`]+)`")
	slackLink = regexp.MustCompile(`(\[[0-9]+\]|[^ ·\[\]][^·\[\]]*?) ?⟨[^⟩]*⟩`)
	button    = regexp.MustCompile(`\[([^\]]+)\]`)
)

// slackHTML draws a golden message of Slack's, a line for each line of it.
func slackHTML(golden string) string {
	_, message, _ := strings.Cut(golden, "Cairn:\n")
	var b strings.Builder
	b.WriteString(`<meta charset="utf-8"><style>body{margin:0;padding:18px 22px;font:15px/1.5 Lato,system-ui,sans-serif;color:#1d1c1d;background:#fff}
.who{font-weight:700}.app{font-size:11px;background:#e8e8e8;border-radius:3px;padding:1px 4px;margin-left:4px;color:#555}a{color:#1264a3}
.code{font:13px/1.5 monospace;background:#f6f6f6;border:1px solid #ddd;border-width:0 1px;padding:0 10px;white-space:pre}
.quote{border-left:4px solid #ddd;padding-left:12px}.note{font-size:13px;color:#616061}code{font:13px monospace;color:#c01343;background:#f6f6f6;border:1px solid #ddd;border-radius:3px;padding:0 3px}
.row{display:grid;grid-template-columns:1fr 1fr 1.4fr;border:1px solid #ddd;border-bottom:0}.row+:not(.row){border-top:1px solid #ddd;padding-top:6px}.row span{padding:2px 8px;border-right:1px solid #ddd}
.in{padding-left:22px}button{font:700 13px system-ui;background:#fff;border:1px solid #bbb;border-radius:4px;padding:5px 12px;margin:6px 8px 0 0}</style>
<div><span class="who">Cairn</span><span class="app">APP</span></div>`)
	for line := range strings.Lines(message) {
		b.WriteString(slackLine(strings.TrimSuffix(strings.TrimPrefix(line, "  "), "\n")))
	}
	return b.String()
}

func slackLine(line string) string {
	styled := html.EscapeString(line)
	styled = slackLink.ReplaceAllString(styled, `<a>$1</a>`)
	styled = slackCode.ReplaceAllString(slackBold.ReplaceAllString(styled, "<b>$1</b>"), "<code>$1</code>")
	switch {
	case strings.HasPrefix(line, "│ "):
		return `<div class="code">` + html.EscapeString(strings.TrimPrefix(line, "│ ")) + `</div>`
	case strings.HasPrefix(line, "║"):
		cells := strings.Split(strings.Trim(styled, "║ "), " ║ ")
		return `<div class="row"><span>` + strings.Join(cells, "</span><span>") + `</span></div>`
	case strings.HasPrefix(line, "> "):
		return `<div class="quote">` + strings.TrimPrefix(styled, "&gt; ") + `</div>`
	case strings.HasPrefix(line, "[⋯"):
		return `<button>⋯</button>`
	case strings.HasPrefix(line, "[Helpful"):
		return button.ReplaceAllString(html.EscapeString(line), `<button>$1</button>`)
	case strings.HasPrefix(line, "   "):
		return `<div class="in">` + styled + `</div>`
	case strings.HasPrefix(line, "  ") || strings.HasPrefix(line, "Sources:"):
		return `<div class="note">` + styled + `</div>`
	}
	return `<div>` + styled + `</div>`
}
