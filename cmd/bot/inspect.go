package main

import (
	"context"
	"path/filepath"
	"strings"

	"cairn/internal/graph/flows/routing"
)

type inspectCommand struct {
	Where    string   `arg:"" name:"FOLDER|ADDRESS" help:"The folder of the app's project, or an address that flows.repositories allows."`
	Question []string `arg:"" name:"QUESTION" help:"What you want to know of a screen."`
	Session  string   `placeholder:"FILE" help:"A file that was recorded of the app: shop.wavepulse.zip."`
}

// Run answers a question about a screen.
func (c *inspectCommand) Run(ctx context.Context, in *invocation) error {
	if c.Session != "" {
		session, err := filepath.Abs(c.Session)
		if err != nil {
			return err
		}
		in.session = session
	}
	return in.readDocuments(ctx, reading{where: c.Where, out: ".", flow: routing.Inspect, text: strings.Join(c.Question, " "), spoken: true})
}
