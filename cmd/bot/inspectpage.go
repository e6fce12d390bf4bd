package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"cairn/internal/app"
	"cairn/internal/inspect/browser"
	"cairn/internal/inspect/webcode"
	"cairn/internal/repository"
)

type inspectPageCommand struct {
	Address string   `arg:"" name:"ADDRESS" help:"The page, which inspect.pages has to list."`
	Control []string `arg:"" name:"CONTROL" optional:"" help:"A control, by the name that people see."`
	At      []int    `placeholder:"X,Y" help:"The control at this place of a screenshot of 1280 by 900 pixels."`
	Project string   `placeholder:"FOLDER" help:"The folder of the page's project: requests are followed to the routes of its server, and files to their owners."`
}

// Run looks at a page.
func (c *inspectPageCommand) Run(ctx context.Context, in *invocation) (err error) {
	target := browser.Target{Name: strings.Join(c.Control, " ")}
	switch {
	case len(c.At) == 2:
		target.At = &browser.Point{X: c.At[0], Y: c.At[1]}
	case len(c.At) != 0:
		return errors.New("--at takes two numbers: --at 200,120")
	}
	setup, err := in.setup()
	if err != nil {
		return err
	}
	b, err := app.NewBrowser(setup.Config.Inspect)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	var checkout *repository.Checkout
	if c.Project != "" {
		folder, err := filepath.Abs(c.Project)
		if err != nil {
			return err
		}
		if checkout, err = repository.NewOpener(repository.Options{Roots: []string{folder}}).Open(ctx, folder); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, checkout.Close()) }()
	}
	view, err := b.Look(ctx, c.Address, target)
	if err != nil {
		return err
	}
	_, err = in.std.Out.Write([]byte(describeView(view, checkout)))
	return err
}

// describeView writes what was seen of a page, with what its handlers lead to in a project, which
// may be nil.
func describeView(view browser.View, checkout *repository.Checkout) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s)\n", view.Title, view.Address)
	if control := view.Control; control != nil {
		fmt.Fprintf(&b, "\n%s %q", control.Role, control.Name)
		if control.Disabled {
			b.WriteString(", disabled")
		}
		if len(control.Components) > 0 {
			fmt.Fprintf(&b, ", in %s", strings.Join(control.Components, " in "))
		}
		b.WriteString("\n")
		if len(control.Handlers) == 0 {
			b.WriteString("  Nothing handles its events.\n")
		}
		for _, handler := range control.Handlers {
			fmt.Fprintf(&b, "  On %s: %s:%d (%s)  %s\n", handler.Event, handler.File, handler.Line, handler.By, handler.Code)
			if checkout != nil && handler.Mapped {
				b.WriteString(describeTrace(checkout, handler.Place))
			}
		}
	} else if len(view.Near) > 0 {
		fmt.Fprintf(&b, "\nNo one control has that name. There are: %s.\n", strings.Join(view.Near, ", "))
	}
	var failed []string
	for _, request := range view.Requests {
		if request.Failed() {
			failed = append(failed, fmt.Sprintf("  %s %s%s: %s", request.Method, request.Name, request.Path, request.Status))
		}
	}
	for _, list := range []struct {
		title string
		lines []string
	}{{"Requests that failed", failed}, {"Errors on the console", errorLines(view)}, {"Private addresses that were refused", view.Refused}, {"Not found out", view.Problems}} {
		if len(list.lines) > 0 {
			fmt.Fprintf(&b, "\n%s:\n  %s\n", list.title, strings.TrimSpace(strings.Join(slices.Compact(list.lines), "\n  ")))
		}
	}
	return b.String()
}

func errorLines(view browser.View) []string {
	var lines []string
	for _, message := range view.Messages {
		if message.Level == "error" {
			lines = append(lines, message.Text)
		}
	}
	return lines
}

func describeTrace(checkout *repository.Checkout, place browser.Place) string {
	trace, err := webcode.Follow(checkout, place.File, place.Line)
	if err != nil {
		return fmt.Sprintf("    Not followed: %v\n", err)
	}
	var b strings.Builder
	for _, call := range trace.Calls {
		fmt.Fprintf(&b, "    calls %s\n", call)
	}
	for _, request := range trace.Requests {
		fmt.Fprintf(&b, "    requests %s %s (%s:%d)\n", request.Method, request.Path, request.File, request.Line)
		for _, route := range request.Routes {
			fmt.Fprintf(&b, "      answered at %s:%d\n", route.File, route.Line)
		}
	}
	if len(trace.Owners) > 0 {
		fmt.Fprintf(&b, "    owned by %s\n", strings.Join(trace.Owners, ", "))
	}
	for _, problem := range trace.Problems {
		fmt.Fprintf(&b, "    Not read: %s\n", problem)
	}
	return b.String()
}
