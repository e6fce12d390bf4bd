package discord

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/interact"
	"github.com/cairn-bot/cairn/internal/chat/markup"
	"github.com/cairn-bot/cairn/internal/chat/render"
)

// Bounds of a draft.
const (
	// maxStatus is the most of a status line.
	maxStatus = 90
	// drawEvery is between two edits of a draft: Discord takes about one a second in a
	// channel, which others need, too.
	drawEvery = 3 * time.Second
	// typingEvery is how long Discord shows that somebody types, less a bit.
	typingEvery = 8 * time.Second
	// drawWithin is how long a call may take: the run waits meanwhile.
	drawWithin = 4 * time.Second
)

// draft is a status line, and the beginning of the answer as it is made, in a message that
// is edited. Finish puts the reply or question in its place: the message stays the same
// one, and carries the key from then on.
type draft struct {
	room   room
	work   chat.Work
	text   strings.Builder // all of the answer so far
	status string
	drawn  time.Time // when more was shown
	id     string    // of the draft's message, "" before there is one
	void   bool      // nothing can be shown
	// Discord did not say whether it made a message (unknown), or changed the draft's
	// (unsure): it may do so later. A message that it may still change can't become the
	// answer; what it may still make is left to Tidy.
	unknown, unsure bool
	// unsettled tells that a message may be left over: it is made late, or another process
	// has the answer.
	unsettled bool
}

// Draft begins to show a run that works in a thread for the person who asked.
func (a *Adapter) Draft(ctx context.Context, work chat.Work) (chat.Draft, error) {
	ctx = yieldTurn(ctx, draftPatience)
	r, err := a.openRoom(ctx, work.Thread, work.To)
	if err != nil {
		return nil, err
	}
	d := &draft{room: r, work: work, void: r.at.private != "" && !r.ticket.Original}
	if work.Again {
		if err := d.removeDrafts(ctx); err != nil {
			return nil, notPosted(err)
		}
	}
	return d, nil
}

// tolerateRefusal forgives what a draft can do without: Discord's limits and refusals, and that it
// took too long. The answer comes all the same.
func tolerateRefusal(err error) error {
	if isNotPosted(err) || errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return err
}

// Progress shows a step.
func (d *draft) Progress(ctx context.Context, progress chat.Progress) error {
	line := render.Cut(markup.CleanLine(progress.Description), maxStatus)
	if line == "" || progress.Status != chat.Running || line == d.status {
		return nil
	}
	d.status = line
	return d.showProgress(ctx)
}

// Stream adds to the answer.
func (d *draft) Stream(ctx context.Context, token chat.Token) error {
	if token.Restart {
		d.text.Reset()
	}
	d.text.WriteString(token.Text)
	if strings.TrimSpace(d.text.String()) == "" {
		return nil
	}
	return d.showProgress(ctx)
}

// showProgress shows how far the run is, unless that was shown just now.
func (d *draft) showProgress(ctx context.Context) error {
	now := d.room.adapter.now()
	if d.void || d.id != "" && now.Sub(d.drawn) < drawEvery {
		return nil
	}
	d.drawn = now
	ctx, cancel := context.WithTimeout(yieldTurn(ctx, draftPatience), drawWithin)
	defer cancel()
	if d.id == "" {
		return tolerateRefusal(d.createDraft(ctx))
	}
	d.showTyping(ctx)
	made, err := d.buildNote()
	if err != nil {
		return err
	}
	err = d.room.updateMessage(ctx, d.id, made, nil)
	d.unsure = d.unsure || err != nil && !isNotPosted(err)
	return tolerateRefusal(err)
}

