package slack

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/slack-go/slack"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/interact"
	"github.com/cairn-bot/cairn/internal/chat/markup"
	"github.com/cairn-bot/cairn/internal/chat/render"
)

// Bounds of a draft.
const (
	// maxStatus is the most of a status line that can be read.
	maxStatus = 90
	// maxStreamed is how much of an answer is streamed; Slack takes about 13,000. The
	// reply that follows has the rest.
	maxStreamed = 10000
	// streamEvery and editEvery are between two calls that show more of a draft.
	streamEvery = time.Second
	editEvery   = 3 * time.Second
)

// draft is a status line, and then the answer as it is made, streamed where Slack lets the
// app, else in a message that is edited. Finish puts the reply or question in its place:
// the message stays the same one, and carries the key from then on. In a private thread
// nothing is shown: Slack shows such things to all.
type draft struct {
	sender sender
	work   chat.Work
	text   strings.Builder // all of the answer so far
	shown  int             // bytes of text that are shown
	last   time.Time       // when more was shown
	ts     string          // of the draft's message, "" before there is one
	state  draftState
	status string
	stops  bool // the stream holds a button that stops the run
	works  bool // Slack was told that the thread's session is processing
	// unsettled tells that Slack did not say whether it made a message, or did not take one away.
	unsettled bool
}

// draftState is how a draft is shown.
type draftState int

const (
	draftIdle      draftState = iota // no message yet
	draftStreaming                   // Slack's stream is open
	draftStopped                     // it ended by itself, or is full; the message waits for Finish
	draftEditing                     // there is no stream: the message is edited
)

// Draft begins to show a run that works in a thread for the person who asked.
func (a *Adapter) Draft(ctx context.Context, work chat.Work) (chat.Draft, error) {
	s, err := a.senderFor(ctx, work.Thread)
	if err != nil {
		return nil, err
	}
	if work.Again && s.at.private == "" {
		s.patience, s.modest = 0, true                                                     // looks for posts go first
		if err := s.removeDrafts(ctx, draftsAfter(work.To)); tolerateRefusal(err) != nil { // else the thread is tidied later
			return nil, fmt.Errorf("take away what was shown of run %s before: %w", work.Run, err)
		}
	}
	s.patience, s.modest = 0, false // the run waits meanwhile
	s.title = render.Cut(markup.CleanLine(work.Title), maxSessionTitle)
	return &draft{sender: s, work: work}, nil
}

// Progress shows a step: in the status line, or once the answer streams as a task of it.
// It is left out where Slack is at its limits.
func (d *draft) Progress(ctx context.Context, progress chat.Progress) error {
	line := render.Cut(markup.CleanLine(progress.Description), maxStatus)
	switch {
	case d.sender.at.private != "" || line == "":
		return nil
	case d.state == draftStreaming:
		_, err := d.appendChunk(ctx, slack.TaskUpdateChunk{
			Type: slack.StreamChunkTaskUpdate, ID: render.Cut(progress.Step, maxStatus), Title: line, Status: taskStatus(progress.Status),
		})
		return err
	case d.state != draftIdle || progress.Status != chat.Running || line == d.status:
		return nil
	}
	if d.status == "" && d.sender.at.isDirect() {
		d.beginSession(ctx)
	}
	d.status = line
	return d.setStatus(ctx, line+"…")
}

// beginSession tells Slack that the thread's session is processing, from which on Slack offers to
// stop it. In channels that is once an answer streams, where calls are few.
func (d *draft) beginSession(ctx context.Context) {
	if !d.works {
		d.sender.setSessionStatus(ctx, sessionProcessing)
		d.works = true
	}
}

// endSession tells Slack how the session that it was told of stands now.
func (d *draft) endSession(ctx context.Context, status sessionStatus) {
	if d.works || d.sender.at.isDirect() {
		d.sender.setSessionStatus(ctx, status)
		d.works = false
	}
}

// setStatus shows a status line under the thread; "" takes it away.
func (d *draft) setStatus(ctx context.Context, line string) error {
	return tolerateRefusal(d.sender.callMethod(ctx, setStatus, func() error {
		return d.sender.api.SetAssistantThreadsStatusContext(ctx, slack.AssistantThreadsSetStatusParameters{
			ChannelID: d.sender.at.channel, ThreadTS: d.sender.at.root, Status: line,
		})
	}))
}

