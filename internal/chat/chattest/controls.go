package chattest

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/cairn-bot/cairn/internal/chat"
)

var (
	_ chat.Controls   = (*Bot)(nil)
	_ chat.RunThreads = (*Bot)(nil)
	_ chat.Threads    = (*Bot)(nil)
	_ chat.Graphs     = (*Bot)(nil)
	_ chat.Ratings    = (*Bot)(nil)
)

// run is what the bot said last for a run, guarded by Bot.mu.
type run struct {
	message chat.Message
	reply   chat.Reply
	ratings map[chat.UserID]chat.Rating
}

// rememberReply keeps a run's last reply; it takes the place of the run's failure line.
func (b *Bot) rememberReply(message chat.Message, reply chat.Reply) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.runs == nil {
		b.runs = make(map[chat.RunID]*run)
	}
	in := b.findThread(message.Thread)
	in.turns = slices.DeleteFunc(in.turns, func(turn chat.Turn) bool {
		return turn.Message == message.ID && turn.Reply != nil && turn.Reply.Run == reply.Run && turn.Reply.Outcome == chat.Failure
	})
	b.runs[reply.Run] = &run{message: message, reply: reply, ratings: make(map[chat.UserID]chat.Rating)}
}

// Stop cancels the script that works in the thread, or closes its open questions.
func (b *Bot) Stop(_ context.Context, id chat.ThreadID, by chat.UserID) (bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	in := b.findThread(id)
	if in.work != nil {
		if in.work.author != by {
			return false, chat.ErrForbidden
		}
		in.work.stopped = true
		in.work.cancel()
		return true, nil
	}
	stopped := false
	for i := range in.turns {
		question := in.turns[i].Question
		if question == nil || in.turns[i].Answer != "" {
			continue
		}
		if question.Asker != "" && question.Asker != by {
			return false, chat.ErrForbidden
		}
		in.turns[i].Answer, in.turns[i].AnsweredBy = "cancelled", by
		stopped = true
	}
	return stopped, nil
}

// Retry follows the script of a failed run's message again.
func (b *Bot) Retry(ctx context.Context, id chat.RunID, by chat.UserID, conversation chat.Conversation) error {
	b.mu.Lock()
	failed := b.runs[id]
	b.mu.Unlock()
	if failed == nil {
		return chat.ErrUnknownRun
	}
	if failed.message.Author != by {
		return chat.ErrForbidden
	}
	return b.inTurn(ctx, failed.message, conversation, func() (Script, error) {
		b.mu.Lock()
		over := b.runs[id].reply.Outcome != chat.Failure
		b.mu.Unlock()
		if over {
			return nil, chat.ErrRunOver
		}
		return b.scriptFor(failed.message), nil
	})
}

// Rate keeps a rating.
func (b *Bot) Rate(_ context.Context, id chat.RunID, rating chat.Rating) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	rated := b.runs[id]
	switch {
	case rated == nil:
		return chat.ErrUnknownRun
	case rating.Verdict == chat.Unrated:
		delete(rated.ratings, rating.By)
	default:
		rated.ratings[rating.By] = rating
	}
	return nil
}

// Ratings returns what people think of a run, by person; none for a run that is not known.
func (b *Bot) Ratings(id chat.RunID) []chat.Rating {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.runs[id] == nil {
		return nil
	}
	return slices.SortedFunc(maps.Values(b.runs[id].ratings), func(a, b chat.Rating) int { return cmp.Compare(a.By, b.By) })
}

// RatingsOf implements chat.Ratings.
func (b *Bot) RatingsOf(_ context.Context, id chat.RunID) ([]chat.Rating, error) {
	b.mu.Lock()
	known := b.runs[id] != nil
	b.mu.Unlock()
	if !known {
		return nil, chat.ErrUnknownRun
	}
	return b.Ratings(id), nil
}

// Explain returns the trace of a run's last reply.
func (b *Bot) Explain(_ context.Context, id chat.RunID) (chat.Trace, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.runs[id] == nil {
		return chat.Trace{}, chat.ErrUnknownRun
	}
	return b.runs[id].reply.Trace, nil
}

// ThreadOf returns the thread of a run.
func (b *Bot) ThreadOf(_ context.Context, id chat.RunID) (chat.ThreadID, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.runs[id] == nil {
		return "", chat.ErrUnknownRun
	}
	return b.runs[id].message.Thread, nil
}

// Threads lists the threads in which the person wrote; their title is their first
// message.
func (b *Bot) Threads(_ context.Context, adapter string, by chat.UserID, limit int) ([]chat.ThreadSummary, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var listed []chat.ThreadSummary
	for id, in := range b.threads {
		wrote := slices.ContainsFunc(in.turns, func(turn chat.Turn) bool { return turn.Role == chat.Person && turn.Author == by })
		if id.Adapter() != adapter || !wrote {
			continue
		}
		listed = append(listed, chat.ThreadSummary{
			Thread: id, Title: in.turns[0].Text, Updated: in.updated,
			Waiting: slices.ContainsFunc(in.turns, func(turn chat.Turn) bool { return turn.Question != nil && turn.Answer == "" }),
		})
	}
	slices.SortFunc(listed, func(a, b chat.ThreadSummary) int { return b.Updated.Compare(a.Updated) })
	return listed[:min(limit, len(listed))], nil
}

// sampleGraphs are the drawings of the flow that Answer's trace is of, in the form of the
// real ones.
const sampleGraphs = `<svg xmlns="http://www.w3.org/2000/svg" class="graph" role="img" viewBox="0 0 240 260" width="240" height="260">
<title>answer</title>
<path class="edge" data-from="query_understanding" data-to="parallel_processing" d="M120 50 C120 70 120 70 120 90"/>
<path class="edge" data-from="parallel_processing" data-to="response_generation" d="M120 130 C120 150 120 150 120 170"/>
<g class="node node" id="node-query_understanding" data-node="query_understanding"><rect class="box" x="20" y="10" width="200" height="40" rx="6"/><text class="name" x="120" y="34">query_understanding</text></g>
<g class="node node" id="node-parallel_processing" data-node="parallel_processing"><rect class="box" x="20" y="90" width="200" height="40" rx="6"/><text class="name" x="120" y="114">parallel_processing</text></g>
<g class="node node" id="node-response_generation" data-node="response_generation"><rect class="box" x="20" y="170" width="200" height="40" rx="6"/><text class="name" x="120" y="194">response_generation</text></g>
</svg>
`

// Graph draws the flow "answer" and knows no other.
func (b *Bot) Graph(flow string) (svg string, known bool) {
	if flow != "answer" {
		return "", false
	}
	return sampleGraphs, true
}