// createDraft makes the draft's message.
func (d *draft) createDraft(ctx context.Context) error {
	made, err := d.buildNote()
	if err != nil {
		return err
	}
	if d.room.ticket.Original {
		id, done, err := d.room.answerOriginal(ctx, made, nil, "")
		if done {
			d.id = id
		}
		if done || err != nil {
			return err
		}
	}
	if d.room.at.private != "" {
		d.void = true
		return nil
	}
	if err := d.room.startThread(ctx); err != nil {
		d.void = errors.Is(err, chat.ErrGone)
		return err
	}
	d.showTyping(ctx)
	id, err := d.room.createMessage(ctx, made, nil, rand.Text()[:20])
	d.id, d.unknown = id, err != nil && !isNotPosted(err)
	d.unsettled = d.unsettled || d.unknown
	d.void = errors.Is(err, chat.ErrGone) || errors.Is(err, chat.ErrRefused)
	return err
}

// showTyping tells people that the bot types where the answer is to be, or where its thread
// is to be started; nothing is lost where it can't be told.
func (d *draft) showTyping(ctx context.Context) {
	channel := d.room.at.channel
	if _, started := d.room.adapter.started.Get(channel); !started && d.room.to.message == channel && d.room.to.channel != "" {
		channel = d.room.to.channel
	}
	if last, ok := d.room.adapter.typed.Get(channel); d.room.ticket.Original || ok && d.room.adapter.now().Sub(last) < typingEvery {
		return
	}
	d.room.adapter.typed.Put(channel, d.room.adapter.now())
	err := d.room.adapter.callAPI(ctx, request{does: "type", method: http.MethodPost, url: discordgo.EndpointChannelTyping(channel)}, nil)
	if err != nil {
		d.room.adapter.options.Logger.DebugContext(ctx, "send typing indicator", "platform", "discord", "error", err)
	}
}

// buildNote is the draft as it is shown.
func (d *draft) buildNote() (note, error) {
	made := note{Embeds: []embed{}, Mentions: callNobody(), Attached: []attachment{}}
	if messages, _ := packer.Pack(format.Read(d.text.String(), nil)); len(messages) > 0 {
		made.Content = writePieces(messages[0])
		made.addRemark("Still writing…")
	} else {
		made.addRemark(d.status + "…")
	}
	buttons := &buttonRow{}
	buttons.addButton(secondary, interact.Stop, string(d.work.Run), "", "Stop")
	made.Components = buttons.buildRows()
	return addMark(made, d.room.newMark("", 0, 0), ""), buttons.err
}

// isDraft tells the messages of drafts from those of posts.
func (d *draft) isDraft(message wireMessage) bool {
	p, ok := d.room.partOf(message)
	return ok && p.isDraft()
}

// removeDrafts takes away the drafts that are in the conversation. The bot works at one message of
// a thread at a time, so whoever begins to work knows them to be left over.
func (d *draft) removeDrafts(ctx context.Context) error {
	if d.room.ticket.Original {
		there, ok, err := d.room.readOriginal(ctx)
		if err != nil {
			return err
		}
		if m, isOurs := markOf(there.Components); ok && isOurs && m.isDraft() {
			d.id = there.ID // Discord has no other answer to the command: this draft goes on with it
		}
	}
	if d.room.at.private != "" {
		return nil
	}
	var left []string
	since := bornAt(d.room.to.message)
	err := d.room.readMessages(ctx, func(message wireMessage) bool {
		if d.isDraft(message) && message.ID != d.id {
			left = append(left, message.ID)
		}
		return !bornAt(message.ID).Before(since)
	})
	if isCode(err, noSuchChannel) { // the thread was not started
		return nil
	}
	for _, id := range left {
		err = errors.Join(err, d.room.deleteMessage(ctx, id))
	}
	return err
}

// discardDraft takes the draft's message away.
func (d *draft) discardDraft(ctx context.Context) error {
	if d.id != "" {
		if err := d.room.deleteMessage(ctx, d.id); err != nil {
			d.unsettled = true
			return err
		}
	}
	d.id, d.unsure = "", false
	d.room.endWait()
	if d.unknown {
		if err := d.removeDrafts(ctx); err != nil {
			return err
		}
	}
	d.unknown = false
	return nil
}

