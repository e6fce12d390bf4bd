package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/cairn-bot/cairn/internal/app"
	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/draw"
	"github.com/cairn-bot/cairn/internal/graph/flows"
)

type flowsCommand struct {
	Flow   string `arg:"" name:"FLOW" optional:"" help:"Draw this flow alone."`
	Format string `enum:"mermaid,dot,svg" placeholder:"mermaid|dot|svg" default:"mermaid" help:"What the graph is drawn as."`
	Out    string `placeholder:"DIR" help:"Write every format of every flow into a folder."`
}

// drawings are the formats, by the ending of their files.
var drawings = []struct {
	format, ending string
	draw           func(graph.Shape) string
}{
	{"mermaid", "mmd", draw.Mermaid},
	{"dot", "dot", draw.DOT},
	{"svg", "svg", draw.SVG},
}

// Run draws graphs; it needs no index.
func (c *flowsCommand) Run(_ context.Context, in *invocation) error {
	chosen, err := c.chosen()
	if err != nil {
		return err
	}
	for _, flow := range chosen {
		if c.Out != "" {
			err = writeDrawings(in.std.Out, c.Out, flow)
		} else {
			err = c.print(in.std.Out, flow)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *flowsCommand) chosen() ([]flows.Flow, error) {
	registered, err := app.FlowShapes()
	if err != nil || c.Flow == "" {
		return registered, err
	}
	for _, flow := range registered {
		if flow.Name() == c.Flow {
			return []flows.Flow{flow}, nil
		}
	}
	return nil, fmt.Errorf("no flow is called %q: run `cairn flows` for all of them", c.Flow)
}

func (c *flowsCommand) print(out io.Writer, flow flows.Flow) error {
	for _, d := range drawings {
		if d.format != c.Format {
			continue
		}
		if _, err := fmt.Fprintln(out, d.draw(flow.Shape())); err != nil {
			return err
		}
	}
	return nil
}

func writeDrawings(out io.Writer, dir string, flow flows.Flow) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make the folder for the drawings: %w", err)
	}
	for _, d := range drawings {
		file := filepath.Join(dir, flow.Name()+"."+d.ending)
		if err := os.WriteFile(file, []byte(d.draw(flow.Shape())), 0o644); err != nil {
			return fmt.Errorf("write the drawing: %w", err)
		}
		if _, err := fmt.Fprintln(out, file); err != nil {
			return err
		}
	}
	return nil
}
