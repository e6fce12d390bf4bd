package discord

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/markup"
	"github.com/cairn-bot/cairn/internal/chat/render"
)

// room is a place to post in, for what is about one message.
type room struct {
	adapter *Adapter
	at      place
	to      source
	ticket  Ticket // to answer the interaction that it is about; zero for none
	bot     string
	webhook string // the app's id
	direct  bool   // what is for one person alone goes to their direct conversation, at the latest
}

// ticketMargin is how long before its end a ticket is not used any more.
const ticketMargin = 30 * time.Second

func (a *Adapter) openRoom(ctx context.Context, thread chat.ThreadID, to chat.MessageID) (room, error) {
	at, err := parseThread(thread)
	if err != nil {
		return room{}, fmt.Errorf("%w: %w", chat.ErrRefused, err)
	}
	me, err := a.identifyBot(ctx)
	if err != nil {
		return room{}, notPosted(err)
	}
	if !at.isDirect() {
		served, err := a.servers.isServed(ctx, at.guild)
		if err != nil {
			return room{}, notPosted(err)
		}
		if !served {
			return room{}, fmt.Errorf("server %s is not one that the bot answers in: %w", at.guild, chat.ErrGone)
		}
	}
	r := room{adapter: a, at: at, to: parseSource(to), bot: me.user, webhook: me.application}
	id := r.to.interaction
	if at.private != "" {
		id = at.root
	}
	if id == "" || r.to.message != "" && at.private == "" { // a command on a message was answered
		return r, nil
	}
	if r.ticket, err = a.options.Tickets.Ticket(ctx, id); err != nil {
		return room{}, notPosted(err)
	}
	if r.ticket.Token != "" && !a.now().Add(ticketMargin).Before(r.ticket.Until) {
		r.ticket = Ticket{}
	}
	return r, nil
}

// notPosted makes the error of a call that prepares a post say that the post was not sent.
func notPosted(err error) error {
	var later *chat.RetryAfterError
	if err == nil || errors.As(err, &later) || errors.Is(err, chat.ErrGone) || errors.Is(err, chat.ErrNotPosted) {
		return err
	}
	return fmt.Errorf("%w: %w", chat.ErrNotPosted, err)
}

// part is one message of a post.
type part struct {
	mark
	id string
}

func (r room) newMark(key chat.PostKey, index, of int) mark {
	return mark{key: key, index: index, of: of, root: r.at.root, private: r.at.private != ""}
}

// postLook is how posts are shown in the room.
func (r room) postLook(ctx context.Context, only chat.UserID) look {
	how := look{
		private: r.at.private != "", single: r.at.private != "" || only != "",
		hears: r.adapter.options.HearsAll && r.at.root == "" || r.at.isDirect(),
	}
	switch {
	case how.private || how.hears:
	case r.at.root == "":
		how.goOn = "To go on, mention me or reply to this message."
	default:
		how.goOn = "To go on, reply to this message."
	}
	if r.adapter.options.Humans == nil || how.single || r.at.isDirect() {
		return how
	}
	how.human = len(r.namedHumans(ctx)) > 0
	return how
}

// Post puts a post into its thread, in several messages where one can't hold it. One that
// was cut short is taken up where it ended. In a private thread, and to a press that is
// answered to one person, only that person sees it.
func (a *Adapter) Post(ctx context.Context, thread chat.ThreadID, key chat.PostKey, post chat.Post) (chat.MessageID, error) {
	r, err := a.openRoom(ctx, thread, post.To)
	if err != nil {
		return "", err
	}
	ctx = r.inTurn(ctx, string(key), postPatience)
	shown, err := renderPost(post, r.postLook(ctx, post.Only))
	if err != nil {
		return "", fmt.Errorf("%w: %w", chat.ErrRefused, err)
	}
	if r.at.private != "" || post.Only != "" {
		r.direct = post.Private
		return r.postPrivately(ctx, key, shown, post.Only)
	}
	if id, ok := r.adapter.waiting.Get(r.waitKey()); ok && id != "" {
		return r.postInPlace(ctx, id, key, post)
	}
	if err := r.startThread(ctx); err != nil {
		return "", err
	}
	var there []part
	if len(shown.notes) > 1 {
		if there, err = r.readParts(ctx, key); err != nil {
			return "", notPosted(err)
		}
	}
	return r.postMissing(ctx, key, shown, there)
}

// postMissing posts what of a post is not there yet and gives the id of its first message.
func (r room) postMissing(ctx context.Context, key chat.PostKey, shown rendered, there []part) (chat.MessageID, error) {
	posted := map[int]string{}
	for _, p := range there {
		posted[p.index] = p.id
	}
	for i := range shown.notes {
		if posted[i] != "" {
			continue
		}
		turn := ctx
		if len(posted) > 0 {
			turn = r.inTurn(ctx, string(key), partPatience)
		}
		id, err := r.postPart(turn, shown, r.newMark(key, i, len(shown.notes)))
		if err != nil {
			return "", begunIf(len(posted) > 0, err)
		}
		posted[i] = id
	}
	return chat.MessageID(posted[0]), nil
}

