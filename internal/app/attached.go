package app

import (
	"context"
	"github.com/cairn-bot/cairn/internal/inspect/session"
	"strings"
	"time"

	"github.com/cairn-bot/cairn/internal/knowledge/parse"
)

// attachedLimits bound what a file that comes with a message may cost: a person waits.
var attachedLimits = parse.Limits{Bytes: 32 << 20, Pages: 500, Time: 10 * time.Second}

// attachedTime is how long reading a file may take in all.
const attachedTime = 20 * time.Second

// ReadAttached returns the text of a file that came with a message, as it would be read into
// the index; that of a picture where tesseract is installed.
func (r *Recognizer) ReadAttached(ctx context.Context, name string, content []byte) (string, error) {
	if session.IsName(name) {
		recorded, err := session.Read(content)
		if err != nil {
			return "", err
		}
		return recorded.Encode()
	}
	ctx, cancel := context.WithTimeout(ctx, attachedTime)
	defer cancel()
	read, err := parse.Read(ctx, parse.Document{MediaType: parse.Detect(name, content), Name: name, Content: content, Recognizer: r}, attachedLimits)
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