func taskStatus(status chat.StepStatus) slack.TaskCardStatus {
	switch status {
	case chat.Pending:
		return slack.TaskCardStatusPending
	case chat.Running:
		return slack.TaskCardStatusInProgress
	case chat.Failed:
		return slack.TaskCardStatusError
	case chat.Completed, chat.Skipped:
	}
	return slack.TaskCardStatusComplete
}

// tolerateRefusal forgives what a draft can do without: Slack's limits and refusals. The answer
// comes all the same.
func tolerateRefusal(err error) error {
	var later *chat.RetryAfterError
	if errors.As(err, &later) || refusalName(err) != "" {
		return nil
	}
	return err
}

// Stream adds to the answer. What was streamed is text that a model makes: nobody is
// called by it.
func (d *draft) Stream(ctx context.Context, token chat.Token) error {
	if token.Restart {
		if err := d.deleteDraft(ctx); err != nil {
			return err
		}
	}
	d.text.WriteString(token.Text)
	if d.sender.at.private != "" || d.state == draftStopped {
		return nil
	}
	every := streamEvery
	if d.state == draftEditing {
		every = editEvery
	}
	now := d.sender.adapter.clock.now()
	if now.Sub(d.last) < every || strings.TrimSpace(d.text.String()[d.shown:]) == "" {
		return nil
	}
	d.last = now
	switch d.state {
	case draftIdle:
		return d.openDraft(ctx)
	case draftStreaming:
		piece := d.pendingText()
		if d.shown+len(piece) > maxStreamed {
			d.state = draftStopped
			return tolerateRefusal(d.endStream(ctx))
		}
		if piece == "" {
			return nil
		}
		grown, err := d.appendChunk(ctx, slack.NewMarkdownTextChunk(disarmMentions(piece)))
		if grown {
			d.shown += len(piece)
		}
		return err
	case draftEditing:
		return tolerateRefusal(d.updateMessage(ctx))
	case draftStopped:
	}
	return nil
}

var calling = regexp.MustCompile(`<([@!#])`)

// disarmMentions keeps Markdown from calling people: nothing else is read in angle brackets
// once a character that nobody sees stands behind the first.
func disarmMentions(markdown string) string {
	return calling.ReplaceAllString(markup.Clean(markdown), "<\u200b$1")
}

// pendingText is what is not shown yet, but for a "<" or part of a character at its end, which
// the next token may make whole.
func (d *draft) pendingText() string {
	piece := strings.TrimSuffix(d.text.String()[d.shown:], "<")
	for cut := 1; cut < utf8.UTFMax && cut <= len(piece); cut++ {
		if tail := piece[len(piece)-cut:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRuneInString(tail) {
				piece = piece[:len(piece)-cut]
			}
			break
		}
	}
	return render.Head(piece, maxStreamed)
}

// openDraft opens a stream, or posts a message to edit where Slack has none for the app.
func (d *draft) openDraft(ctx context.Context) error {
	piece := d.pendingText()
	err := d.sender.callMethod(ctx, startStream, func() error {
		_, ts, err := d.sender.api.StartStreamContext(ctx, d.sender.at.channel,
			slack.MsgOptionTS(d.sender.at.root), slack.MsgOptionMarkdownText(disarmMentions(piece)),
			slack.MsgOptionRecipientTeamID(d.sender.at.team), slack.MsgOptionRecipientUserID(string(d.work.Asker)))
		return d.recordMade(ts, err)
	})
	switch {
	case err == nil:
		d.state, d.shown = draftStreaming, d.shown+len(piece)
		d.beginSession(ctx)
		return d.offerStop(ctx)
	case refusalName(err) == "":
		return tolerateRefusal(err)
	}
	d.state = draftEditing
	return tolerateRefusal(d.updateMessage(ctx))
}

