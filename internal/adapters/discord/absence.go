package discord

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/cairn-bot/cairn/internal/chat"
)

// maxSurveys is how many servers and channels are remembered as they were seen last.
const maxSurveys = 64

// survey is how conversations stand, as one look shows them.
type survey struct {
	states map[string]threadState // by thread, or by the message that began a conversation in place
	// begun is when the earliest conversation in place began that the look can show; what began
	// later and is not in states has no messages of the bot's. Zero: it tells only of states.
	begun time.Time
	// threadless are messages of a channel from which no thread was started.
	threadless map[string]bool
}

// threadState is how a conversation stands: of one in a thread all messages count but the one that
// it was started from, of one in place the bot's.
type threadState struct {
	messages int
	last     string // id of the last one
}

// isAtMost tells that no message is there after one.
func (t threadState) isAtMost(message string) bool {
	last, err := strconv.ParseUint(t.last, 10, 64)
	from, err2 := strconv.ParseUint(message, 10, 64)
	return t.messages == 0 || err == nil && err2 == nil && last <= from
}

// isKnown tells that the conversation in a place has no messages but known ones.
func (t threadState) isKnown(at place, known []chat.MessageID) bool {
	ids := make(map[string]bool, len(known))
	for _, id := range known {
		from := parseSource(id)
		switch {
		case from == source{}: // the bot's own
			ids[string(id)] = true
		case from.channel == at.channel && at.root == "":
			ids[from.message] = true
		}
	}
	return t.messages <= len(ids) && (t.messages == 0 || ids[t.last])
}

// readThreadState tells how the room's conversation stands, by a look that is no older than age: one at the
// active threads of its server, or at the latest messages of its channel, or of that which its
// thread is to be started in. false: they do not show it, as of a thread that was archived.
func (r room) readThreadState(ctx context.Context, age time.Duration) (threadState, bool, error) {
	since := r.adapter.now().Add(-age)
	if r.at.isDirect() {
		return threadState{}, false, nil
	}
	if r.at.root == "" {
		seen, err := r.adapter.surveys.Get(r.at.guild, since, func() (survey, time.Time, error) { return r.surveyServer(ctx) })
		found, ok := seen.states[r.at.channel]
		if ok || err != nil || r.to.message != r.at.channel || r.to.channel == "" {
			return found, ok, err
		}
		seen, err = r.surveyOf(ctx, r.to.channel, since)
		return threadState{}, seen.threadless[r.to.message], err
	}
	seen, err := r.surveyOf(ctx, r.at.channel, since)
	found, ok := seen.states[r.at.root]
	return found, ok || bornAt(r.at.root).After(seen.begun) && !seen.begun.IsZero(), err
}

// surveyServer asks how the active threads of the room's server stand.
func (r room) surveyServer(ctx context.Context) (survey, time.Time, error) {
	var told struct {
		Threads []wireChannel `json:"threads"`
	}
	asked := r.adapter.now()
	err := r.adapter.callAPI(ctx, request{does: "list the active threads", method: http.MethodGet, url: discordgo.EndpointGuildActiveThreads(r.at.guild)}, &told)
	if err != nil {
		return survey{}, asked, err
	}
	seen := survey{states: make(map[string]threadState, len(told.Threads))}
	for _, thread := range told.Threads {
		seen.states[thread.ID] = threadState{thread.MessageCount, thread.LastMessage}
	}
	return seen, asked, nil
}

// surveyOf gives how the conversations in a channel of the room's server stood at a time or later.
func (r room) surveyOf(ctx context.Context, channel string, since time.Time) (survey, error) {
	r.at = place{guild: r.at.guild, channel: channel}
	return r.adapter.surveys.Get(r.at.guild+" "+channel, since, func() (survey, time.Time, error) { return r.surveyChannel(ctx) })
}

// surveyChannel asks how the conversations in the room's channel stand.
func (r room) surveyChannel(ctx context.Context) (survey, time.Time, error) {
	asked := r.adapter.now()
	page, err := r.readPage(ctx, "")
	if err != nil {
		return survey{}, asked, err
	}
	seen := survey{states: map[string]threadState{}, begun: time.Unix(1, 0), threadless: map[string]bool{}}
	if len(page) == pageSize {
		seen.begun = bornAt(page[len(page)-1].ID)
	}
	for _, message := range page { // the latest first
		if !message.hasThread() {
			seen.threadless[message.ID] = true
		}
		m, ok := markOf(message.Components)
		if !ok || message.Author == nil || message.Author.ID != r.bot || m.root == "" || bornAt(m.root).Before(seen.begun) {
			continue
		}
		state := seen.states[m.root]
		if state.messages == 0 {
			state.last = message.ID
		}
		state.messages++
		seen.states[m.root] = state
	}
	return seen, asked, nil
}

// IsAbsent implements chat.AbsenceChecker: one look tells of all threads of a server, and of all
// conversations in place in a channel.
func (a *Adapter) IsAbsent(ctx context.Context, thread chat.ThreadID, to chat.MessageID, age time.Duration) (bool, error) {
	r, err := a.openRoom(ctx, thread, "")
	r.to = parseSource(to)
	if err != nil || r.at.private != "" || r.to.message == "" {
		return false, err
	}
	found, ok, err := r.readThreadState(yieldTurn(ctx, postPatience), age)
	if errors.Is(err, chat.ErrGone) || errors.Is(err, chat.ErrRefused) { // the bot may not look
		return false, nil
	}
	return err == nil && ok && found.isAtMost(r.to.message), err
}
