package editor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"

	"github.com/cairn-bot/cairn/internal/pages"
	"github.com/cairn-bot/cairn/internal/pages/merge"
	"github.com/cairn-bot/cairn/internal/pages/tree"
)

// maxSave is the most bytes of a save: blocks with what they were.
const maxSave = 3 * pages.MaxPage

// saveRequest is what a browser changed. It can be sent again as it is.
type saveRequest struct {
	Key    string        `json:"key"`
	Base   int           `json:"base"` // the version that the browser has
	Title  *titleChange  `json:"title,omitempty"`
	Blocks []blockChange `json:"blocks"`
}

type titleChange struct {
	Base string `json:"base"`
	Text string `json:"text"`
}

// update is what changed between two versions, as browsers apply it.
type update struct {
	From    int           `json:"from"`
	Version int           `json:"version"`
	Title   string        `json:"title"`
	Blocks  []blockChange `json:"blocks"`
	Authors []string      `json:"authors"` // names of those who made it, but for the one who is told
	// Outdated tells that From is not kept any more: a browser that has it is to load the page anew.
	Outdated bool `json:"outdated,omitempty"`
	// Conflicts are why nothing was saved; none in what is sent to others.
	Conflicts []conflict `json:"conflicts,omitempty"`
}

// titleBlock names the title where a conflict names a block.
const titleBlock = "title"

// conflict is what two people did to one block.
type conflict struct {
	merge.Conflict
	Top string `json:"top"` // the block right below the root that it is in
}

// serveSave merges what a browser changed with what came in between, and answers with what that
// browser has to change. Where both changed the same words nothing is saved.
func (e *Editor) serveSave(out http.ResponseWriter, request *http.Request, v visit) error {
	if !v.MayWrite {
		return errReadOnly
	}
	if kind, _, err := mime.ParseMediaType(request.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return &problem{http.StatusUnsupportedMediaType, "A change of a page is sent as JSON."}
	}
	var save saveRequest
	switch err := json.NewDecoder(http.MaxBytesReader(out, request.Body, maxSave)).Decode(&save); {
	case err != nil:
		return &problem{http.StatusBadRequest, "The change could not be read."}
	case !tree.ValidID(save.Key), save.Base < 1:
		return &problem{http.StatusBadRequest, "A change names its key and the version that it is made of."}
	}
	conflicts, err := e.save(request.Context(), v, save)
	if err != nil {
		return err
	}
	answer, err := e.changesSince(request.Context(), v, save.Base)
	if err != nil {
		return err
	}
	if answer.Conflicts = conflicts; len(conflicts) == 0 {
		e.rooms.notify(v.page)
	}
	e.sendJSON(out, http.StatusOK, answer)
	return nil
}

func (e *Editor) sendJSON(out http.ResponseWriter, status int, answer any) {
	out.Header().Set("Content-Type", "application/json")
	out.WriteHeader(status)
	if err := json.NewEncoder(out).Encode(answer); err != nil {
		e.options.Logger.Debug("send answer", "error", err)
	}
}

// save makes a change, once for each key. Conflicts say why it was not made.
func (e *Editor) save(ctx context.Context, v visit, save saveRequest) ([]conflict, error) {
	page, err := e.options.Library.Load(ctx, v.place(), v.page)
	if err != nil {
		return nil, err
	}
	if written, err := e.options.Library.FindWrite(ctx, v.page, save.Key); err != nil || written > 0 {
		return nil, err
	}
	edit := pages.Edit{Page: v.page, Base: page.Version, By: v.author(pages.WhyTyped, save.Key)}
	if save.Title != nil {
		if edit.Title, err = pages.CleanTitle(save.Title.Text); err != nil {
			return nil, &problem{http.StatusUnprocessableEntity, "A page needs a title of at most 200 letters."}
		}
		if page.Title != save.Title.Base && page.Title != edit.Title {
			return []conflict{{merge.Conflict{Kind: merge.Words, Block: titleBlock, Base: save.Title.Base, Ours: page.Title, Their: edit.Title}, titleBlock}}, nil
		}
	}
	if len(save.Blocks) > 0 {
		var conflicts []conflict
		if edit.Root, conflicts, err = e.mergeChanges(ctx, v, page, save); err != nil || len(conflicts) > 0 {
			return conflicts, err
		}
	}
	if edit.Root == nil && edit.Title == "" {
		return nil, nil
	}
	_, err = e.options.Library.Save(ctx, v.place(), edit)
	if clash, ok := errors.AsType[*pages.ConflictError](err); ok { // others saved since it was merged
		return nameConflicts(clash.Conflicts, edit.Root, clash.Page.Root), nil
	}
	return nil, err
}

