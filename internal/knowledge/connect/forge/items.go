package forge

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/connect"
	"github.com/cairn-bot/cairn/internal/knowledge/connect/remote"
)

// maxAsked is how many items that a list lacks are asked for one by one before they count as gone.
// More of them are left to the one who confirms that much is gone.
const maxAsked = 200

// nouns are what an item of a part is called.
var nouns = map[Part]string{Issues: "Issue", Discussions: "Discussion", Releases: "Release"}

// itemsReading is the reading of one part's items.
type itemsReading struct {
	*reading
	part  Part
	how   listing
	after map[string]string // what the index has at the end: hashes by key
	left  map[string]bool   // keys of items that are no documents
	newer time.Time         // the newest time of an item
	now   time.Time
	force map[string]bool // items that are read though their times say nothing
	// yielded are the items that a change was yielded for.
	yielded map[string]bool
}

// readItems yields the items of a part that changed: those since the last listing where that can
// be relied on, else all.
func (r *reading) readItems(ctx context.Context, part Part, how listing) error {
	reads := &itemsReading{
		reading: r, part: part, how: how, after: maps.Clone(r.known[part]), left: make(map[string]bool), now: r.options.Now(), force: r.changed.items(part),
		yielded: make(map[string]bool),
	}
	if reads.after == nil {
		reads.after = make(map[string]string)
	}
	held := r.held.Lists[part]
	delete(r.held.Lists, part) // until it was read to its end
	if reads.isContinued(held) {
		complete, err := reads.readSince(ctx, held)
		if err != nil {
			return err
		}
		if complete {
			reads.remember(held.Listed)
			return reads.yieldRest()
		}
	}
	if err := reads.readWhole(ctx); err != nil {
		return err
	}
	reads.remember(reads.now)
	return nil
}

// isContinued reports whether it is enough to ask for what changed since a listing.
func (r *itemsReading) isContinued(held *listState) bool {
	canAsk := r.how.since != "" || r.how.graph != nil
	return held != nil && canAsk && r.now.Sub(held.Listed) < relistAfter && held.Known == digest(r.after) && r.sameSettings()
}

// sameSettings reports whether the documents that are known are for those that they are for now.
func (r *itemsReading) sameSettings() bool {
	for _, hash := range r.after {
		if !hasSettings(hash, r.settings) {
			return false
		}
	}
	return true
}

// remember keeps where the listing ended. What changed while it went on is asked for again.
func (r *itemsReading) remember(listed time.Time) {
	since := r.newer
	if since.IsZero() || since.After(r.now) {
		since = r.now
	}
	r.held.Lists[r.part] = &listState{Since: since.Add(-overlap), Listed: listed, Known: digest(r.after), Left: slices.Sorted(maps.Keys(r.left))}
}

// readSince reads what changed since a listing. It is not complete where the number of items is not
// the one that follows: something is gone, which no time tells.
func (r *itemsReading) readSince(ctx context.Context, held *listState) (complete bool, err error) {
	for _, key := range held.Left {
		r.left[key] = true
	}
	r.newer = held.Since.Add(overlap)
	if err := r.noteTouched(ctx, held.Since); err != nil {
		return false, err
	}
	listed := make(map[string]bool)
	for i, err := range r.items(ctx, held.Since) {
		if err != nil {
			return false, err
		}
		if i.Key == "" {
			return false, nil // one is too large: a whole listing names it
		}
		listed[i.Key] = true
		if err := r.readItem(ctx, i); err != nil {
			return false, err
		}
	}
	for _, key := range slices.Sorted(maps.Keys(r.force)) {
		if listed[key] || r.left[key] || r.how.single == nil {
			continue
		}
		if err := r.readAgain(ctx, key); err != nil {
			return false, err
		}
	}
	total, ok, err := r.total(ctx)
	return ok && total == len(r.after)+len(r.left), err
}

// noteTouched notes the items whose comments changed.
func (r *itemsReading) noteTouched(ctx context.Context, since time.Time) error {
	if r.how.touched == "" {
		return nil
	}
	for raw, err := range r.asker.list(ctx, withQuery(r.how.touched, sinceQuery("since", since))) {
		if err != nil {
			return err
		}
		if raw == nil {
			continue
		}
		key, err := r.how.readTouched(raw)
		if err != nil {
			return err
		}
		if key != "" {
			r.force[key] = true
		}
	}
	return nil
}

