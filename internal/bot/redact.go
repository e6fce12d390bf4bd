package bot

import (
	"context"
	"slices"
	"time"

	"github.com/cairn-bot/cairn/internal/access"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/expiring"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/runs"
)

// Bounds of the search for who may read the places of runs. Where one is reached, what was
// asked there is not shown yet.
const (
	readersKept = time.Minute // as long as adapters believe what platforms tell
	maxReaders  = 4096        // places that are remembered
	maxLookups  = 25          // places that are looked up for one request
	lookupTime  = 3 * time.Second
)

// placeReaders finds and remembers who may read places.
type placeReaders struct {
	access Access
	known  *expiring.Map[access.Readers]
}

func newPlaceReaders(options Options) *placeReaders {
	return &placeReaders{options.Access, expiring.New[access.Readers](maxReaders, readersKept, options.Now)}
}

// lookup is one request that asks for the readers of places.
type lookup struct {
	*placeReaders
	left int // places that may still be looked up
}

// findReaders gives who may read the place of a run: nobody where that is not known.
func (l *lookup) findReaders(ctx context.Context, record runs.Record) access.Readers {
	question := access.Question{Thread: record.Thread, Asker: record.Author, Identity: record.Asker}
	if record.Asker != nil { // no platform is asked
		readers, _ := l.access.FindReaders(ctx, question)
		return readers
	}
	key := string(record.Thread) + " " + string(record.Author)
	readers, ok := l.known.Get(key)
	if ok || l.left == 0 {
		return readers
	}
	l.left--
	if readers, ok = l.access.FindReaders(ctx, question); ok {
		l.known.Put(key, readers)
	}
	return readers
}

// RedactRecords gives records as somebody who signed in may see them. Those that were asked
// where the person does not read, or answered from documents that the person may not read,
// are named in hidden: question, searches, evidence, notes and the reasons of ratings are
// taken out of them, while statuses, times and costs stay.
func (b *Bot) RedactRecords(ctx context.Context, person chat.Identity, records []runs.Record) (shown []runs.Record, hidden map[chat.RunID]bool, err error) {
	hidden = make(map[chat.RunID]bool)
	var cited []string
	for _, record := range records {
		cited = append(cited, documentsIn(record.Trace)...)
	}
	viewers, readable, err := b.readableDocuments(ctx, person, cited)
	if err != nil {
		return nil, nil, err
	}
	shown = slices.Clone(records)
	limited, cancel := context.WithTimeout(ctx, lookupTime)
	defer cancel()
	places := &lookup{b.readers, maxLookups}
	for i, record := range records {
		closed := slices.ContainsFunc(record.Trace.Evidence, func(e chat.TraceEvidence) bool { return e.Kept && !isReadable(e, readable) })
		if closed || b.options.Access == nil || !places.findReaders(limited, record).Include(viewers) {
			hidden[record.ID] = true
			shown[i] = withoutContent(record)
			continue
		}
		shown[i].Trace.Evidence = slices.DeleteFunc(slices.Clone(record.Trace.Evidence), func(e chat.TraceEvidence) bool { return !isReadable(e, readable) })
	}
	return shown, hidden, ctx.Err()
}

// ReadableDocuments tells which documents of the index somebody who signed in may read. Those
// that the index does not have are left out.
func (b *Bot) ReadableDocuments(ctx context.Context, person chat.Identity, ids []string) (map[string]bool, error) {
	_, readable, err := b.readableDocuments(ctx, person, ids)
	return readable, err
}

func (b *Bot) readableDocuments(ctx context.Context, person chat.Identity, ids []string) (knowledge.Viewers, map[string]bool, error) {
	slices.Sort(ids)
	audiences, err := b.documents.documentAudiences(ctx, slices.Compact(ids))
	if err != nil {
		return knowledge.Viewers{}, nil, err
	}
	viewers := b.documents.resolveAccess(ctx, signedInThread, "", &person).Asker
	readable := make(map[string]bool)
	for id, audience := range audiences {
		readable[id] = viewers.MaySee(audience)
	}
	return viewers, readable, nil
}

// signedInThread stands for the conversation of somebody who signed in at a page and asks
// nothing.
const signedInThread chat.ThreadID = "web:"

// documentsIn gives the documents of the index that the evidence of a trace is from.
func documentsIn(trace chat.Trace) []string {
	var ids []string
	for _, evidence := range trace.Evidence {
		if document, _, ok := knowledge.PassageID(evidence.Passage).Split(); ok {
			ids = append(ids, string(document))
		}
	}
	return ids
}

// isReadable tells whether evidence is of a readable document. Evidence without Access is not
// of the index: it came with the question or from a folder, and is for who reads the place.
func isReadable(evidence chat.TraceEvidence, readable map[string]bool) bool {
	document, _, _ := knowledge.PassageID(evidence.Passage).Split()
	may, known := readable[string(document)]
	return may || !known && evidence.Access == ""
}

// withoutContent is a record without what people and documents say.
func withoutContent(record runs.Record) runs.Record {
	record.Request = ""
	record.Trace.Queries, record.Trace.Evidence, record.Trace.Notes = nil, nil, nil
	record.Ratings = slices.Clone(record.Ratings)
	for i := range record.Ratings {
		record.Ratings[i].Reason = ""
	}
	return record
}
