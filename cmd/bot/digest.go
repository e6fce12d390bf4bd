package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/cairn-bot/cairn/internal/digest"
)

type digestCommand struct {
	Days       int    `default:"7" placeholder:"N" help:"How many days back to look."`
	Collection string `placeholder:"NAME" help:"Sum up one collection alone; default: all."`
	JSON       bool   `help:"Print it as JSON."`
}

// Run prints what the documents lack, as the questions of the last days tell.
func (c *digestCommand) Run(ctx context.Context, in *invocation) (err error) {
	if c.Days < 1 {
		return errors.New("--days: want 1 or more")
	}
	a, err := in.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = closeAfter(err, a) }()
	now := time.Now()
	made, err := digest.Make(asOperator(ctx), digest.Options{
		Records: a.Storage.Records, Documents: a.Index.Documents, From: now.AddDate(0, 0, -c.Days), To: now,
	})
	if err != nil {
		return err
	}
	if c.Collection != "" {
		made.Collections = slices.DeleteFunc(made.Collections, func(one digest.Collection) bool { return one.Name != c.Collection })
	}
	if c.JSON {
		encoder := json.NewEncoder(in.std.Out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(made)
	}
	_, err = io.WriteString(in.std.Out, digest.Render(made))
	return err
}
