package app

import (
	"context"
	"errors"
	"net/http"

	"github.com/cairn-bot/cairn/internal/access"
	"github.com/cairn-bot/cairn/internal/adapters/web"
	"github.com/cairn-bot/cairn/internal/adapters/web/editor"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/config"
	"github.com/cairn-bot/cairn/internal/listen"
	"github.com/cairn-bot/cairn/internal/pages/outline"
	"github.com/cairn-bot/cairn/internal/pages/tree"
)

// pagesThread stands for where a person works on pages in a browser.
var pagesThread = chat.NewThreadID("web", "pages")

// newEditor makes the editor of pages; nil where there are no pages.
func newEditor(ctx context.Context, c *Cairn) (http.Handler, error) {
	if c.Storage.Pages == nil {
		return nil, nil
	}
	resolver, err := c.newResolver(ctx)
	if err != nil {
		return nil, err
	}
	made, err := editor.New(editor.Options{
		Library: c.Storage.Pages, Logger: c.Logger,
		Outline: func(ctx context.Context, question string) (*tree.Node, error) {
			return outline.Draft(ctx, c.Retriever().Search, question)
		},
		Access: func(ctx context.Context, visitor web.Visitor) (editor.Grant, error) {
			return grantPages(ctx, c.Config, resolver, visitor)
		},
	})
	if err != nil {
		return nil, err // and no handler of nil
	}
	return made, nil
}

// grantPages finds out what somebody may do with pages. Those who sign in may write, and everybody
// where only this machine, or those who may read all of the index, reach the page; others read.
func grantPages(ctx context.Context, configured config.Config, resolver *access.Resolver, visitor web.Visitor) (editor.Grant, error) {
	everything := configured.Access.Web == config.WebEverything
	question := access.Question{Thread: pagesThread, Asker: visitor.ID, Identity: visitor.Identity}
	if question.Identity == nil {
		question.Identity = &chat.Identity{Local: everything}
	}
	decision := resolver.Resolve(ctx, question)
	room, ok := resolver.DescribeRoom(ctx, question)
	if !ok {
		return editor.Grant{}, errors.New("it could not be found out whom a page of this visitor is for")
	}
	onThisMachine := configured.Web.URL == "" && listen.IsLoopbackHost(configured.Web.Listen)
	return editor.Grant{
		Viewers: decision.Asker, Audience: room.Audience, MayWrite: visitor.Identity != nil || everything || onThisMachine,
	}, nil
}