// isNotPosted tells an error that says that nothing was posted.
func isNotPosted(err error) bool {
	var later *chat.RetryAfterError
	return errors.As(err, &later) || errors.Is(err, chat.ErrGone) || errors.Is(err, chat.ErrRefused) || errors.Is(err, chat.ErrNotPosted)
}

// begunIf takes from an error the promise that nothing was posted, for where something was.
func begunIf(something bool, err error) error {
	if something && isNotPosted(err) {
		return fmt.Errorf("a part of the post may be there already: %v", err) //nolint:errorlint // what it wraps would say that nothing was posted
	}
	return err
}

// buildMessage gives one message of what was rendered, with its mark, and its files. again tells
// that it takes the place of one.
func (s rendered) buildMessage(m mark, again bool) (note, []upload) {
	says := s.says
	if m.of > 1 {
		says = fmt.Sprintf("%d of %d", m.index+1, m.of)
	}
	made := addMark(s.notes[m.index], m, says)
	if s.stay && again && m.index == 0 {
		return made, nil
	}
	made.Attached = []attachment{}
	if m.index > 0 {
		return made, nil
	}
	var files []upload
	for _, file := range s.files {
		made.Attached = append(made.Attached, attachment{ID: strconv.Itoa(len(files)), Filename: file.name})
		files = append(files, file)
	}
	return made, files
}

// postPart posts one message: the first one of what answers a command as that answer, which
// Discord shows as long as the ticket is good; all else as a message of the channel.
func (r room) postPart(ctx context.Context, shown rendered, m mark) (id string, err error) {
	made, files := shown.buildMessage(m, false)
	if m.index == 0 && r.ticket.Original {
		id, done, err := r.answerOriginal(ctx, made, files, m.key)
		if done || err != nil {
			return id, err
		}
	}
	id, err = r.createMessage(ctx, made, files, nonceOf(m))
	if errors.Is(err, chat.ErrGone) && r.ticket.Token != "" {
		return r.followUp(ctx, made, files)
	}
	return id, err
}

// nonceOf is what Discord knows a message by that is made twice within some minutes.
func nonceOf(m mark) string {
	text := string(m.key) + strconv.FormatInt(int64(m.index), 36)
	if len(text) > 25 || m.key == "" {
		sum := sha256.Sum256([]byte(m.root + " " + text))
		return hex.EncodeToString(sum[:12])
	}
	return text
}

// createMessage makes a message in the room's channel, as a reply where it stands beside what it
// is about.
func (r room) createMessage(ctx context.Context, made note, files []upload, nonce string) (string, error) {
	message := newMessage{note: made, Nonce: nonce, Enforce: true}
	if r.to.channel == r.at.channel && r.to.message != "" {
		message.Reference = &reference{MessageID: r.to.message}
		message.Mentions.Replied = r.to.interaction == ""
	}
	var told wireMessage
	err := r.adapter.callAPI(ctx, request{
		does: "post a message", method: http.MethodPost, url: discordgo.EndpointChannelMessages(r.at.channel), body: message, files: files,
	}, &told)
	return told.ID, err
}

// startThread starts the thread that a mention's conversation is held in, where it is not there.
// Discord lets only 50 threads be started in a channel in five minutes, and counts the vain
// attempts, so it is asked first whether the message has a thread.
func (r room) startThread(ctx context.Context) error {
	_, known := r.adapter.started.Get(r.at.channel)
	if r.to.message == "" || r.to.message != r.at.channel || r.to.channel == r.at.channel || known {
		return nil
	}
	title, started, err := r.readTitle(ctx)
	if err != nil {
		return notPosted(err)
	}
	if started {
		r.adapter.started.Put(r.at.channel, true)
		return nil
	}
	name := struct {
		Name string `json:"name"`
	}{title}
	err = r.adapter.callAPI(ctx, request{
		does: "start a thread", method: http.MethodPost, url: discordgo.EndpointChannelMessageThread(r.to.channel, r.to.message), body: name,
	}, nil)
	if later, ok := errors.AsType[*chat.RetryAfterError](err); ok { // the title is good for the next attempt
		r.adapter.titles.Put(r.at.channel, title)
		return later
	}
	if err != nil && !isCode(err, threadIsThere) {
		return errors.Join(notPosted(err), r.reportNoThread(ctx, err))
	}
	r.adapter.started.Put(r.at.channel, true)
	return nil
}