// mergeChanges gives the page's tree with what a browser changed.
func (e *Editor) mergeChanges(ctx context.Context, v visit, page pages.Page, save saveRequest) (*tree.Node, []conflict, error) {
	root := page.Root
	if save.Base != page.Version {
		switch version, err := e.options.Library.LoadVersion(ctx, v.place(), v.page, save.Base); {
		case err == nil:
			root = version.Root
		case save.Base > page.Version, !errors.Is(err, pages.ErrNotFound): // of a version that is not kept any more its blocks are known
			return nil, nil, fmt.Errorf("load what a change was made of: %w", err)
		}
	}
	base, edited, err := applyChanges(root, save.Blocks)
	if err != nil {
		return nil, nil, err
	}
	for _, changed := range []*tree.Node{base, edited} {
		tree.AssignIDs(changed, tree.RandomID)
		if err := tree.Normalize(changed); err != nil {
			return nil, nil, err
		}
		tree.AssignIDs(changed, tree.RandomID)
	}
	merged, conflicts, err := merge.Merge(base, page.Root, edited, merge.KeepOurs)
	if err != nil {
		return nil, nil, err
	}
	return merged, nameConflicts(conflicts, edited, page.Root), nil
}

// nameConflicts names, for each conflict, the block right below the root that it is in.
func nameConflicts(conflicts []merge.Conflict, roots ...*tree.Node) []conflict {
	var named []conflict
	for _, c := range conflicts {
		found := conflict{c, c.Block}
		for _, root := range roots {
			for _, top := range root.Children {
				if n, _ := top.Find(c.Block); n != nil {
					found.Top = top.ID
				}
			}
		}
		named = append(named, found)
	}
	return named
}

// changesSince gives what changed since a version that a browser has.
func (e *Editor) changesSince(ctx context.Context, v visit, since int) (update, error) {
	page, err := e.options.Library.Load(ctx, v.place(), v.page)
	if err != nil {
		return update{}, err
	}
	now := e.recent.find(v.page, page.Version)
	if now == nil {
		now = newDocument(page.Version, page.Title, page.Root)
		e.recent.keep(v.page, now)
	}
	before := e.recent.find(v.page, since)
	if before == nil {
		version, err := e.options.Library.LoadVersion(ctx, v.place(), v.page, since)
		if errors.Is(err, pages.ErrNotFound) && since < page.Version {
			return update{From: since, Version: page.Version, Title: page.Title, Blocks: []blockChange{}, Authors: []string{}, Outdated: true}, nil
		}
		if err != nil {
			return update{}, err
		}
		before = newDocument(since, version.Title, version.Root)
		e.recent.keep(v.page, before)
	}
	changed := update{From: since, Version: page.Version, Title: page.Title, Blocks: compareDocuments(before, now), Authors: []string{}}
	if page.Version > since {
		changed.Authors, err = e.authorsSince(ctx, v, since, page.Version)
	}
	return changed, err
}

// maxAuthors bounds the versions that are looked at for who made them.
const maxAuthors = 20

// authorsSince names those who changed a page after a version, but for the visitor.
func (e *Editor) authorsSince(ctx context.Context, v visit, since, until int) ([]string, error) {
	versions, err := e.options.Library.Versions(ctx, v.place(), v.page, min(until-since, maxAuthors))
	if err != nil {
		return nil, err
	}
	named := []string{}
	known := map[string]bool{string(v.ID): true}
	for _, version := range versions {
		if !known[version.Author] {
			known[version.Author] = true
			named = append(named, e.nameOf(version.Author, v.Visitor))
		}
	}
	return named, nil
}
