package bot

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/runs"
)

// digestJob posts a digest in the channel of the job's thread.
const digestJob runs.Kind = "digest"

// digestFlow is what stands as the flow in the record of a digest.
const digestFlow = "digest"

// Digest is a post about what a collection lacks that is due in a channel.
type Digest struct {
	Collection string
	Thread     chat.ThreadID // the channel itself, by which its adapter posts there
	Due        time.Time
}

// ComposeDigest writes a digest for the viewers of the context. A reply without a text: there is
// nothing to say.
type ComposeDigest func(ctx context.Context, digest Digest) (chat.Reply, error)

// event is the same for the same digest, whichever process finds it due.
func (d Digest) event() string { return fmt.Sprintf("digest/%s/%d.000000", d.Collection, d.Due.Unix()) }

// EnqueueDigest has a digest posted; it returns once that is durable. The same digest is posted once,
// however often and by however many processes it is enqueued within a day.
func EnqueueDigest(ctx context.Context, queue runs.Queue, digest Digest) error {
	event := digest.event()
	sum := sha256.Sum256([]byte(string(digest.Thread) + " " + event))
	_, err := queue.Enqueue(ctx, runs.Job{
		Event: runs.EventID(event), Kind: digestJob, Run: chat.RunID("run-" + base32.StdEncoding.EncodeToString(sum[:])[:16]),
		Message: chat.Message{ID: chat.MessageID(event), Thread: digest.Thread, At: digest.Due, Collections: []string{digest.Collection}},
	})
	if err != nil {
		return fmt.Errorf("queue the digest of %s: %w", digest.Collection, err)
	}
	return nil
}

// postDigest composes the job's digest and posts it, unless that was done.
func (t *turn) postDigest(ctx context.Context) (runs.Result, error) {
	message := t.job.entry.Message
	if t.bot.options.ComposeDigest == nil || len(message.Collections) != 1 {
		return leftForOthers("no digests are configured here"), nil
	}
	_, err := t.bot.records.Load(ctx, t.job.entry.Run)
	if err == nil {
		return runs.Result{}, t.delivery.announceDone(happened{})
	}
	if !errors.Is(err, chat.ErrUnknownRun) {
		return runs.Result{}, err
	}
	digest := Digest{Collection: message.Collections[0], Thread: message.Thread, Due: message.At}
	viewers := t.bot.documents.resolveAccess(ctx, message.Thread, "", nil).Here
	reply, err := t.bot.options.ComposeDigest(knowledge.WithViewers(ctx, viewers), digest)
	if err != nil {
		return runs.Result{}, fmt.Errorf("compose the digest of %s: %w", digest.Collection, err)
	}
	if reply.Text == "" {
		return runs.Result{}, t.delivery.announceDone(happened{})
	}
	record := t.job.newRecord(t.job.entry.Run, digestFlow, "digest of "+digest.Collection)
	record.Move(runs.Running, t.job.now(), "it was due")
	record.Move(runs.Done, t.job.now(), string(chat.Noticed))
	t.job.record = record
	reply.Run, reply.Outcome = record.ID, chat.Noticed
	t.conversation.recordReply(t.job.message.ID, reply)
	return t.conclusion.commitAndShow(ctx, runs.Result{}, record)
}
