package editor

import (
	"context"
	"fmt"
	"html/template"
	"net/http"
	"strconv"
	"time"
	"unicode"

	"github.com/cairn-bot/cairn/internal/chat/markup"
	"github.com/cairn-bot/cairn/internal/pages"
	"github.com/cairn-bot/cairn/internal/pages/merge"
	"github.com/cairn-bot/cairn/internal/pages/tree"
	"github.com/cairn-bot/cairn/internal/shorten"
)

// Bounds of what the history shows.
const (
	maxVersions = 500
	maxChanges  = 200
	maxExcerpt  = 2000 // letters of a block
)

// sessionTime is how far apart changes of one person may be that are shown as one.
const sessionTime = 10 * time.Minute

// historyView is what the history of a page shows: its versions, and one of them.
type historyView struct {
	ID, Title string
	MayWrite  bool
	Versions  []versionView
	Shown     versionView
	Latest    bool // the one that is shown is the page as it stands
	Changes   []changeView
	More      int // changes that are not shown
	Moved     int
	HTML      template.HTML
}

type versionView struct {
	Number       int
	Since        int // the version before those that are shown as one
	Author, Why  string
	Name         string
	At, Datetime string
	Count        int
	Current      bool
}

// changeView is what changed in one block; "" stands for a block that was, or is, not there.
type changeView struct {
	Before, After []piece
}

// serveHistory shows the versions of a page, and of one (by default the last) what it changed
// and the page as it was then.
func (e *Editor) serveHistory(out http.ResponseWriter, request *http.Request, v visit) error {
	ctx := request.Context()
	page, err := e.options.Library.Load(ctx, v.place(), v.page)
	if err != nil {
		return err
	}
	versions, err := e.options.Library.Versions(ctx, v.place(), v.page, maxVersions+1)
	if err != nil {
		return err
	}
	view := historyView{ID: string(page.ID), Title: markup.CleanLine(page.Title), MayWrite: v.MayWrite, Versions: e.groupVersions(versions, v)}
	number := page.Version
	if asked := request.URL.Query().Get("version"); asked != "" {
		if number, err = strconv.Atoi(asked); err != nil {
			return pages.ErrNotFound
		}
	}
	for i := range view.Versions {
		if at := &view.Versions[i]; number <= at.Number && number > at.Since {
			at.Current = true
			view.Shown = *at
		}
	}
	if view.Shown.Number == 0 {
		return pages.ErrNotFound
	}
	view.Latest = view.Shown.Number == page.Version
	if err := e.compareVersions(ctx, v, &view); err != nil {
		return err
	}
	return e.look.Render(out, http.StatusOK, "history", view)
}

// groupVersions shows changes that one person made in the browser, one after the other, as one. A
// version's change is from the one before it that is kept.
func (e *Editor) groupVersions(versions []pages.Version, v visit) []versionView {
	var views []versionView
	for i, version := range versions[:min(len(versions), maxVersions)] {
		since := version.Number - 1
		if i+1 < len(versions) {
			since = versions[i+1].Number
		}
		if last := len(views) - 1; i > 0 && last >= 0 && version.Name == "" {
			later := versions[i-1]
			if later.Author == version.Author && later.Why == pages.WhyTyped && version.Why == pages.WhyTyped && later.At.Sub(version.At) < sessionTime {
				views[last].Since = since
				views[last].Count += version.Number - since
				continue
			}
		}
		views = append(views, versionView{
			Number: version.Number, Since: since, Author: e.nameOf(version.Author, v.Visitor), Why: markup.CleanLine(version.Why),
			Name: markup.CleanLine(version.Name), At: version.At.UTC().Format("2 Jan 2006, 15:04 UTC"), Datetime: version.At.Format(time.RFC3339), Count: version.Number - since,
		})
	}
	return views
}

// compareVersions fills in what the shown version changed, and the page as it was.
func (e *Editor) compareVersions(ctx context.Context, v visit, view *historyView) error {
	shown, err := e.options.Library.LoadVersion(ctx, v.place(), v.page, view.Shown.Number)
	if err != nil {
		return err
	}
	before := tree.New()
	if view.Shown.Since > 0 {
		earlier, err := e.options.Library.LoadVersion(ctx, v.place(), v.page, view.Shown.Since)
		if err != nil {
			return err
		}
		before = earlier.Root
	}
	for _, change := range merge.Compare(before, shown.Root) {
		switch {
		case change.Moved:
			view.Moved++
		case len(view.Changes) == maxChanges:
			view.More++
		default:
			was, is := markPieces(shorten.Text(change.Before, maxExcerpt), shorten.Text(change.After, maxExcerpt))
			view.Changes = append(view.Changes, changeView{was, is})
		}
	}
	view.HTML = template.HTML(tree.HTML(shown.Root, "b-")) //nolint:gosec // tree.HTML escapes all text and writes only the tags of a page
	return nil
}

// piece is a part of a text that is the same in two versions, or not.
type piece struct {
	Text    string
	Changed bool
}

// markPieces marks the words that differ in two texts between what they begin and end with alike.
func markPieces(before, after string) (was, is []piece) {
	a, b := []rune(before), []rune(after)
	if len(a) == 0 || len(b) == 0 {
		return wholePiece(before), wholePiece(after)
	}
	head := 0
	for head < min(len(a), len(b)) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < min(len(a), len(b))-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	for head > 0 && isWordLetter(a[head-1]) {
		head--
	}
	for tail > 0 && isWordLetter(a[len(a)-tail]) {
		tail--
	}
	cut := func(text []rune) []piece {
		var parts []piece
		for _, part := range []piece{{string(text[:head]), false}, {string(text[head : len(text)-tail]), true}, {string(text[len(text)-tail:]), false}} {
			if part.Text != "" {
				parts = append(parts, part)
			}
		}
		return parts
	}
	return cut(a), cut(b)
}

func isWordLetter(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

func wholePiece(text string) []piece {
	if text == "" {
		return nil
	}
	return []piece{{text, false}}
}

// serveRestore makes an earlier version the page's next one.
func (e *Editor) serveRestore(out http.ResponseWriter, request *http.Request, v visit) error {
	if !v.MayWrite {
		return errReadOnly
	}
	request.Body = http.MaxBytesReader(out, request.Body, maxForm)
	number, err := strconv.Atoi(request.FormValue("version"))
	if err != nil {
		return pages.ErrNotFound
	}
	ctx := request.Context()
	version, err := e.options.Library.LoadVersion(ctx, v.place(), v.page, number)
	if err != nil {
		return err
	}
	page, err := e.options.Library.Load(ctx, v.place(), v.page)
	if err != nil {
		return err
	}
	_, err = e.options.Library.Save(ctx, v.place(), pages.Edit{
		Page: v.page, Base: page.Version, Title: version.Title, Root: version.Root, Resolve: merge.TakeTheirs,
		By: v.author(fmt.Sprintf("restored version %d", number), ""),
	})
	if err != nil {
		return err
	}
	e.rooms.notify(v.page)
	http.Redirect(out, request, "/page/"+string(v.page), http.StatusSeeOther)
	return nil
}
