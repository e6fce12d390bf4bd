package transfer

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/settings"
	"github.com/cairn-bot/cairn/internal/curated"
	"github.com/cairn-bot/cairn/internal/pages"
	"github.com/cairn-bot/cairn/internal/runs"
	"github.com/cairn-bot/cairn/internal/session"
)

// maxLine is how long a line of a file may be, in bytes: a page with room around it.
const maxLine = 4 * pages.MaxPage

// Import reads what Export wrote into the stores. What is there already stays as it is: an import
// that broke off is simply begun again. Its errors name the line.
func Import(ctx context.Context, to Stores, from io.Reader) (Counts, error) {
	i := &importer{to: to, lines: bufio.NewScanner(from)}
	i.lines.Buffer(nil, maxLine)
	first, err := i.readEntry()
	switch {
	case errors.Is(err, io.EOF):
		err = errors.New("it is empty")
	case err == nil && (first.Kind != headerKind || first.Header == nil):
		err = errors.New("it is no export of Cairn")
	case err == nil && first.Header.Version > version:
		err = fmt.Errorf("it has version %d, this program knows %d: upgrade cairn", first.Header.Version, version)
	}
	for err == nil {
		var next entry
		if next, err = i.readEntry(); err == nil {
			err = i.importEntry(ctx, next)
		}
	}
	if errors.Is(err, io.EOF) {
		return i.counts, nil
	}
	return i.counts, fmt.Errorf("import line %d: %w", i.line, err)
}

type importer struct {
	to     Stores
	lines  *bufio.Scanner
	line   int
	counts Counts
	pinned map[curated.ID]bool // that are there already; nil until it is known
}

// readEntry reads the next line; io.EOF behind the last.
func (i *importer) readEntry() (entry, error) {
	i.line++
	if !i.lines.Scan() {
		if err := i.lines.Err(); err != nil {
			return entry{}, err
		}
		return entry{}, io.EOF
	}
	var next entry
	err := json.Unmarshal(i.lines.Bytes(), &next)
	return next, err
}

func (i *importer) importEntry(ctx context.Context, next entry) error {
	switch {
	case next.Kind == configurationKind:
		return nil
	case next.Kind == settingKind && next.Setting != nil:
		return i.importSetting(ctx, *next.Setting)
	case next.Kind == pinnedKind && next.Pinned != nil:
		return i.importPinned(ctx, next.Pinned)
	case next.Kind == pageKind && next.Page != nil:
		return i.importPage(ctx, *next.Page)
	case next.Kind == runKind && next.Run != nil:
		return i.importRun(ctx, *next.Run)
	case next.Kind == threadKind && next.Thread != nil:
		return i.importThread(ctx, *next.Thread)
	}
	return fmt.Errorf("there is no entry of the kind %.40q", next.Kind)
}

func (i *importer) importSetting(ctx context.Context, put settingEntry) error {
	if err := put.Setting.Validate(); err != nil {
		return err
	}
	before, err := i.to.Settings.Get(ctx, put.Space, put.Channel)
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(before, settings.Setting{}) {
		i.counts.Kept++
		return nil
	}
	i.counts.Settings++
	return i.to.Settings.Put(ctx, put.Space, put.Channel, put.Setting)
}

func (i *importer) importPinned(ctx context.Context, body []byte) error {
	answer, err := curated.Decode(body)
	if err != nil {
		return err
	}
	if i.pinned == nil {
		all, err := i.to.Pinned.List(ctx)
		if err != nil {
			return err
		}
		i.pinned = make(map[curated.ID]bool, len(all))
		for _, there := range all {
			i.pinned[there.ID] = true
		}
	}
	if i.pinned[answer.ID] {
		i.counts.Kept++
		return nil
	}
	i.counts.Pinned++
	return i.to.Pinned.Put(ctx, answer)
}

