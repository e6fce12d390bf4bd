// Package transfer writes what a Cairn keeps beside its index into one file, and reads it into
// another: pages with their versions, what was said in threads, how runs went with what people
// think of their answers, answers that are pinned to questions, and settings of channels. It holds no secrets and no documents.
//
// A file is a line of JSON an entry, the first of which says what the file is. To read it again
// changes nothing: what is there already stays as it is.
package transfer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/settings"
	"github.com/cairn-bot/cairn/internal/curated"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/pages"
	"github.com/cairn-bot/cairn/internal/runs"
	"github.com/cairn-bot/cairn/internal/session"
	"github.com/cairn-bot/cairn/internal/store"
)

// Stores are what is written, or read into. All but Pages are required.
type Stores struct {
	Records  store.Records
	Sessions session.Store
	Settings settings.Store
	Pinned   curated.Store
	Pages    pages.Store // nil: there are no pages
}

// Counts is how much of each was written or read. Kept is what was there already.
type Counts struct {
	Pages, Versions, Runs, Ratings, Threads, Pinned, Settings int
	Kept                                                      int
	// Open are runs that work or wait: they are left out, since nothing could go on with them.
	Open int
	// Pageless are pages that have no store to go to.
	Pageless int
}

// version is the version of the file.
const version = 1

// entry is a line of the file: what Kind names is set.
type entry struct {
	Kind    kind          `json:"kind"`
	Header  *header       `json:"header,omitempty"`
	Page    *pageEntry    `json:"page,omitempty"`
	Version *versionEntry `json:"version,omitempty"`
	Run     *runEntry     `json:"run,omitempty"`
	Thread  *threadEntry  `json:"thread,omitempty"`
	Setting *settingEntry `json:"setting,omitempty"`
	// Pinned is an answer as curated.Encode writes it.
	Pinned   json.RawMessage `json:"pinned,omitempty"`
	Settings []Shown         `json:"configuration,omitempty"`
}

type kind string

const (
	headerKind        kind = "cairn export"
	pageKind          kind = "page"
	versionKind       kind = "version" // of the page before it
	runKind           kind = "run"
	threadKind        kind = "thread"
	settingKind       kind = "setting"
	pinnedKind        kind = "pinned answer"
	configurationKind kind = "configuration" // for people to read: nothing is set by it
)

type header struct {
	Version int       `json:"version"`
	At      time.Time `json:"at"`
	Program string    `json:"program"`
}

type pageEntry struct {
	ID       pages.PageID       `json:"id"`
	Audience knowledge.Audience `json:"audience,omitempty"`
	Created  time.Time          `json:"created"`
	Versions int                `json:"versions"` // lines that follow
}

type versionEntry struct {
	Number int             `json:"number"`
	Base   int             `json:"base"`
	Author string          `json:"author,omitempty"`
	At     time.Time       `json:"at"`
	Why    string          `json:"why,omitempty"`
	Run    string          `json:"run,omitempty"`
	Key    string          `json:"key,omitempty"`
	Name   string          `json:"name,omitempty"`
	Title  string          `json:"title"`
	Root   json.RawMessage `json:"root"`
}

type runEntry struct {
	ID      chat.RunID      `json:"id"`
	Record  json.RawMessage `json:"record"` // as runs.EncodeRecord writes it
	Ratings []chat.Rating   `json:"ratings,omitempty"`
}

type threadEntry struct {
	ID      chat.ThreadID   `json:"id"`
	Session json.RawMessage `json:"session"` // as session.Encode writes it
}

type settingEntry struct {
	Space   settings.Space   `json:"space"`
	Channel string           `json:"channel,omitempty"`
	Setting settings.Setting `json:"setting"`
}

// Shown is a setting of the configuration as people may see it: a secret has no value.
type Shown struct {
	Key   string `json:"key"`
	Value string `json:"value,omitempty"`
}

// Source says where an export comes from.
type Source struct {
	Program       string // its version
	At            time.Time
	Configuration []Shown
}

// Export writes all that the stores keep.
func Export(ctx context.Context, from Stores, source Source, to io.Writer) (Counts, error) {
	e := &exporter{from: from, out: json.NewEncoder(to)}
	e.out.SetEscapeHTML(false)
	err := e.out.Encode(entry{Kind: headerKind, Header: &header{version, source.At.UTC(), source.Program}})
	if err == nil && len(source.Configuration) > 0 {
		err = e.out.Encode(entry{Kind: configurationKind, Settings: source.Configuration})
	}
	for _, part := range []func(context.Context) error{e.exportSettings, e.exportPinned, e.exportPages, e.exportRuns} {
		if err != nil {
			break
		}
		err = part(ctx)
	}
	if err != nil {
		return e.counts, fmt.Errorf("export: %w", err)
	}
	return e.counts, nil
}

type exporter struct {
	from   Stores
	out    *json.Encoder
	counts Counts
}

