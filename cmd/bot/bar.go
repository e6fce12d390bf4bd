package main

import (
	"fmt"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"

	"cairn/internal/knowledge/ingest"
)

// bar shows how far an ingest is. Where nobody watches it prints a line a phase.
type bar struct {
	out    io.Writer
	source string
	live   bool
	phase  ingest.Phase
	shown  *progressbar.ProgressBar
}

func newBar(out io.Writer, source string, live bool) *bar {
	return &bar{out: out, source: source, live: live}
}

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
	total, unit := p.Total, "files"
	if p.Phase == ingest.Embedding {
		total, unit = p.Passages+p.Pending, "passages"
	}
	if total == 0 {
		total = -1
	}
	b.shown = progressbar.NewOptions(total,
		progressbar.OptionSetWriter(b.out), progressbar.OptionSetWidth(24), progressbar.OptionShowCount(),
		progressbar.OptionShowIts(), progressbar.OptionSetItsString(unit), progressbar.OptionSetPredictTime(true),
		progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish(),
	)
}

func (b *bar) describe(p ingest.Progress) string {
	if p.Phase == ingest.Embedding {
		return fmt.Sprintf("%s: embedding (text can be searched already)", b.source)
	}
	return fmt.Sprintf("%s: reading, %d passages", b.source, p.Passages)
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