// recordMade takes note of a message that a call made, or may have made.
func (d *draft) recordMade(ts string, err error) error {
	var limited *slack.RateLimitedError
	if ts != "" {
		d.ts = ts
	} else if err != nil && refusalName(err) == "" && !errors.As(err, &limited) {
		d.unsettled = true
	}
	return err
}

// offerStop puts a button that stops the run into the stream of an app that is no agent: of others
// Slack has one of its own. Where it takes none, the word stops the run as well. The button stays in
// the stream, so that the message has to be updated at its end.
func (d *draft) offerStop(ctx context.Context) error {
	if d.sender.at.isDirect() || !d.sender.adapter.agentless.hasTeam(d.sender.at.team) {
		return nil
	}
	blocks, err := d.stopButton()
	if err != nil {
		return err
	}
	d.stops = true
	return tolerateRefusal(d.sender.callMethod(ctx, appendStream, func() error {
		_, _, err := d.sender.api.AppendStreamContext(ctx, d.sender.at.channel, d.ts, slack.MsgOptionChunks(slack.NewBlocksChunk(blocks...)))
		return err
	}))
}

func (d *draft) stopButton() ([]slack.Block, error) {
	buttons := &row{}
	buttons.addButton(interact.Stop, string(d.work.Run), "", "Stop")
	return buttons.buildBlocks(), buttons.err
}

// appendChunk adds a chunk to the stream; false where it could not. A stream that died is left
// as it is until Finish.
func (d *draft) appendChunk(ctx context.Context, chunk slack.StreamChunk) (bool, error) {
	err := d.sender.callMethod(ctx, appendStream, func() error {
		_, _, err := d.sender.api.AppendStreamContext(ctx, d.sender.at.channel, d.ts, slack.MsgOptionChunks(chunk))
		return err
	})
	if refusalName(err) != "" {
		d.state = draftStopped
	}
	return err == nil, tolerateRefusal(err)
}

// updateMessage shows the draft in a message of its own.
func (d *draft) updateMessage(ctx context.Context) error {
	messages, _ := packer.Pack(withoutTables(readReply(d.text.String(), nil)))
	if len(messages) == 0 {
		return nil
	}
	shown := note{text: notificationText(messages[0], chat.Reply{}), blocks: append(richText(messages[0]), remarkBlock("Still writing…"))}
	buttons, err := d.stopButton()
	if err != nil {
		return err
	}
	shown.blocks = append(shown.blocks, buttons...)
	d.shown = d.text.Len()
	if d.ts != "" {
		return d.sender.callMethod(ctx, updateMessage, func() error {
			_, _, _, err := d.sender.api.UpdateMessageContext(ctx, d.sender.at.channel, d.ts, d.sender.contentOptions(shown)...)
			return err
		})
	}
	return d.sender.callMethod(ctx, postMessage, func() error {
		_, ts, err := d.sender.api.PostMessageContext(ctx, d.sender.at.channel, append(d.sender.contentOptions(shown), slack.MsgOptionTS(d.sender.at.root))...)
		return d.recordMade(ts, err)
	})
}

// endStream closes Slack's stream; one that died is closed already.
func (d *draft) endStream(ctx context.Context) error {
	err := d.sender.callMethod(ctx, stopStream, func() error {
		_, _, err := d.sender.api.StopStreamContext(ctx, d.sender.at.channel, d.ts)
		return err
	})
	if refusalName(err) == "message_not_in_streaming_state" {
		return nil
	}
	return err
}

// deleteDraft takes the draft's message away.
func (d *draft) deleteDraft(ctx context.Context) error {
	if d.state == draftStreaming {
		if err := tolerateRefusal(d.endStream(ctx)); err != nil {
			return err
		}
	}
	if d.ts != "" {
		if err := d.sender.deleteMessage(ctx, d.ts); err != nil {
			return err
		}
	}
	d.text.Reset()
	d.shown, d.ts, d.state, d.last, d.stops = 0, "", draftIdle, time.Time{}, false
	return nil
}

// Close takes back the message and the status line.
func (d *draft) Close(ctx context.Context) error {
	d.sender.patience = turnPatience
	if err := d.deleteDraft(ctx); err != nil {
		d.unsettled = true
		return err
	}
	if d.works {
		d.endSession(ctx, sessionActive)
	}
	if d.status == "" {
		return nil
	}
	d.status = ""
	return d.setStatus(ctx, "")
}