func sinceQuery(name string, since time.Time) url.Values {
	return url.Values{name: {since.UTC().Format(time.RFC3339)}}
}

// readAgain reads one item that was told to have changed.
func (r *itemsReading) readAgain(ctx context.Context, key string) error {
	answer, err := r.asker.get(ctx, r.how.single(key))
	if isGone(err) {
		if _, ok := r.after[key]; ok {
			delete(r.after, key)
			r.noteGone(r.Name, r.part, slices.Values([]string{key}))
		}
		return nil
	}
	if err != nil {
		return err
	}
	i, err := r.how.read(answer.Body)
	if err != nil {
		return err
	}
	return r.readItem(ctx, i)
}

// total asks how many items there are.
func (r *itemsReading) total(ctx context.Context) (int, bool, error) {
	if r.how.graph != nil {
		return r.how.graph.total, true, nil
	}
	return r.asker.count(ctx, withQuery(r.how.path, r.how.query))
}

// items yields the items that changed after a time, the zero one for all. One without a key is too
// large to be read.
func (r *itemsReading) items(ctx context.Context, since time.Time) iter.Seq2[item, error] {
	if r.how.graph != nil {
		return r.how.graph.items(ctx, r.asker, since)
	}
	query := maps.Clone(r.how.query)
	if query == nil {
		query = url.Values{}
	}
	if !since.IsZero() {
		maps.Copy(query, sinceQuery(r.how.since, since))
	}
	return func(yield func(item, error) bool) {
		for raw, err := range r.asker.list(ctx, withQuery(r.how.path, query)) {
			var i item
			if err == nil && raw != nil {
				i, err = r.how.read(raw)
			}
			if !yield(i, err) || err != nil {
				return
			}
		}
	}
}

// readWhole reads all items, and notes those that are gone.
func (r *itemsReading) readWhole(ctx context.Context) error {
	r.left = make(map[string]bool)
	listed := make(map[string]bool)
	tooLarge := 0
	for i, err := range r.items(ctx, time.Time{}) {
		if err != nil {
			return err
		}
		if i.Key == "" {
			tooLarge++
			if err := r.yieldFailed(fmt.Sprintf("too large %d", tooLarge), &connect.TooLargeError{Size: pageLimit(r.options.MaxBytes), Limit: r.options.MaxBytes}); err != nil {
				return err
			}
			continue
		}
		if listed[i.Key] { // it moved to a later page meanwhile
			continue
		}
		listed[i.Key] = true
		if err := r.readItem(ctx, i); err != nil {
			return err
		}
	}
	var missing []string
	for key := range r.after {
		if !listed[key] {
			missing = append(missing, key)
		}
	}
	slices.Sort(missing)
	return r.confirmGone(ctx, missing, tooLarge)
}

// confirmGone notes what a list lacks as gone, unless it is there when it is asked for: where
// something was deleted while pages were read, the next one moved to a page that was read already.
func (r *itemsReading) confirmGone(ctx context.Context, missing []string, tooLarge int) error {
	for at, key := range missing {
		if r.how.single != nil && at < maxAsked {
			answer, err := r.asker.get(ctx, r.how.single(key))
			if err != nil && !isGone(err) {
				var large *connect.TooLargeError
				if errors.As(err, &large) && tooLarge > 0 {
					continue // it was named as too large
				}
				return err
			}
			if err == nil {
				i, err := r.how.read(answer.Body)
				if err != nil {
					return err
				}
				if !i.Left {
					if err := r.readItem(ctx, i); err != nil {
						return err
					}
					continue
				}
			}
		}
		delete(r.after, key)
		r.noteGone(r.Name, r.part, slices.Values([]string{key}))
	}
	return nil
}

