package pages_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/pages"
	"github.com/cairn-bot/cairn/internal/pages/pagestest"
)

// typist has a library whose clock the test moves.
type typist struct {
	*testing.T
	*pages.Library
	page pages.Page
	now  time.Time
}

func newTypist(t *testing.T) *typist {
	w := &typist{T: t, Library: library(t), now: time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC)}
	w.SetClock(func() time.Time { return w.now })
	w.page = create(t, w.Library, "start")
	return w
}

func (w *typist) save(author, why, text string) int {
	w.Helper()
	saved, err := w.Save(w.Context(), room, pages.Edit{
		Page: w.page.ID, Base: w.page.Version, Root: pagestest.Root(w, text), By: pages.Author{Name: author, Why: why},
	})
	if err != nil {
		w.Fatal(err)
	}
	w.page = saved
	return saved.Version
}

// kept gives the numbers of the versions that are there, the first first.
func (w *typist) kept() []int {
	w.Helper()
	all, err := w.Versions(w.Context(), room, w.page.ID, math.MaxInt32)
	if err != nil {
		w.Fatal(err)
	}
	var numbers []int
	for _, version := range all {
		numbers = append(numbers, version.Number)
	}
	slices.Reverse(numbers)
	return numbers
}

func (w *typist) prune() int {
	w.Helper()
	count, err := w.Prune(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	return count
}

func TestOldVersionsAreThinnedOut(t *testing.T) {
	w := newTypist(t) // version 1 at 9:00
	step := func(after time.Duration, author, why string) int {
		w.now = w.now.Add(after)
		return w.save(author, why, fmt.Sprint("text at ", w.now))
	}
	typed := func(author string) int { return step(time.Minute, author, pages.WhyTyped) }
	typed("ada")                             // 2
	typed("bob")                             // 3: bob's last of this hour
	typed("ada")                             // 4
	before := typed("ada")                   // 5: is before an approved change
	step(time.Minute, "ada", "page: append") // 6
	typed("ada")                             // 7
	named := typed("ada")                    // 8: a snapshot
	typed("ada")                             // 9: ada's last of this hour
	step(time.Hour, "bob", pages.WhyTyped)   // 10
	last := typed("bob")                     // 11: bob's last of the next hour
	second := step(2*time.Hour, "ada", "restored version 2")
	if err := w.NameVersion(w.Context(), room, w.page.ID, named, "review"); err != nil {
		t.Fatal(err)
	}
	made := w.now
	wants := func(after time.Duration, want ...int) {
		t.Helper()
		w.now = made.Add(after)
		w.prune()
		if got := w.kept(); !slices.Equal(got, want) {
			t.Errorf("after %s versions %v are kept, want %v", after, got, want)
		}
		if again := w.prune(); again != 0 {
			t.Errorf("after %s another %d versions are removed", after, again)
		}
	}
	wants(pages.KeepAll-5*time.Hour, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)
	wants(pages.KeepAll, 1, 3, before, 6, named, 9, last, second)
	wants(32*24*time.Hour, 1, before, 6, named, 9, last, second)
	wants(10*365*24*time.Hour, 1, before, 6, named, 9, last, second)
}

// A change that was made of a version of a week ago is merged, one of a version that is gone is refused.
func TestAnOldBaseIsKeptForAProposal(t *testing.T) {
	w := newTypist(t)
	w.save("ada", pages.WhyTyped, "start\n\nmore")
	proposed := w.page
	w.now = w.now.Add(30 * time.Second)
	w.save("ada", pages.WhyTyped, "start\n\nmore\n\nand more")
	change := func() error {
		_, err := w.Save(t.Context(), room, pages.Edit{Page: proposed.ID, Base: proposed.Version, Root: proposed.Root})
		return err
	}
	w.now = w.now.Add(7 * 24 * time.Hour)
	w.prune()
	if err := change(); err != nil {
		t.Errorf("a change of a week ago: %v", err)
	}
	w.now = w.now.Add(3 * 24 * time.Hour)
	w.prune()
	if err := change(); !errors.Is(err, pages.ErrNotFound) {
		t.Errorf("a change of a version that is gone gives %v", err)
	}
}

// A page that people write on for years, with much that they decided on, does not grow for ever.
func TestVersionsAreBounded(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var versions []pages.Version // the last first
	most := 0
	for day := range 3 * 365 {
		for i := range 40 {
			why := pages.WhyTyped
			if i%20 == 19 {
				why = "page: append"
			}
			at := now.Add(time.Duration(i) * 11 * time.Minute)
			versions = slices.Insert(versions, 0, pages.Version{Number: day*40 + i + 1, Author: fmt.Sprint(i % 3), At: at, Why: why})
		}
		now = now.AddDate(0, 0, 1)
		gone := make(map[int]bool)
		for _, number := range pages.FindSuperfluous(versions, now) {
			gone[number] = true
		}
		versions = slices.DeleteFunc(versions, func(v pages.Version) bool { return gone[v.Number] })
		most = max(most, len(versions))
	}
	week := 40 * int(pages.KeepAll/(24*time.Hour))
	for i, version := range versions[:week] {
		if version.Number != 3*365*40-i {
			t.Fatalf("version %d of the last days is gone", 3*365*40-i)
		}
	}
	if most > pages.MaxKept+40 || versions[len(versions)-1].Number != 1 {
		t.Errorf("up to %d versions are kept, the first is %d", most, versions[len(versions)-1].Number)
	}
}