// Wait takes back what was streamed, and shows in the status line that the outcome waits.
func (d *draft) Wait(ctx context.Context, about time.Duration) error {
	if d.sender.at.private != "" {
		return nil
	}
	d.sender.patience = turnPatience
	err := d.deleteDraft(ctx)
	d.unsettled = d.unsettled || err != nil
	d.sender.patience = 0
	return errors.Join(err, d.setStatus(ctx, fmt.Sprintf("has the answer, and posts it in about %s: Slack limits how fast", about.Round(time.Second))))
}

// finishStream ends Slack's stream as the reply, where what was streamed is the beginning of
// it: with the rest of the text, the blocks below it and the key. ok is false where the message
// has to be updated: checking changed what was streamed, it holds a button, or the stream died.
func (d *draft) finishStream(ctx context.Context, first part, post chat.Post, shown rendered) (ok bool, err error) {
	if post.Reply == nil || len(shown.notes) != 1 || d.stops {
		return false, nil
	}
	rest, ok := strings.CutPrefix(post.Reply.Text, d.text.String()[:d.shown])
	if !ok || utf8.RuneCountInString(rest) > maxStreamed {
		return false, nil
	}
	options := []slack.MsgOption{slack.MsgOptionBlocks(shown.notes[0].blocks[shown.notes[0].said:]...), first.metadataOption()}
	if strings.TrimSpace(rest) != "" {
		options = append(options, slack.MsgOptionMarkdownText(disarmMentions(rest)))
	}
	err = d.sender.callMethod(ctx, stopStream, func() error {
		_, _, err := d.sender.api.StopStreamContext(ctx, d.sender.at.channel, d.ts, options...)
		return err
	})
	if refusalName(err) != "" {
		return false, nil
	}
	return err == nil, err
}

// Unsettled implements chat.Draft.
func (d *draft) Unsettled() bool { return d.unsettled }

// finishPatience is how long the end of a draft waits for its turns: to post anew instead
// would cost more of them.
const finishPatience = 10 * time.Second

// Finish implements chat.Draft. What it could not finish stays, for Tidy to take away.
func (d *draft) Finish(ctx context.Context, key chat.PostKey, post chat.Post) (chat.MessageID, error) {
	d.sender.patience = finishPatience
	if d.ts == "" || post.Only != "" {
		if err := d.deleteDraft(ctx); err != nil {
			return "", begunUnlessLater(err)
		}
		posted, err := d.sender.adapter.Post(ctx, d.sender.at.threadID(), key, post)
		if err == nil && !d.sender.at.isDirect() {
			d.endSession(ctx, statusAfter(post))
		}
		return posted, err
	}
	shown, err := d.sender.adapter.renderFor(post, d.sender.at)
	if err != nil {
		return "", markMaybePosted(err)
	}
	first := part{key: key, index: 0, of: shown.countParts(), ts: d.ts}
	if err := d.replaceDraft(ctx, first, post, shown); err != nil {
		return "", begunUnlessLater(err)
	}
	if _, err := d.sender.postMissing(ctx, key, shown, []part{first}); err != nil {
		return "", err
	}
	d.endSession(ctx, statusAfter(post))
	return chat.MessageID(d.ts), nil
}

// replaceDraft makes the draft's message the first one of the post.
func (d *draft) replaceDraft(ctx context.Context, first part, post chat.Post, shown rendered) error {
	if d.state == draftStreaming {
		finished, err := d.finishStream(ctx, first, post, shown)
		if finished || err != nil {
			return err
		}
		if err := d.endStream(ctx); refusalName(err) == "" && err != nil {
			return err
		}
		d.state = draftStopped
	}
	return d.sender.updatePart(ctx, first, shown.notes[0])
}

// begunUnlessLater is begun for calls before which nothing was posted: where the turn of
// such a call has not come, nothing is.
func begunUnlessLater(err error) error {
	var later *chat.RetryAfterError
	if errors.As(err, &later) {
		return err
	}
	return markMaybePosted(err)
}
