package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/cairn-bot/cairn/internal/graph/flows/routing"
)

type inspectPageCommand struct {
	Address string   `arg:"" name:"ADDRESS" help:"The page, which inspect.pages has to list."`
	Control []string `arg:"" name:"CONTROL" optional:"" help:"A control, by the name that people see, or a question about one."`
	At      []int    `placeholder:"X,Y" help:"The control at this place of a screenshot of 1280 by 900 pixels."`
	Press   bool     `help:"Press the control, once you have approved it."`
	Project string   `placeholder:"FOLDER" help:"The folder of the page's project: requests are followed to the routes of its server, and files to their owners."`
}

// Run answers a question about a page.
func (c *inspectPageCommand) Run(ctx context.Context, in *invocation) error {
	if len(c.At) != 0 && len(c.At) != 2 {
		return errors.New("--at takes two numbers: --at 200,120")
	}
	setup, err := in.setup()
	if err != nil {
		return err
	}
	if len(setup.Config.Inspect.Pages) == 0 {
		return errors.New("no web page may be looked at: list those that may in inspect.pages")
	}
	return in.readDocuments(ctx, reading{where: c.Project, out: ".", flow: routing.Inspect, text: c.Address + " " + c.question(), spoken: true})
}

// question is what is asked of the page: the name of a control alone asks what that does.
func (c *inspectPageCommand) question() string {
	text := strings.Join(c.Control, " ")
	switch {
	case c.Press && text != "":
		text = fmt.Sprintf("press %q", text)
	case c.Press:
		text = "press it"
	case text != "" && !strings.HasSuffix(text, "?"):
		text = fmt.Sprintf("What happens when I press %q?", text)
	case text == "" && len(c.At) > 0:
		text = "What happens when I press it?"
	}
	if len(c.At) == 2 {
		text += fmt.Sprintf(" at %d,%d", c.At[0], c.At[1])
	}
	return text
}
