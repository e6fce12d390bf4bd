package app

import (
	"cairn/internal/inspect/session"
	"context"
	"strings"
	"time"

	"cairn/internal/knowledge/parse"
)

// attachedLimits bound what a file that comes with a message may cost: a person waits.
var attachedLimits = parse.Limits{Bytes: 32 << 20, Pages: 500, Time: 10 * time.Second}

// ReadAttached returns the text of a file that came with a message, as it would be read into
// the index.
func ReadAttached(ctx context.Context, name string, content []byte) (string, error) {
	if session.IsName(name) {
		recorded, err := session.Read(content)
		if err != nil {
			return "", err
		}
		return recorded.Encode()
	}
	read, err := parse.Parse(ctx, parse.Detect(name, content), name, content, attachedLimits)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	for _, section := range read.Sections {
		if section.Heading != "" {
			out.WriteString(strings.Repeat("#", section.Level) + " " + section.Heading + "\n\n")
		}
		for _, block := range section.Blocks {
			out.WriteString(block.Text + "\n\n")
		}
	}
	return strings.TrimSpace(out.String()), nil
}
