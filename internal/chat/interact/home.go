package interact

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/markup"
	"github.com/cairn-bot/cairn/internal/chat/render"
)

// Prompt is a suggested question: what the button says, and what is asked.
type Prompt struct{ Title, Message string }

// Platforms wait for about 3 s: what is shown meanwhile is limited to less.
const (
	catalogWithin  = 1500 * time.Millisecond
	examplesWithin = time.Second
)

// Bounds of a home page.
const (
	maxCollections = 20
	maxRecent      = 8
	maxHomeTitle   = 120
)

// ExampleQuestions returns questions about collections, none for all; none where they can't be
// found in time.
func (c *Controller) ExampleQuestions(ctx context.Context, collections []string) []Prompt {
	if c.options.Prompts == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, examplesWithin)
	defer cancel()
	prompts, err := c.options.Prompts(ctx, collections)
	if err != nil {
		c.options.Logger.WarnContext(ctx, "list example questions", slog.String("platform", c.options.Platform), slog.Any("error", err))
	}
	return prompts
}

// ListCollections returns what the bot knows of the collections that may be asked, none for all.
// Without a catalog it is nothing.
func (c *Controller) ListCollections(ctx context.Context, asked []string) ([]chat.Collection, error) {
	if c.options.Catalog == nil {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, catalogWithin)
	defer cancel()
	collections, err := c.options.Catalog.Collections(ctx)
	if err != nil || len(asked) == 0 {
		return collections, err
	}
	return slices.DeleteFunc(slices.Clone(collections), func(found chat.Collection) bool { return !slices.Contains(asked, found.Name) }), nil
}

// KnownPieces tells what the bot knows of the collections that may be asked, none for all, or
// that it can't be told at the moment. Without a catalog there are none.
func (c *Controller) KnownPieces(ctx context.Context, asked []string) []render.Piece {
	if c.options.Catalog == nil {
		return nil
	}
	heading := render.Heading("What Cairn knows")
	collections, err := c.ListCollections(ctx, asked)
	if err != nil {
		c.options.Logger.WarnContext(ctx, "list collections", slog.String("platform", c.options.Platform), slog.Any("error", err))
		return []render.Piece{heading, itemPiece(render.Run{Text: "It can't be listed at the moment: open this tab again in a minute."})}
	}
	return append([]render.Piece{heading}, collectionPieces(collections, c.options.Now())...)
}

// collectionPieces lists collections with how fresh they are.
func collectionPieces(collections []chat.Collection, now time.Time) []render.Piece {
	if len(collections) == 0 {
		return []render.Piece{itemPiece(render.Run{Text: "Nothing yet: no documents have been read."})}
	}
	var out []render.Piece
	for i, collection := range collections {
		if i == maxCollections {
			return append(out, itemPiece(render.Run{Text: fmt.Sprintf("and %d more", len(collections)-i)}))
		}
		described := ": " + countNoun(collection.Documents, "document")
		if collection.Passages > 0 {
			described += ", " + countNoun(collection.Passages, "passage")
		}
		if !collection.Updated.IsZero() {
			described += ", brought up to date " + markup.Age(now, collection.Updated)
		}
		name := render.Cut(markup.CleanLine(collection.Name), maxHomeTitle)
		out = append(out, itemPiece(render.Run{Text: name, Style: render.Style{Bold: true}}, render.Run{Text: described}))
	}
	return out
}

// RecentPieces lists a person's last questions. link gives the address of a thread, and false
// for one that is not listed. Where the bot does not list threads there are none.
func (c *Controller) RecentPieces(ctx context.Context, bot *Handler, by chat.UserID, link func(chat.ThreadID) (address string, ok bool)) ([]render.Piece, error) {
	if bot.Threads == nil {
		return nil, nil
	}
	// Threads of other spaces are among them, and left out.
	threads, err := bot.Threads.Threads(ctx, c.options.Platform, by, 4*maxRecent)
	if err != nil {
		return nil, fmt.Errorf("list a person's questions: %w", err)
	}
	out := []render.Piece{render.Heading("Your recent questions")}
	for _, thread := range threads {
		address, ok := link(thread.Thread)
		if !ok || len(out) > maxRecent {
			continue
		}
		title := render.Cut(markup.CleanLine(thread.Title), maxHomeTitle)
		if title == "" {
			title = "(a message without words)"
		}
		row := []render.Run{{Text: title, URL: address}}
		if thread.Waiting {
			row = append(row, render.Run{Text: " — waits for your answer"})
		}
		out = append(out, itemPiece(row...))
	}
	if len(out) == 1 {
		out = append(out, itemPiece(render.Run{Text: "None yet."}))
	}
	return out, nil
}

func itemPiece(runs ...render.Run) render.Piece { return render.Piece{Shape: render.Item, Runs: runs} }

func countNoun(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
