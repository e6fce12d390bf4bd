package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/clipperhouse/displaywidth"
	"github.com/schollz/progressbar/v3"

	"github.com/cairn-bot/cairn/internal/adapters/terminal"
	"github.com/cairn-bot/cairn/internal/knowledge/ingest"
)

// bar shows how far an ingest is, in one line of a terminal, and nothing elsewhere.
type bar struct {
	out    io.Writer
	source string // as it is shown
	live   bool
	phase  ingest.Phase
	shown  *progressbar.ProgressBar
}

// barColumns is what a bar takes beside the name of its source: the phase, the percentage, a
// bar of eight columns, counts and times.
const barColumns = 60

// newBar makes the bar of a source. A terminal that is too narrow for one line has none.
func newBar(out io.Writer, source string, live bool) *bar {
	width := 0
	if file, ok := out.(*os.File); ok && live {
		width = terminal.Detect(file, os.Getenv).Width
	}
	room := min(width-barColumns, longestName)
	return &bar{out: out, source: displaywidth.TruncateString(source, max(room, 0), "…"), live: room >= shortestName}
}

// The columns of a source's name: a longer one is cut.
const shortestName, longestName = 4, 24

func (b *bar) observe(p ingest.Progress) {
	if p.Phase != b.phase {
		b.begin(p)
	}
	if b.shown == nil {
		return
	}
	b.shown.Describe(b.describe(p))
	done := p.Documents
	if p.Phase == ingest.Embedding {
		done = p.Passages
	}
	// The bar writes to the terminal only; there is nothing to do where that fails.
	if err := b.shown.Set(done); err != nil {
		b.shown = nil
	}
}

// begin starts the bar of a phase.
func (b *bar) begin(p ingest.Progress) {
	b.finish()
	b.phase = p.Phase
	if !b.live {
		return
	}
	total := p.Total
	if p.Phase == ingest.Embedding {
		total = p.Passages + p.Pending
	}
	if total == 0 {
		total = -1
	}
	b.shown = progressbar.NewOptions(total,
		progressbar.OptionSetWriter(b.out), progressbar.OptionSetWidth(24), progressbar.OptionShowCount(),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish(),
	)
}

func (b *bar) describe(p ingest.Progress) string {
	if p.Phase == ingest.Embedding {
		return b.source + ": embedding"
	}
	return b.source + ": reading"
}

// finish takes the bar off the screen.
func (b *bar) finish() {
	if b.shown == nil {
		return
	}
	if err := b.shown.Finish(); err != nil {
		fmt.Fprintln(b.out)
	}
	b.shown = nil
}
