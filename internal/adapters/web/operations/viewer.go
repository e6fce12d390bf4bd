package operations

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/cairn-bot/cairn/internal/adapters/web"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/runs"
)

// Redactor takes out of what is shown what somebody who signed in at the issuer may not see.
// Who has the token, or sits at the machine, runs Cairn and sees everything.
type Redactor interface {
	// RedactRecords gives the records as the person may see them, and names those whose
	// content was taken out.
	RedactRecords(ctx context.Context, person chat.Identity, records []runs.Record) (shown []runs.Record, hidden map[chat.RunID]bool, err error)
	// ReadableDocuments tells which documents the person may read. Those that the index does
	// not have are left out.
	ReadableDocuments(ctx context.Context, person chat.Identity, ids []string) (map[string]bool, error)
}

// identity is what the issuer said of the person, nil for one who sees everything.
func (s signed) identity() *chat.Identity {
	if s.Operator {
		return nil
	}
	return web.Person{Email: s.Email, Groups: s.Groups}.Identity()
}

// shownRecord is a record as it is shown to one person.
type shownRecord struct {
	runs.Record
	hidden bool // its content was taken out
}

// viewer shows what the person of a context may see.
type viewer struct{ redactor Redactor }

// showRecords gives records as the person of the context may see them.
func (v viewer) showRecords(ctx context.Context, records []runs.Record) ([]shownRecord, error) {
	var hidden map[chat.RunID]bool
	if person := who(ctx).identity(); person != nil {
		var err error
		if records, hidden, err = v.redactor.RedactRecords(ctx, *person, records); err != nil {
			return nil, err
		}
	}
	shown := make([]shownRecord, len(records))
	for i, record := range records {
		shown[i] = shownRecord{record, hidden[record.ID]}
	}
	return shown, nil
}

// hiddenRequest stands for a question that the person may not see.
const hiddenRequest = "(asked in private, or about documents that you may not read)"

// shownThread is the id of a thread as the person of the context may see it: who has that of
// a conversation on the web page can read it there.
func shownThread(ctx context.Context, thread chat.ThreadID) string {
	if who(ctx).identity() == nil || adapterOf(thread) != "web" {
		return string(thread)
	}
	sum := sha256.Sum256([]byte(thread))
	return "web:hidden-" + hex.EncodeToString(sum[:8])
}

// showFailures gives the documents that could not be read as the person of the context may
// see them. Of what is not in the index it is not known who may read it.
func (v viewer) showFailures(ctx context.Context, state index.IngestState) ([]index.IngestFailure, error) {
	person := who(ctx).identity()
	if person == nil || len(state.Failures) == 0 {
		return state.Failures, nil
	}
	id := func(failure index.IngestFailure) string { return string(state.Source) + ":" + failure.Document }
	ids := make([]string, len(state.Failures))
	for i, failure := range state.Failures {
		ids[i] = id(failure)
	}
	readable, err := v.redactor.ReadableDocuments(ctx, *person, ids)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(state.Failures), func(f index.IngestFailure) bool { return !readable[id(f)] }), nil
}