// readItem yields one item, with what was written to it.
func (r *itemsReading) readItem(ctx context.Context, i item) error {
	known, ok := r.after[i.Key]
	if i.Updated.After(r.newer) {
		r.newer = i.Updated
	}
	switch {
	case i.Left || !isSafeKey(i.Key):
		r.left[i.Key] = true
		r.skipped["no documents ("+string(r.part)+")"]++
		if ok {
			delete(r.after, i.Key)
			r.noteGone(r.Name, r.part, slices.Values([]string{i.Key}))
		}
		return nil
	case ok && !r.force[i.Key] && i.isSame(known, r.settings):
		return r.yieldSame(i.Key)
	}
	delete(r.left, i.Key)
	delete(r.force, i.Key)
	if r.how.comments != nil && i.Count > 0 {
		var err error
		if i.Comments, err = r.comments(ctx, i); err != nil {
			if _, refused := refusedStatus(err); !refused && !remote.IsFinal(err) {
				return err
			}
			delete(r.after, i.Key) // or the next sync would take it for read
			return r.yieldFailed(i.Key, err)
		}
	}
	hash := i.hash(r.settings)
	if ok && hash == known {
		return r.yieldSame(i.Key)
	}
	content := i.render(nouns[r.part])
	if int64(len(content)) > r.options.MaxBytes {
		delete(r.after, i.Key)
		return r.yieldFailed(i.Key, &connect.TooLargeError{Size: int64(len(content)), Limit: r.options.MaxBytes})
	}
	r.after[i.Key] = hash
	return r.yieldItem(i, hash, content)
}

// yieldSame yields an item that is as it is known, once.
func (r *itemsReading) yieldSame(key string) error {
	if r.yielded[key] {
		return nil
	}
	r.yielded[key] = true
	return r.yieldUnchanged(r.part, key, r.after[key])
}

// yieldRest yields what is known and was not asked for, as unchanged.
func (r *itemsReading) yieldRest() error {
	for _, key := range slices.Sorted(maps.Keys(r.after)) {
		if err := r.yieldSame(key); err != nil {
			return err
		}
	}
	return nil
}

// isSafeKey reports whether a key can be part of an id.
func isSafeKey(key string) bool {
	const longest = 255
	return key != "" && len(key) <= longest && !strings.Contains(key, "#") && !strings.ContainsFunc(key, isControl)
}

// comments reads what was written to an item.
func (r *itemsReading) comments(ctx context.Context, i item) ([]comment, error) {
	var read []comment
	size := len(i.Body)
	for raw, err := range r.asker.list(ctx, r.how.comments(i)) {
		if err != nil {
			return nil, err
		}
		if raw == nil {
			return nil, &connect.TooLargeError{Size: pageLimit(r.options.MaxBytes), Limit: r.options.MaxBytes}
		}
		c, err := r.how.readComment(raw)
		if err != nil {
			return nil, err
		}
		if strings.TrimSpace(c.Body) == "" {
			continue
		}
		if size += len(c.Body); int64(size) > r.options.MaxBytes || len(read) == maxComments {
			break
		}
		read = append(read, c)
	}
	return read, nil
}

func (r *itemsReading) yieldItem(i item, hash string, content []byte) error {
	r.yielded[i.Key] = true
	kind := knowledge.KindConversation
	modified := i.Updated
	if r.part == Releases {
		kind = r.options.Kinds
	}
	if modified.IsZero() {
		modified = i.Created
	}
	base, _ := url.Parse(i.URL) //nolint:errcheck // nil gives no links
	return r.pass(connect.Change{
		Kind: connect.Upserted, Content: content, MediaType: "text/markdown",
		Link: func(target string) string { return resolveLink(base, target) },
		Document: knowledge.Document{
			ID: connect.NewDocumentID(r.options.Source, localID(r.Name, r.part, i.Key)), Source: r.options.Source, Kind: kind,
			Path: documentPath(r.Name, r.part, i.Key), Title: oneLine(i.Title), URL: i.webAddress(r.Web), Owner: r.options.Owner, Modified: modified.UTC(),
			Hash: hash, Audience: r.audience, State: knowledge.StateLive,
		},
	})
}

// webAddress is where people open an item; what is no address of the web counts as missing.
func (i item) webAddress(otherwise string) string {
	if address, err := url.Parse(i.URL); err == nil && address.Host != "" && (address.Scheme == "https" || address.Scheme == "http") {
		return i.URL
	}
	return otherwise
}

func resolveLink(base *url.URL, target string) string {
	if base == nil {
		return ""
	}
	to, err := base.Parse(target)
	if err != nil || to.Host == "" {
		return ""
	}
	return to.String()
}

func (r *itemsReading) yieldFailed(key string, reason error) error {
	r.yielded[key] = true
	return r.pass(connect.Change{Kind: connect.Failed, Reason: reason, Document: knowledge.Document{
		ID: connect.NewDocumentID(r.options.Source, localID(r.Name, r.part, key)), Source: r.options.Source, Path: documentPath(r.Name, r.part, key), Audience: r.audience,
	}})
}