func (i *importer) importPage(ctx context.Context, page pageEntry) error {
	var versions []pages.Version
	for range page.Versions {
		next, err := i.readEntry()
		if errors.Is(err, io.EOF) {
			return io.ErrUnexpectedEOF
		}
		if err != nil {
			return err
		}
		if next.Kind != versionKind || next.Version == nil {
			return fmt.Errorf("page %s lacks versions", page.ID)
		}
		v, err := next.Version.restore(page.ID)
		if err != nil {
			return err
		}
		versions = append(versions, v)
	}
	switch {
	case i.to.Pages == nil:
		i.counts.Pageless++
		return nil
	case page.ID == "" || len(versions) == 0:
		return errors.New("a page has no id or no version")
	}
	numberVersions(versions)
	first := versions[0]
	err := i.to.Pages.Create(ctx, pages.Page{
		ID: page.ID, Title: first.Title, Audience: page.Audience, Version: first.Number, Root: first.Root, Created: page.Created, Updated: first.At,
	}, first)
	if errors.Is(err, pages.ErrStale) {
		return i.resumePage(ctx, page.ID, versions)
	}
	if err != nil {
		return err
	}
	i.counts.Pages++
	i.counts.Versions++
	return i.commitVersions(ctx, versions[1:])
}

// resumePage goes on with a page that an import broke off in. Any other page stays as it is.
func (i *importer) resumePage(ctx context.Context, id pages.PageID, versions []pages.Version) error {
	there, err := i.to.Pages.Load(ctx, id)
	if err != nil {
		return err
	}
	for at, v := range versions {
		if v.Number == there.Version && v.At.Equal(there.Updated) && at+1 < len(versions) {
			return i.commitVersions(ctx, versions[at+1:])
		}
	}
	i.counts.Kept++
	return nil
}

func (i *importer) commitVersions(ctx context.Context, versions []pages.Version) error {
	for _, v := range versions {
		if err := i.to.Pages.Commit(ctx, v); err != nil {
			return fmt.Errorf("version %d of page %s: %w", v.Number, v.Page, err)
		}
		i.counts.Versions++
	}
	return nil
}

// numberVersions closes gaps that removed versions left: stores take no version that does not
// follow the one before. The last keeps its number.
func numberVersions(versions []pages.Version) {
	for at := range versions {
		v := &versions[at]
		before := v.Number
		v.Number = versions[len(versions)-1].Number - (len(versions) - 1 - at)
		if before != v.Number {
			v.Base = v.Number - 1
		}
	}
}

func (v versionEntry) restore(id pages.PageID) (pages.Version, error) {
	root, err := pages.DecodeRoot(v.Root)
	if err != nil {
		return pages.Version{}, err
	}
	title, err := pages.CleanTitle(v.Title)
	return pages.Version{
		Page: id, Number: v.Number, Base: v.Base, Author: v.Author, At: v.At, Why: v.Why, Run: v.Run, Key: v.Key, Name: v.Name, Title: title, Root: root,
	}, err
}

func (i *importer) importRun(ctx context.Context, run runEntry) error {
	record, err := runs.DecodeRecord(run.ID, run.Record)
	if err != nil {
		return fmt.Errorf("run %s: %w", run.ID, err)
	}
	if run.ID == "" || record.Thread == "" || !isOver(record.Status()) {
		return fmt.Errorf("run %s has no id, no thread or no end", run.ID)
	}
	_, err = i.to.Records.Load(ctx, run.ID)
	switch {
	case err == nil:
		i.counts.Kept++
	case !errors.Is(err, chat.ErrUnknownRun):
		return err
	default:
		if err := i.to.Records.Save(ctx, record); err != nil {
			return err
		}
		i.counts.Runs++
	}
	return i.importRatings(ctx, run)
}

// importRatings adds the ratings of people who have none of the run yet.
func (i *importer) importRatings(ctx context.Context, run runEntry) error {
	there, err := i.to.Records.Load(ctx, run.ID)
	if err != nil {
		return err
	}
	rated := make(map[chat.UserID]bool)
	for _, rating := range there.Ratings {
		rated[rating.By] = true
	}
	for _, rating := range run.Ratings {
		if rated[rating.By] {
			continue
		}
		if err := i.to.Records.Rate(ctx, run.ID, rating); err != nil {
			return err
		}
		i.counts.Ratings++
	}
	return nil
}

func (i *importer) importThread(ctx context.Context, thread threadEntry) error {
	remembered, err := session.Decode(thread.ID, thread.Session)
	if err != nil {
		return fmt.Errorf("thread %s: %w", thread.ID, err)
	}
	before, err := i.to.Sessions.Load(ctx, thread.ID)
	if err != nil {
		return err
	}
	if len(before.People) > 0 {
		i.counts.Kept++
		return nil
	}
	i.counts.Threads++
	return i.to.Sessions.Save(ctx, remembered)
}