// reportNoThread tells in the channel that no thread may be started from a message there.
func (r room) reportNoThread(ctx context.Context, why error) error {
	if !isStatus(why, http.StatusForbidden) {
		return nil
	}
	r.adapter.options.Logger.ErrorContext(ctx, "discord thread was not started: Cairn lacks the permission Create Public Threads", "channel", r.to.channel)
	r.at = place{guild: r.at.guild, channel: r.to.channel, root: r.to.message}
	line := note{Content: "I may not start a thread here, so I can't answer. Who manages this server can give me the permission " +
		"Create Public Threads, or have me reply in place with `/cairn-admin style`.", Embeds: []embed{}, Mentions: callNobody()}
	shown := rendered{notes: []note{line}, says: "Cairn"}
	made, _ := shown.buildMessage(r.newMark(chat.PostKey("no"+shortenID(r.to.message)), 0, 1), false)
	if _, err := r.createMessage(ctx, made, nil, "no"+shortenID(r.to.message)); err != nil && !errors.Is(err, chat.ErrGone) {
		return notPosted(err)
	}
	return nil
}

// maxName is the longest name of a thread.
const maxName = 100

// readTitle returns the name of the thread to start, the words of the question, or that the
// thread was started already. It leaves the limit on all requests to posts: in an outage it is
// tried again and again.
func (r room) readTitle(ctx context.Context) (title string, started bool, err error) {
	if title, ok := r.adapter.titles.Get(r.at.channel); ok {
		return title, false, nil
	}
	var asked wireMessage
	err = r.adapter.callAPI(yieldTurn(ctx, postPatience), request{
		does: "read a message", method: http.MethodGet, url: discordgo.EndpointChannelMessage(r.to.channel, r.to.message),
	}, &asked)
	if err != nil && !errors.Is(err, chat.ErrGone) && !errors.Is(err, chat.ErrRefused) {
		return "", false, err
	}
	if asked.hasThread() {
		return "", true, nil
	}
	name := render.Cut(markup.CleanLine(readContent(asked, identity{user: r.bot, role: r.adapter.roleIn})), maxName)
	return cmp.Or(name, "Cairn"), false, nil
}

// maxPages is how many pages of a channel are read for a post; a page has 100 messages.
const (
	maxPages = 5
	pageSize = 100
)

// readMessages goes through the latest messages of the channel, the latest first, until visit wants
// no more. What is older than the conversation is not read.
func (r room) readMessages(ctx context.Context, visit func(wireMessage) bool) error {
	before := ""
	for range maxPages {
		page, err := r.readPage(ctx, before)
		if err != nil {
			return err
		}
		for _, message := range page {
			if !visit(message) {
				return nil
			}
			before = message.ID
		}
		if len(page) < pageSize || r.at.root != "" && bornAt(before).Before(bornAt(r.at.root)) {
			return nil
		}
	}
	return nil
}

// readPage reads the latest messages of the channel before one, the latest first; before "" is
// those of all.
func (r room) readPage(ctx context.Context, before string) ([]wireMessage, error) {
	url := discordgo.EndpointChannelMessages(r.at.channel) + "?limit=" + strconv.Itoa(pageSize)
	if before != "" {
		url += "&before=" + before
	}
	var page []wireMessage
	err := r.adapter.callAPI(ctx, request{does: "read messages", method: http.MethodGet, url: url}, &page)
	return page, err
}

// partOf reads which part of a post in the room a message is; false for any other.
func (r room) partOf(message wireMessage) (part, bool) {
	m, ok := markOf(message.Components)
	if !ok || message.Author == nil || message.Author.ID != r.bot || m.root != r.at.root {
		return part{}, false
	}
	return part{m, message.ID}, true
}

// readParts gives what of a post is in the room, the earliest first.
func (r room) readParts(ctx context.Context, key chat.PostKey) ([]part, error) {
	var found []part
	err := r.readMessages(ctx, func(message wireMessage) bool {
		if p, ok := r.partOf(message); ok && p.key == key && !p.isDraft() {
			found = append(found, p)
		}
		return true
	})
	slices.Reverse(found)
	return found, err
}

// Find reads the channel for the messages of a key. A post of which a part is missing is
// not found: Post completes it. Of a part that is there twice the later is taken away. What
// one person alone sees is only found where it answers a command.
func (a *Adapter) Find(ctx context.Context, thread chat.ThreadID, key chat.PostKey) (chat.MessageID, bool, error) {
	ctx = yieldTurn(ctx, postPatience)
	r, err := a.openRoom(ctx, thread, "")
	if err != nil {
		return "", false, err
	}
	if r.at.private != "" {
		return r.findPrivate(ctx, key)
	}
	there, err := r.readParts(ctx, key)
	if isCode(err, noSuchChannel) { // the thread was not started
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	first, of := "", 0
	seen := map[int]bool{}
	for _, p := range there {
		if seen[p.index] {
			if err := r.deleteMessage(ctx, p.id); err != nil {
				return "", false, fmt.Errorf("take away what was posted twice: %w", err)
			}
			continue
		}
		seen[p.index] = true
		if p.index == 0 {
			first, of = p.id, p.of
		}
	}
	if first == "" || len(seen) < of {
		return "", false, nil
	}
	return chat.MessageID(first), true, nil
}