// Close takes back the message.
func (d *draft) Close(ctx context.Context) error { return d.discardDraft(yieldTurn(ctx, postPatience)) }

// Unsettled implements chat.Draft.
func (d *draft) Unsettled() bool { return d.unsettled }

// waitKey names a draft that tells of a wait.
func (r room) waitKey() string { return string(r.at.threadID()) + " " + string(r.to.messageID()) }

// Wait implements chat.Draft: the draft's message tells of the wait, and becomes the post
// where this process posts next. Where there is none, people see that the bot types: a
// message more would make all wait longer.
func (d *draft) Wait(ctx context.Context, about time.Duration) error {
	ctx = yieldTurn(ctx, draftPatience)
	if id, ok := d.room.adapter.waiting.Get(d.room.waitKey()); ok && d.id == "" {
		d.id = id
	}
	if d.id == "" || d.unsure || d.room.ticket.Original {
		err := d.discardDraft(ctx)
		d.showTyping(ctx)
		return err
	}
	made := note{Embeds: []embed{}, Mentions: callNobody(), Attached: []attachment{}}
	made.addRemark(fmt.Sprintf("The answer is ready. Discord takes it in about %s.", about.Round(time.Second)))
	err := d.room.updateMessage(ctx, d.id, addMark(made, d.room.newMark("", 0, 0), "Waiting"), nil)
	d.unsettled = true
	if err != nil && !isNotPosted(err) {
		return errors.Join(err, d.discardDraft(ctx))
	}
	if errors.Is(err, chat.ErrGone) {
		d.id = ""
	}
	d.room.adapter.waiting.Put(d.room.waitKey(), d.id)
	return tolerateRefusal(err)
}

// postInPlace puts a post in the place of a draft that told of its wait.
func (r room) postInPlace(ctx context.Context, id string, key chat.PostKey, post chat.Post) (chat.MessageID, error) {
	d := &draft{room: r, id: id}
	posted, err := d.Finish(ctx, key, post)
	var later *chat.RetryAfterError
	if !errors.As(err, &later) {
		r.endWait()
	}
	return posted, err
}

// endWait forgets the draft that told of a wait.
func (r room) endWait() {
	if id, ok := r.adapter.waiting.Get(r.waitKey()); ok && id != "" {
		r.adapter.waiting.Put(r.waitKey(), "")
	}
}

// Finish implements chat.Draft. What it could not finish stays, for Tidy to take away.
func (d *draft) Finish(ctx context.Context, key chat.PostKey, post chat.Post) (chat.MessageID, error) {
	ctx = d.room.inTurn(ctx, string(key), postPatience)
	if d.id == "" || post.Only != "" || d.room.at.private != "" || d.unknown || d.unsure {
		return d.postAnew(ctx, key, post)
	}
	shown, err := renderPost(post, d.room.postLook(ctx, ""))
	if err != nil {
		return "", begunIf(true, err)
	}
	first := part{mark: d.room.newMark(key, 0, len(shown.notes)), id: d.id}
	err = d.room.updatePart(ctx, d.id, shown, first.mark)
	var later *chat.RetryAfterError
	switch {
	case errors.As(err, &later):
		return "", err
	case isCode(err, unknownMessage):
		d.id = ""
		return d.postAnew(ctx, key, post)
	case err != nil:
		return "", begunIf(true, err)
	}
	return d.room.postMissing(ctx, key, shown, []part{first})
}

// postAnew takes the draft away, where it is one of the thread, and posts.
func (d *draft) postAnew(ctx context.Context, key chat.PostKey, post chat.Post) (chat.MessageID, error) {
	if d.room.at.private == "" {
		var later *chat.RetryAfterError
		if err := d.discardDraft(ctx); errors.As(err, &later) {
			return "", err
		} else if err != nil {
			return "", begunIf(true, err)
		}
	}
	return d.room.adapter.Post(ctx, d.room.at.threadID(), key, post)
}
