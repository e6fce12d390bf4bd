package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/cairn-bot/cairn/internal/adapters/discord"
	"github.com/cairn-bot/cairn/internal/adapters/slack"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/config"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/connect"
	"github.com/cairn-bot/cairn/internal/knowledge/connect/forge"
	"github.com/cairn-bot/cairn/internal/runs"
	"github.com/cairn-bot/cairn/internal/session"
	"github.com/cairn-bot/cairn/internal/store"
	"github.com/cairn-bot/cairn/internal/threadsource"
)

// channelPlatform is a platform with channels.
type channelPlatform interface {
	chat.ChannelReader
	chat.Keeper
}

// Channels are what sources of the kind conversation are read by. The methods of nil do nothing.
type Channels struct {
	library   *Library
	platforms map[string]channelPlatform // by adapter
	records   store.Records
	sessions  session.Store

	mu       sync.Mutex
	memories map[knowledge.SourceID]*threadsource.Memory
	sources  map[chat.ChannelID]knowledge.SourceID // that are read by a schedule
	changed  func(knowledge.SourceID)              // nil: nobody is told
}

// newChannels makes what reads the channels of the platforms that are on.
func newChannels(c *Cairn) *Channels {
	platforms := make(map[string]channelPlatform)
	if c.Slack != nil {
		platforms[slack.Name] = slack.NewChannels(c.Slack.adapter)
	}
	if c.Discord != nil {
		platforms[discord.Name] = discord.NewChannels(c.Discord.adapter)
	}
	return &Channels{library: c.Library, platforms: platforms, records: c.Storage.Records, sessions: c.Storage.Sessions, memories: make(map[knowledge.SourceID]*threadsource.Memory)}
}

// newSource makes what reads a channel. lasting says that the process reads it again and again.
func (c *Channels) newSource(source config.Source, lasting bool) *threadsource.Source {
	channel := chat.ChannelID(source.Channel)
	adapter, _, _ := channel.Split()
	options := threadsource.Options{Source: knowledge.SourceID(source.Name), Channel: channel}
	if c == nil {
		return threadsource.New(options)
	}
	options.Confirmed = c.findConfirmed
	if platform, ok := c.platforms[adapter]; ok {
		options.Reader = platform
	}
	if lasting {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.memories[options.Source] == nil {
			c.memories[options.Source] = threadsource.NewMemory()
		}
		options.Memory = c.memories[options.Source]
	}
	return threadsource.New(options)
}

// notify has somebody told of the sources in whose channels something happened.
func (c *Channels) notify(changed func(knowledge.SourceID)) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changed = changed
}

// setSources says which channels are read.
func (c *Channels) setSources(configured []config.Source) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sources = make(map[chat.ChannelID]knowledge.SourceID)
	for _, source := range configured {
		if source.Kind == config.SourceConversation && !source.IsPaused() {
			c.sources[chat.ChannelID(source.Channel)] = knowledge.SourceID(source.Name)
		}
	}
}

// noteChange has a thread read again in which something happened. Adapters call it; what happens
// before the channels are open is in the first listing.
func (c *Channels) noteChange(channel chat.ChannelID, thread chat.ThreadID) {
	if c == nil {
		return
	}
	c.mu.Lock()
	source, ok := c.sources[channel]
	memory, changed := c.memories[source], c.changed
	c.mu.Unlock()
	if !ok {
		return
	}
	if memory != nil { // else it was never read
		memory.NoteChange(thread)
	}
	if changed != nil {
		changed(source)
	}
}

// maxThreadRuns is of how many runs of a thread the ratings are read.
const maxThreadRuns = 20

// findConfirmed gives the answers in a thread that more people rated up than down, oldest first.
func (c *Channels) findConfirmed(ctx context.Context, thread chat.ThreadID) ([]threadsource.ConfirmedAnswer, error) {
	listed, err := c.records.List(ctx, runs.Filter{Thread: thread}, maxThreadRuns)
	if err != nil || len(listed) == 0 {
		return nil, err
	}
	rated := make(map[chat.RunID]bool)
	for _, one := range listed {
		record, err := c.records.Load(ctx, one.ID)
		if err != nil && !errors.Is(err, chat.ErrUnknownRun) {
			return nil, err
		}
		balance := 0
		for _, rating := range record.Ratings {
			switch rating.Verdict {
			case chat.Up:
				balance++
			case chat.Down:
				balance--
			}
		}
		rated[one.ID] = balance > 0
	}
	remembered, err := c.sessions.Load(ctx, thread)
	if err != nil {
		return nil, err
	}
	var confirmed []threadsource.ConfirmedAnswer
	for _, turn := range remembered.Turns {
		if turn.Reply != nil && turn.Reply.Outcome == chat.Answered && rated[turn.Reply.Run] {
			confirmed = append(confirmed, threadsource.ConfirmedAnswer{Text: turn.Reply.Text, At: turn.At})
		}
	}
	return confirmed, nil
}

// lastingConnector makes what reads a source again and again; changed is what its forge told of.
func lastingConnector(l *Library, source config.Source, changed []forge.Event) connect.Connector {
	if source.Kind == config.SourceConversation {
		return l.Channels.newSource(source, true)
	}
	return newConnector(l.Config.DataDir, source, changed)
}

// openConnector makes what reads a source. What reads channels needs the platforms, which a
// process that only reads sources opens for that.
func openConnector(ctx context.Context, l *Library, source config.Source, changed []forge.Event) (connect.Connector, func() error, error) {
	nothing := func() error { return nil }
	if source.Kind != config.SourceConversation || l.Channels != nil {
		return lastingConnector(l, source, changed), nothing, nil
	}
	c := &Cairn{Library: l}
	var err error
	if c.Storage, err = OpenStorage(ctx, l.Setup); err != nil {
		return nil, nil, fmt.Errorf("read source %s: %w", source.Name, err)
	}
	c.Slack, err = c.newSlack()
	if err == nil {
		c.Discord, err = c.newDiscord()
	}
	if err != nil {
		return nil, nil, errors.Join(err, c.Storage.Close())
	}
	return newChannels(c).newSource(source, false), c.Storage.Close, nil
}

// keep implements bot.Keep.
func (c *Channels) keep(ctx context.Context, thread chat.ThreadID, message chat.MessageID, kept bool) (threadsource.Kept, error) {
	adapter := thread.Adapter()
	platform, ok := c.platforms[adapter]
	if !ok {
		return threadsource.Kept{}, threadsource.ErrNoSource
	}
	channel, ok, err := platform.ChannelOf(ctx, thread)
	if err != nil {
		return threadsource.Kept{}, err
	}
	if ok {
		ok, err = sources{c.library}.isSource(channel)
	}
	if err != nil || !ok {
		return threadsource.Kept{}, errors.Join(err, threadsource.ErrNoSource)
	}
	marked := []chat.MessageID{message}
	var found threadsource.Kept
	if kept {
		found, err = threadsource.Describe(ctx, platform, channel, thread, message)
	} else {
		marked, err = threadsource.ListKept(ctx, platform, channel, thread)
	}
	for _, one := range marked {
		if err == nil {
			err = platform.MarkKept(ctx, thread, one, kept)
		}
	}
	if err != nil {
		return threadsource.Kept{}, err
	}
	c.noteChange(channel, thread)
	return found, nil
}

// isSource reports whether a channel is one that sources are read from.
func (s sources) isSource(channel chat.ChannelID) (bool, error) {
	configured, err := s.list()
	return slices.ContainsFunc(configured, func(source config.Source) bool {
		return source.Kind == config.SourceConversation && source.Channel == string(channel) && !source.IsPaused()
	}), err
}
