package discord

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"cairn/internal/chat"
	"cairn/internal/chat/markup"
	"cairn/internal/chat/rich"
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
	room
	work    chat.Work
	text    strings.Builder // all of the answer so far
	status  string
	drawn   time.Time // when more was shown
	typed   time.Time // when it was last told that the bot types
	id      string    // of the draft's message, "" before there is one
	unknown bool      // Discord did not say whether it made a message
	void    bool      // nothing can be shown
}

// Draft begins to show a run that works in a thread for the person who asked.
func (a *Adapter) Draft(ctx context.Context, work chat.Work) (chat.Draft, error) {
	r, err := a.room(ctx, work.Thread, work.To)
	if err != nil {
		return nil, err
	}
	d := &draft{room: r, work: work, void: r.at.private != "" && !r.ticket.Original}
	if work.Again {
		if err := d.sweep(ctx); err != nil {
			return nil, looking(err)
		}
	}
	return d, nil
}

// lenient forgives what a draft can do without: Discord's limits and refusals, and that it
// took too long. The answer comes all the same.
func lenient(err error) error {
	if undone(err) || errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return err
}

// Progress shows a step.
func (d *draft) Progress(ctx context.Context, progress chat.Progress) error {
	line := rich.Cut(markup.CleanLine(progress.Description), maxStatus)
	if line == "" || progress.Status != chat.Running || line == d.status {
		return nil
	}
	d.status = line
	return d.draw(ctx)
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
	return d.draw(ctx)
}

// draw shows how far the run is, unless that was shown just now.
func (d *draft) draw(ctx context.Context) error {
	now := d.now()
	if d.void || d.id != "" && now.Sub(d.drawn) < drawEvery {
		return nil
	}
	d.drawn = now
	ctx, cancel := context.WithTimeout(ctx, drawWithin)
	defer cancel()
	if d.id == "" {
		return lenient(d.show(ctx))
	}
	d.typing(ctx)
	made, err := d.note()
	if err != nil {
		return err
	}
	return lenient(d.redraw(ctx, d.id, made, nil))
}

// show makes the draft's message.
func (d *draft) show(ctx context.Context) error {
	made, err := d.note()
	if err != nil {
		return err
	}
	if d.ticket.Original {
		id, done, err := d.answerOriginal(ctx, made, nil, "")
		if done {
			d.id = id
		}
		if done || err != nil {
			return err
		}
	}
	if d.at.private != "" {
		d.void = true
		return nil
	}
	if err := d.begin(ctx); err != nil {
		d.void = errors.Is(err, chat.ErrGone)
		return err
	}
	d.typing(ctx)
	d.unknown = true
	id, err := d.create(ctx, made, nil, rand.Text()[:20])
	d.id, d.unknown = id, err != nil && !undone(err)
	d.void = errors.Is(err, chat.ErrGone) || errors.Is(err, chat.ErrRefused)
	return err
}

// typing tells people that the bot types; nothing is lost where it can't be told.
func (d *draft) typing(ctx context.Context) {
	if d.ticket.Original || d.now().Sub(d.typed) < typingEvery {
		return
	}
	d.typed = d.now()
	err := d.call(ctx, request{does: "type", method: http.MethodPost, url: discordgo.EndpointChannelTyping(d.at.channel)}, nil)
	if err != nil {
		d.options.Logger.DebugContext(ctx, "discord was not told that the bot types", "error", err)
	}
}

// note is the draft as it is shown.
func (d *draft) note() (note, error) {
	made := note{Embeds: []embed{}, Mentions: nobody(), Attached: []attachment{}}
	if messages, _ := packer.Pack(format.Read(d.text.String(), nil)); len(messages) > 0 {
		made.Content = written(messages[0])
		made.remark("Still writing…")
	} else {
		made.remark(d.status + "…")
	}
	buttons := &buttonRow{}
	buttons.add(secondary, verbStop, string(d.work.Run), "", "Stop")
	made.Components = buttons.rows()
	return marked(made, d.mark("", 0, 0), ""), buttons.err
}

// isDraft tells the messages of drafts from those of posts.
func (d *draft) isDraft(message wireMessage) bool {
	p, ok := d.partOf(message)
	return ok && p.isDraft()
}

// sweep takes away the drafts that are in the conversation. The bot works at one message of
// a thread at a time, so whoever begins to work knows them to be left over.
func (d *draft) sweep(ctx context.Context) error {
	if d.ticket.Original {
		there, ok, err := d.asked(ctx)
		if err != nil {
			return err
		}
		if m, isOurs := markOf(there.Components); ok && isOurs && m.isDraft() {
			d.id = there.ID // Discord has no other answer to the command: this draft goes on with it
		}
	}
	if d.at.private != "" {
		return nil
	}
	var left []string
	since := bornAt(d.to.message)
	err := d.read(ctx, func(message wireMessage) bool {
		if d.isDraft(message) && message.ID != d.id {
			left = append(left, message.ID)
		}
		return !bornAt(message.ID).Before(since)
	})
	if isCode(err, noSuchChannel) { // the thread was not started
		return nil
	}
	for _, id := range left {
		err = errors.Join(err, d.remove(ctx, id))
	}
	return err
}

// discard takes the draft's message away.
func (d *draft) discard(ctx context.Context) error {
	if d.id != "" {
		if err := d.remove(ctx, d.id); err != nil {
			return err
		}
	}
	if d.unknown {
		if err := d.sweep(ctx); err != nil {
			return err
		}
	}
	d.id, d.unknown = "", false
	return nil
}

// Close takes back the message.
func (d *draft) Close(ctx context.Context) error { return d.discard(ctx) }

// Wait takes back the message: Discord's limits make nobody wait for long.
func (d *draft) Wait(ctx context.Context, _ time.Duration) error { return d.discard(ctx) }

// Unsettled implements chat.Draft.
func (d *draft) Unsettled() bool { return d.unknown }

// Tidy implements chat.Tidier.
func (a *Adapter) Tidy(ctx context.Context, thread chat.ThreadID, late chat.Late) error {
	if _, _, err := a.Find(ctx, thread, late.Key); err != nil {
		return err
	}
	_, err := a.Draft(ctx, chat.Work{Thread: thread, To: late.To, Again: true})
	return err
}

// Finish implements chat.Draft. What it could not finish stays, for the next Draft to take
// away.
func (d *draft) Finish(ctx context.Context, key chat.PostKey, post chat.Post) (chat.MessageID, error) {
	if d.id == "" || post.Only != "" || d.at.private != "" || d.unknown {
		if d.at.private == "" {
			if err := d.discard(ctx); err != nil {
				return "", begunIf(true, err)
			}
		}
		return d.Post(ctx, d.at.thread(), key, post)
	}
	shown, err := render(post, d.look(ctx, ""))
	if err != nil {
		return "", begunIf(true, err)
	}
	first := part{mark: d.mark(key, 0, len(shown.notes)), id: d.id}
	if err := d.update(ctx, d.id, shown, first.mark); err != nil {
		return "", begunIf(true, err)
	}
	return d.complete(ctx, key, shown, []part{first})
}
