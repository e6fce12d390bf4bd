package slack

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/slack-go/slack"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/interact"
	"github.com/cairn-bot/cairn/internal/chat/markup"
	"github.com/cairn-bot/cairn/internal/chat/render"
)

// note is a message as it is sent: its blocks, and what notifications show of it, which
// is mrkdwn.
type note struct {
	text   string
	blocks []slack.Block
	said   int           // of the blocks: those at the beginning that hold the text itself
	plain  []slack.Block // the text itself for where Slack refuses its table block, nil without one
}

// withoutTable is a message whose table is text in columns.
func (n note) withoutTable() note {
	return note{text: n.text, blocks: append(n.plain[:len(n.plain):len(n.plain)], n.blocks[n.said:]...), said: len(n.plain)}
}

// rendered is a chat.Post as Slack shows it: one message or several, and its files: one
// with the whole answer where the messages can't hold it, and the reply's documents.
type rendered struct {
	notes []note
	files []attachment
	lost  bool // the content of a document is not kept any more
}

// maxNotification is how much of an answer a notification shows.
const maxNotification = 300

var userID = regexp.MustCompile(`^[UW][A-Z0-9]{2,20}$`)

// mentionRuns is the runs that call a person, none where the id is no user of Slack's.
func mentionRuns(user chat.UserID) []render.Run {
	if !userID.MatchString(string(user)) {
		return nil
	}
	return []render.Run{{User: string(user)}, {Text: " "}}
}

// look is how posts are shown in a place.
type look struct {
	human bool // a person can be asked for
}

// renderFor makes messages of a post for a place. Nobody can be called into a direct
// conversation.
func (a *Adapter) renderFor(post chat.Post, at place) (rendered, error) {
	return renderPost(post, look{human: at.root != "" && !at.isDirect() && len(a.humansFor(at)) > 0})
}

// renderPost makes messages of a post.
func renderPost(post chat.Post, how look) (rendered, error) {
	switch {
	case post.Reply != nil && post.Question == nil:
		return renderReply(*post.Reply, how, post.Only != "")
	case post.Question != nil && post.Reply == nil:
		shown, err := renderQuestion(post)
		return rendered{notes: []note{shown}}, err
	}
	return rendered{}, errors.New("render for Slack: a post is a reply or a question")
}

func renderReply(reply chat.Reply, how look, private bool) (rendered, error) {
	body := readReply(reply.Text, reply.Sources)
	laid := render.LayOutReply(body, reply, packer, false)
	out := rendered{files: attachFiles(laid), lost: laid.Lost}
	text := notificationText(body, reply)
	for _, pieces := range laid.Messages {
		out.notes = append(out.notes, newNote(text, pieces))
	}
	last := &out.notes[len(out.notes)-1]
	for _, remark := range laid.Remarks {
		last.blocks = append(last.blocks, remarkBlock(remark))
	}
	last.blocks = append(last.blocks, sourceBlocks(reply.Sources)...)
	buttons, err := replyButtons(reply, interact.Offer{Human: how.human, Private: private})
	if err != nil {
		return rendered{}, fmt.Errorf("render for Slack: %w", err)
	}
	last.blocks = append(last.blocks, buttons...)
	return out, nil
}

// newNote is a message that says pieces, and nothing else yet.
func newNote(text string, pieces []render.Piece) note {
	said := richText(pieces)
	made := note{text: text, blocks: said, said: len(said)}
	if slices.ContainsFunc(pieces, func(p render.Piece) bool { return p.Table != nil }) {
		made.plain = richText(withoutTables(pieces))
	}
	return made
}

// remarkBlock is a small grey line. It is plain text: nothing in it does anything.
func remarkBlock(text string) slack.Block {
	line := render.Cut(markup.CleanLine(text), 500)
	if line == "" {
		line = "…"
	}
	return slack.NewContextBlock("", plainText(line))
}

// renderQuestion shows a question: open, with whom it is for and its choices, or with
// what became of it.
func renderQuestion(post chat.Post) (note, error) {
	question := *post.Question
	body := readReply(question.Text, nil)
	text := notificationText(body, chat.Reply{Text: question.Text})
	open := post.Answer == ""
	if !open && question.Meant != "" {
		meant := render.Cut(markup.CleanLine(question.Meant), maxRemark)
		return note{text: escapeText(meant), blocks: []slack.Block{remarkBlock(meant)}}, nil
	}
	if open {
		if calls := mentionRuns(question.Asker); calls != nil {
			body = append([]render.Piece{{Runs: calls}}, body...)
			if len(body) > 1 && body[1].Shape == render.Paragraph {
				body = append([]render.Piece{{Runs: append(calls, body[1].Runs...)}}, body[2:]...)
			}
		}
		body = append(body, render.Choices(question.Choices, maxLabel, maxRemark)...)
	}
	messages, whole := packer.Pack(body)
	if len(messages) == 0 {
		messages = [][]render.Piece{nil}
	}
	shown := newNote(text, messages[0])
	if !whole || len(messages) > 1 {
		shown.blocks = append(shown.blocks, remarkBlock("(The question was too long to show it all.)"))
	}
	if !open {
		shown.blocks = append(shown.blocks, richText(answerPieces(post))...)
		return shown, nil
	}
	buttons, err := questionButtons(question)
	if err != nil {
		return note{}, fmt.Errorf("render for Slack: %w", err)
	}
	shown.blocks = append(shown.blocks, buttons...)
	if len(shown.blocks) == 0 {
		shown.blocks = []slack.Block{remarkBlock("?")}
	}
	return shown, nil
}

// maxRemark is the most of a choice's words, or of an answer, that is shown.
const maxRemark = 300

// answerPieces tell who answered what.
func answerPieces(post chat.Post) []render.Piece {
	by := string(post.AnsweredBy)
	if !userID.MatchString(by) {
		by = ""
	}
	return []render.Piece{{Shape: render.Quote, Runs: render.Answered(post, by, maxRemark)}}
}

var (
	marks    = regexp.MustCompile(`\s*\[\d{1,4}\]`)
	sentence = regexp.MustCompile(`[.!?…。！？]["”’)]*(\s|$)|[。！？]`)
)

// notificationText is the first sentence of an answer, escaped: the text of a message is
// mrkdwn even where blocks are shown in its place.
func notificationText(body []render.Piece, reply chat.Reply) string {
	first := ""
	for _, p := range body {
		if p.Shape != render.Preformatted {
			first = strings.TrimSpace(marks.ReplaceAllString(render.Plain(p.Runs), ""))
		}
		if first != "" {
			break
		}
	}
	if first == "" {
		first = markup.CleanLine(reply.Text)
	}
	first = strings.Join(strings.Fields(first), " ")
	if end := sentence.FindStringIndex(first); end != nil {
		first = strings.TrimSpace(first[:end[1]])
	}
	if first == "" {
		first = "…"
	}
	return escapeText(render.Cut(first, maxNotification))
}

var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// escapeText makes text that mrkdwn shows as it is: no mention, no link.
func escapeText(text string) string { return escaper.Replace(text) }