func (e *exporter) exportSettings(ctx context.Context) error {
	all, err := e.from.Settings.List(ctx)
	if err != nil {
		return err
	}
	for _, put := range all {
		if err := e.out.Encode(entry{Kind: settingKind, Setting: &settingEntry{put.Space, put.Channel, put.Setting}}); err != nil {
			return err
		}
		e.counts.Settings++
	}
	return nil
}

func (e *exporter) exportPinned(ctx context.Context) error {
	all, err := e.from.Pinned.List(ctx)
	if err != nil {
		return err
	}
	for _, answer := range all {
		body, err := curated.Encode(answer)
		if err != nil {
			return err
		}
		if err := e.out.Encode(entry{Kind: pinnedKind, Pinned: body}); err != nil {
			return err
		}
		e.counts.Pinned++
	}
	return nil
}

// mostVersions is more than a page has.
const mostVersions = 1 << 20

func (e *exporter) exportPages(ctx context.Context) error {
	if e.from.Pages == nil {
		return nil
	}
	listed, err := e.from.Pages.List(ctx)
	if err != nil {
		return err
	}
	for _, summary := range listed {
		if err := e.exportPage(ctx, summary.ID); err != nil && !errors.Is(err, pages.ErrNotFound) {
			return fmt.Errorf("page %s: %w", summary.ID, err)
		}
	}
	return nil
}

func (e *exporter) exportPage(ctx context.Context, id pages.PageID) error {
	page, err := e.from.Pages.Load(ctx, id)
	if err != nil {
		return err
	}
	kept, err := e.from.Pages.Versions(ctx, id, mostVersions)
	if err != nil {
		return err
	}
	var versions []*versionEntry
	for _, summary := range slices.Backward(kept) {
		v, err := e.from.Pages.LoadVersion(ctx, id, summary.Number)
		if err != nil {
			return err
		}
		root, err := pages.EncodeRoot(v.Root)
		if err != nil {
			return err
		}
		versions = append(versions, &versionEntry{v.Number, v.Base, v.Author, v.At, v.Why, v.Run, v.Key, v.Name, v.Title, root})
	}
	if err := e.out.Encode(entry{Kind: pageKind, Page: &pageEntry{id, page.Audience, page.Created, len(versions)}}); err != nil {
		return err
	}
	for _, v := range versions {
		if err := e.out.Encode(entry{Kind: versionKind, Version: v}); err != nil {
			return err
		}
	}
	e.counts.Pages++
	e.counts.Versions += len(versions)
	return nil
}

// exportRuns writes the runs that are over, and the threads of all of them.
func (e *exporter) exportRuns(ctx context.Context) error {
	var ids []chat.RunID
	threads := make(map[chat.ThreadID]bool)
	_, err := e.from.Records.List(ctx, runs.Filter{Match: func(record runs.Record) bool {
		threads[record.Thread] = true
		if isOver(record.Status()) {
			ids = append(ids, record.ID)
		} else {
			e.counts.Open++
		}
		return false
	}}, 1)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := e.exportRun(ctx, id); err != nil && !errors.Is(err, chat.ErrUnknownRun) {
			return fmt.Errorf("run %s: %w", id, err)
		}
	}
	for thread := range threads {
		if err := e.exportThread(ctx, thread); err != nil {
			return fmt.Errorf("thread %s: %w", thread, err)
		}
	}
	return nil
}

func isOver(status runs.Status) bool {
	switch status {
	case runs.Done, runs.Failed, runs.Cancelled, runs.Expired:
		return true
	}
	return false
}

func (e *exporter) exportRun(ctx context.Context, id chat.RunID) error {
	record, err := e.from.Records.Load(ctx, id)
	if err != nil {
		return err
	}
	body, err := runs.EncodeRecord(record)
	if err != nil {
		return err
	}
	e.counts.Runs++
	e.counts.Ratings += len(record.Ratings)
	return e.out.Encode(entry{Kind: runKind, Run: &runEntry{id, body, record.Ratings}})
}

// leftOpen is what becomes of a question that waits, as transcripts show it.
const leftOpen = "left open"

// exportThread writes what was said in a thread. A question that waits is closed in it, for its
// run does not come along.
func (e *exporter) exportThread(ctx context.Context, thread chat.ThreadID) error {
	remembered, err := e.from.Sessions.Load(ctx, thread)
	if err != nil || len(remembered.People) == 0 {
		return err
	}
	remembered.Waiting, remembered.Work, remembered.Halt = nil, nil, nil
	for i := range remembered.Turns {
		if turn := &remembered.Turns[i]; turn.Question != nil && turn.Answer == "" {
			turn.Answer = leftOpen
		}
	}
	body, err := session.Encode(remembered)
	if err != nil {
		return err
	}
	e.counts.Threads++
	return e.out.Encode(entry{Kind: threadKind, Thread: &threadEntry{thread, body}})
}
