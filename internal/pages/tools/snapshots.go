package tools

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/cairn-bot/cairn/internal/pages"
	"github.com/cairn-bot/cairn/internal/pages/merge"
	"github.com/cairn-bot/cairn/internal/pages/tree"
)

// snapshots gives the versions that have a name, with the changes of the draft, the last first.
func (e *edit) snapshots(ctx context.Context) ([]pages.Version, error) {
	all, err := e.draft.Versions.List(ctx)
	if err != nil {
		return nil, err
	}
	var named []pages.Version
	for _, version := range all {
		for _, change := range e.names {
			if change.Version == version.Number {
				version.Name = change.Name
			}
		}
		if version.Name != "" {
			named = append(named, version)
		}
	}
	return named, nil
}

// findVersion gives the version of a snapshot's name or of a number.
func (e *edit) findVersion(ctx context.Context, name string) (pages.Version, error) {
	named, err := e.snapshots(ctx)
	if err != nil {
		return pages.Version{}, err
	}
	number, numberErr := strconv.Atoi(name)
	for _, version := range named {
		if strings.EqualFold(version.Name, strings.TrimSpace(name)) {
			number, numberErr = version.Number, nil
			break
		}
	}
	if numberErr != nil {
		return pages.Version{}, noSnapshot(name)
	}
	version, err := e.draft.Versions.Load(ctx, number)
	if errors.Is(err, pages.ErrNotFound) {
		return pages.Version{}, noSnapshot(name)
	}
	return version, err
}

func noSnapshot(name string) error {
	return &Error{Code: NoSuchSnapshot, Reason: fmt.Sprintf("there is no snapshot or version %q: listSnapshots shows them", name)}
}

func saveSnapshot(ctx context.Context, e *edit, a struct{ Name string }) error {
	name, err := pages.CleanTitle(a.Name)
	if err != nil {
		return &Error{Code: InvalidContent, Reason: err.Error()}
	}
	named, err := e.snapshots(ctx)
	if err != nil {
		return err
	}
	for _, version := range named {
		if version.Number == e.draft.Base || strings.EqualFold(version.Name, name) {
			return &Error{Code: SnapshotExists, Reason: fmt.Sprintf("version %d is kept as %q", version.Number, version.Name)}
		}
	}
	e.names = append(e.names, Naming{Version: e.draft.Base, Name: name})
	e.text = fmt.Sprintf("version %d is kept as %q", e.draft.Base, name)
	return nil
}

func restoreSnapshot(ctx context.Context, e *edit, a struct{ Snapshot string }) error {
	version, err := e.findVersion(ctx, a.Snapshot)
	if err != nil {
		return err
	}
	e.title, e.root, e.own = version.Title, version.Root.Clone(), version.Root
	e.text = fmt.Sprintf("the page is as in version %d", version.Number)
	return nil
}

func listSnapshots(ctx context.Context, e *edit, _ struct{}) error {
	named, err := e.snapshots(ctx)
	if err != nil {
		return err
	}
	if len(named) == 0 {
		e.text = "there are no snapshots"
		return nil
	}
	var lines []string
	for _, version := range named {
		lines = append(lines, fmt.Sprintf("version %d: %s", version.Number, version.Name))
	}
	e.text = strings.Join(lines, "\n")
	return nil
}

func deleteSnapshot(ctx context.Context, e *edit, a struct{ Snapshot string }) error {
	named, err := e.snapshots(ctx)
	if err != nil {
		return err
	}
	for _, version := range named {
		if strings.EqualFold(version.Name, strings.TrimSpace(a.Snapshot)) || strconv.Itoa(version.Number) == a.Snapshot {
			e.names = append(e.names, Naming{Version: version.Number, Was: version.Name})
			e.text = fmt.Sprintf("version %d has no name any more", version.Number)
			return nil
		}
	}
	return noSnapshot(a.Snapshot)
}

func compareSnapshots(ctx context.Context, e *edit, a struct{ From, To string }) error {
	from, err := e.findVersion(ctx, a.From)
	if err != nil {
		return err
	}
	later := e.root
	if a.To != "" {
		to, err := e.findVersion(ctx, a.To)
		if err != nil {
			return err
		}
		later = to.Root
	}
	e.text = describeDifference(from.Root, later)
	return nil
}

func describeDifference(before, after *tree.Node) string {
	text, _ := merge.Diff(merge.Compare(before, after))
	if text == "" {
		return "nothing differs"
	}
	return text
}
