package pages

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/pages/merge"
	"github.com/cairn-bot/cairn/internal/pages/tree"
)

// Library is how pages are read and changed, for the viewers of a context
// (knowledge.WithViewers): a page that they may not see is not there.
type Library struct {
	backend Backend
	now     func() time.Time
}

// NewLibrary makes a library over a backend, which stays the caller's.
func NewLibrary(backend Backend) *Library { return &Library{backend: backend, now: time.Now} }

// Store gives the pages themselves, for what acts for nobody, such as an index.
func (l *Library) Store() Store { return l.backend }

// Place is where people talk about a page.
type Place struct {
	Thread  string // "" for none
	Channel string // "" where the thread is in none
	// Audience is whom the place is for. A page that is made here is for them.
	Audience knowledge.Audience
}

// maySee tells whether a page may be shown in a place to the viewers of a context: what is for
// the place itself may be shown there.
func (p Place) maySee(ctx context.Context, audience knowledge.Audience) bool {
	return audience.OrPublic() == p.Audience.OrPublic() || knowledge.ViewersFrom(ctx).MaySee(audience)
}

// Author is who changes a page, and by what.
type Author struct {
	Name string // as the adapter knows them
	Run  string // "" for none
	Why  string
	// Key makes a repeated write harmless; "" for a write that is not repeated.
	Key string
}

// Create makes a page for the people of a place, and makes it the one that the place works on.
// Under a key that was used before it gives the page that was made then.
func (l *Library) Create(ctx context.Context, place Place, title string, root *tree.Node, by Author) (Page, error) {
	title, err := CleanTitle(title)
	if err != nil {
		return Page{}, err
	}
	root = root.Clone()
	tree.AssignIDs(root, tree.RandomID)
	now := l.now().UTC().Truncate(time.Millisecond)
	id := PageID("p" + cmp.Or(by.Key, tree.RandomID()))
	page := Page{ID: id, Title: title, Audience: place.Audience, Version: 1, Root: root, Created: now, Updated: now}
	first := Version{Page: id, Number: 1, Author: by.Name, At: now, Why: by.Why, Run: by.Run, Key: by.Key, Title: title, Root: root}
	err = l.backend.Create(ctx, page, first)
	if errors.Is(err, ErrStale) && by.Key != "" {
		page, err = l.backend.Load(ctx, id)
	}
	if err != nil {
		return Page{}, fmt.Errorf("create a page: %w", err)
	}
	return page, l.Activate(ctx, place, page.ID)
}

// Load gives a page as it stands.
func (l *Library) Load(ctx context.Context, place Place, id PageID) (Page, error) {
	page, err := l.backend.Load(ctx, id)
	if err != nil {
		return Page{}, fmt.Errorf("load page %s: %w", id, err)
	}
	if !place.maySee(ctx, page.Audience) {
		return Page{}, fmt.Errorf("load page %s: %w", id, ErrNotFound)
	}
	return page, nil
}

// List gives the pages that may be shown in a place, the last changed first.
func (l *Library) List(ctx context.Context, place Place) ([]Summary, error) {
	all, err := l.backend.List(ctx)
	if err != nil {
		return nil, fmt.Errorf("list pages: %w", err)
	}
	var seen []Summary
	for _, summary := range all {
		if place.maySee(ctx, summary.Audience) {
			seen = append(seen, summary)
		}
	}
	return seen, nil
}

// IsPublic tells that every page is for everybody.
func (l *Library) IsPublic(ctx context.Context) (bool, error) {
	all, err := l.backend.List(ctx)
	if err != nil {
		return false, fmt.Errorf("look for pages that are not public: %w", err)
	}
	for _, summary := range all {
		if summary.Audience.OrPublic() != knowledge.PublicAudience {
			return false, nil
		}
	}
	return true, nil
}

// Forget takes a person's name off all versions, and says off how many.
func (l *Library) Forget(ctx context.Context, author string) (int, error) {
	count, err := l.backend.ForgetAuthor(ctx, author)
	if err != nil {
		return 0, fmt.Errorf("forget the author of pages: %w", err)
	}
	return count, nil
}

// Activate makes a page the one that a place works on: its thread, and its channel where that
// has none yet.
func (l *Library) Activate(ctx context.Context, place Place, id PageID) error {
	if place.Thread != "" {
		if err := l.backend.Activate(ctx, place.Thread, id); err != nil {
			return fmt.Errorf("make page %s active: %w", id, err)
		}
	}
	if place.Channel == "" {
		return nil
	}
	active, err := l.backend.Active(ctx, place.Channel)
	if err == nil && (active == "" || place.Thread == "") {
		err = l.backend.Activate(ctx, place.Channel, id)
	}
	if err != nil {
		return fmt.Errorf("make page %s active: %w", id, err)
	}
	return nil
}

// Close leaves a place without a page.
func (l *Library) Close(ctx context.Context, place Place) error {
	for _, name := range []string{place.Thread, place.Channel} {
		if name == "" {
			continue
		}
		if err := l.backend.Activate(ctx, name, ""); err != nil {
			return fmt.Errorf("close the page: %w", err)
		}
	}
	return nil
}

// Active gives the page that a place works on: its thread's, else its channel's. ErrNotFound
// where there is none, or none that may be shown there.
func (l *Library) Active(ctx context.Context, place Place) (Page, error) {
	for _, name := range []string{place.Thread, place.Channel} {
		if name == "" {
			continue
		}
		id, err := l.backend.Active(ctx, name)
		if err != nil {
			return Page{}, fmt.Errorf("look for the active page: %w", err)
		}
		if id == "" {
			continue
		}
		page, err := l.Load(ctx, place, id)
		if !errors.Is(err, ErrNotFound) {
			return page, err
		}
	}
	return Page{}, fmt.Errorf("look for the active page: %w", ErrNotFound)
}

