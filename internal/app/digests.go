package app

import (
	"context"
	"fmt"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/discord"
	"github.com/cairn-bot/cairn/internal/adapters/slack"
	"github.com/cairn-bot/cairn/internal/bot"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/config"
	"github.com/cairn-bot/cairn/internal/digest"
	"github.com/cairn-bot/cairn/internal/pages/pagesource"
	"github.com/cairn-bot/cairn/internal/runs"
)

const (
	// digestEvery is how often it is looked whether a digest is due, digestLate how long after its
	// time it is still posted, where no process was there before. That is less than
	// runs.Options.DedupeFor, within which a digest is known to be queued.
	digestEvery = time.Minute
	digestLate  = 12 * time.Hour
	// digestDays are what a digest looks back on.
	digestDays = 7
)

// digests posts what the documents of sources lack, in channels.
type digests struct {
	cairn  *Cairn
	queued map[string]time.Time // when the last digest was due that this process queued, by source
}

// scheduleDigests has digests queued when they are due, until ctx ends. All workers do so: each
// digest is posted once.
func scheduleDigests(ctx context.Context, c *Cairn) {
	d := digests{c, make(map[string]time.Time)}
	every := time.NewTicker(digestEvery)
	defer every.Stop()
	for {
		d.queueDue(ctx, time.Now())
		select {
		case <-ctx.Done():
			return
		case <-every.C:
		}
	}
}

// queueDue queues the digests that are due. What fails is tried again.
func (d digests) queueDue(ctx context.Context, now time.Time) {
	for _, source := range d.cairn.Config.Sources {
		if source.DigestChannel == "" {
			continue
		}
		due, err := source.FindDigestDue(now)
		if err != nil || now.Sub(due) > digestLate || d.queued[source.Name].Equal(due) {
			continue
		}
		thread, err := channelThread(chat.ChannelID(source.DigestChannel))
		if err == nil {
			err = bot.EnqueueDigest(ctx, d.cairn.Storage.Runs, bot.Digest{Collection: source.Name, Thread: thread, Due: due})
		}
		if err != nil {
			if ctx.Err() == nil {
				d.cairn.Logger.ErrorContext(ctx, "queue a digest", "source", source.Name, "error", err)
			}
			continue
		}
		d.queued[source.Name] = due
	}
}

// channelThread gives the thread by which something is posted in a channel itself.
func channelThread(channel chat.ChannelID) (chat.ThreadID, error) {
	switch adapter, _, _ := channel.Split(); adapter {
	case slack.Name:
		return slack.ChannelThread(channel)
	case discord.Name:
		return discord.ChannelThread(channel)
	}
	return "", fmt.Errorf("%q is no channel of a platform", channel)
}

// compose writes what the documents of a source lacked in the week before. It tells of
// questions that were asked where everybody in the channel may read them.
func (d digests) compose(ctx context.Context, due bot.Digest) (chat.Reply, error) {
	c := d.cairn
	readers := &channelReaders{platforms: c.platforms(), channel: due.Thread}
	made, err := digest.Make(ctx, digest.Options{
		Records: c.Storage.Records, Documents: c.guardedIndex().Documents,
		From: due.Due.AddDate(0, 0, -digestDays), To: due.Due, Includes: readers.mayRead,
	})
	if err != nil {
		return chat.Reply{}, err
	}
	var others []string
	if isFirstDigest(c.Config.Sources, due.Collection) {
		others = []string{"", string(pagesource.ID)}
	}
	post := digest.RenderPost(made, made.Select(due.Collection, others...))
	return chat.Reply{Text: post.Text, Topics: post.Topics}, nil
}

// isFirstDigest tells that a source is the first that has a digest: it tells, too, of what belongs to
// no source, and of pages.
func isFirstDigest(all []config.Source, name string) bool {
	for _, source := range all {
		if source.DigestChannel != "" {
			return source.Name == name
		}
	}
	return false
}

// channelReaders are those who read a channel.
type channelReaders struct {
	platforms map[string]any
	channel   chat.ThreadID
	place     *chat.Place // of channel; nil: not asked for yet
}

// mayRead tells whether those who read the channel may read where a run was asked for: there, or
// where all of the team may. What can't be found out they may not.
func (r *channelReaders) mayRead(ctx context.Context, record runs.Record) bool {
	describer, ok := r.platforms[r.channel.Adapter()].(chat.PlaceDescriber)
	if !ok || record.Thread.Adapter() != r.channel.Adapter() {
		return false
	}
	if r.place == nil {
		place, err := describer.Place(ctx, r.channel)
		if err != nil {
			return false
		}
		r.place = &place
	}
	asked, err := describer.Place(ctx, record.Thread)
	if err != nil || asked.Channel == "" {
		return false
	}
	return asked.Channel == r.place.Channel || asked.Open && asked.Team != "" && asked.Team == r.place.Team
}