// Edit is a change of a page.
type Edit struct {
	Page  PageID
	Base  int        // the version that its author saw
	Title string     // "" leaves it
	Root  *tree.Node // nil leaves it
	By    Author
	Name  string // of a snapshot; "" for none
	// Resolve says what stands in the place of conflicts; "" refuses them.
	Resolve merge.Choice
}

// ConflictError says that a change was not made, for somebody else changed the same words.
type ConflictError struct {
	Page      Page // as it stands
	Conflicts []merge.Conflict
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("page %s was changed in the same places (%d)", e.Page.ID, len(e.Conflicts))
}

// maxAttempts is how often a write is merged anew because another came before it.
const maxAttempts = 20

// Save makes a change, merged with whatever came in between. Where both changed the same words
// it is a *ConflictError, and nothing is changed. A change that is made again under its key is
// made once. ErrNotFound, also where Base was removed.
func (l *Library) Save(ctx context.Context, place Place, edit Edit) (Page, error) {
	for range maxAttempts {
		page, err := l.save(ctx, place, edit)
		if !errors.Is(err, ErrStale) {
			return page, err
		}
	}
	return Page{}, fmt.Errorf("save page %s: others changed it %d times meanwhile: try again", edit.Page, maxAttempts)
}

// FindWrite gives the number of the version that was written under a key, 0 for none.
func (l *Library) FindWrite(ctx context.Context, id PageID, key string) (int, error) {
	number, err := l.backend.FindKey(ctx, id, key)
	if err != nil {
		return 0, fmt.Errorf("look for a write of page %s: %w", id, err)
	}
	return number, nil
}

func (l *Library) save(ctx context.Context, place Place, edit Edit) (Page, error) {
	page, err := l.Load(ctx, place, edit.Page)
	if err != nil {
		return Page{}, err
	}
	if edit.By.Key != "" {
		number, err := l.FindWrite(ctx, page.ID, edit.By.Key)
		if err != nil || number > 0 {
			return page, err
		}
	}
	changed := page
	changed.Version++
	changed.Updated = l.now().UTC().Truncate(time.Millisecond)
	if edit.Title != "" {
		if changed.Title, err = CleanTitle(edit.Title); err != nil {
			return Page{}, err
		}
	}
	if edit.Root != nil {
		if changed.Root, err = l.mergeRoot(ctx, page, edit); err != nil {
			return Page{}, err
		}
	}
	version := Version{
		Page: page.ID, Number: changed.Version, Base: edit.Base, Author: edit.By.Name, At: changed.Updated, Why: edit.By.Why,
		Run: edit.By.Run, Key: edit.By.Key, Name: edit.Name, Title: changed.Title, Root: changed.Root,
	}
	if err := l.backend.Commit(ctx, version); err != nil {
		return Page{}, fmt.Errorf("save page %s: %w", page.ID, err)
	}
	return changed, nil
}

// mergeRoot gives what a page's tree is after an edit.
func (l *Library) mergeRoot(ctx context.Context, page Page, edit Edit) (*tree.Node, error) {
	root := edit.Root.Clone()
	tree.AssignIDs(root, tree.RandomID)
	if err := tree.Normalize(root); err != nil {
		return nil, err
	}
	tree.AssignIDs(root, tree.RandomID)
	if edit.Base == page.Version {
		return root, nil
	}
	base, err := l.backend.LoadVersion(ctx, page.ID, edit.Base)
	if err != nil {
		return nil, fmt.Errorf("load version %d of page %s: %w", edit.Base, page.ID, err)
	}
	merged, conflicts, err := merge.Merge(base.Root, page.Root, root, cmp.Or(edit.Resolve, merge.KeepOurs))
	if err != nil {
		return nil, err
	}
	if len(conflicts) > 0 && edit.Resolve == "" {
		return nil, &ConflictError{page, conflicts}
	}
	return merged, nil
}

// Versions gives the changes of a page, the last first, at most limit.
func (l *Library) Versions(ctx context.Context, place Place, id PageID, limit int) ([]Version, error) {
	if _, err := l.Load(ctx, place, id); err != nil {
		return nil, err
	}
	return l.backend.Versions(ctx, id, limit)
}

// LoadVersion gives one change of a page.
func (l *Library) LoadVersion(ctx context.Context, place Place, id PageID, number int) (Version, error) {
	if _, err := l.Load(ctx, place, id); err != nil {
		return Version{}, err
	}
	version, err := l.backend.LoadVersion(ctx, id, number)
	if err != nil {
		return Version{}, fmt.Errorf("load version %d of page %s: %w", number, id, err)
	}
	return version, nil
}

// NameVersion makes a snapshot of a version, by giving it a name; "" takes the name away.
func (l *Library) NameVersion(ctx context.Context, place Place, id PageID, number int, name string) error {
	if _, err := l.Load(ctx, place, id); err != nil {
		return err
	}
	if name != "" {
		var err error
		if name, err = CleanTitle(name); err != nil {
			return err
		}
	}
	if err := l.backend.NameVersion(ctx, id, number, name); err != nil {
		return fmt.Errorf("name version %d of page %s: %w", number, id, err)
	}
	return nil
}

// Delete removes a page with its history.
func (l *Library) Delete(ctx context.Context, place Place, id PageID) error {
	if _, err := l.Load(ctx, place, id); err != nil {
		return err
	}
	return l.backend.Delete(ctx, id)
}
