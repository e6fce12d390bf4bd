package discord

import (
	"errors"
	"fmt"
	"strings"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/markup"
	"github.com/cairn-bot/cairn/internal/chat/render"
)

// rendered is a chat.Post as Discord shows it: one message or several. Where those can't
// hold the answer there is one, with the whole answer as a file.
type rendered struct {
	notes []note
	says  string   // what a note without components is
	files []upload // that the first message has
	stay  bool     // in place of files it has those that were uploaded before
}

// look is how posts are shown in a place.
type look struct {
	human   bool   // a person can be asked for
	private bool   // one person alone sees it
	single  bool   // it has to be one message
	hears   bool   // plain replies are heard: people may answer in the thread
	goOn    string // how people go on, where it is not by just writing
}

// renderPost makes messages of a post.
func renderPost(post chat.Post, how look) (rendered, error) {
	switch {
	case post.Reply != nil && post.Question == nil:
		return renderReply(*post.Reply, how)
	case post.Question != nil && post.Reply == nil:
		return renderQuestion(post, how)
	}
	return rendered{}, errors.New("render for Discord: a post is a reply or a question")
}

func renderReply(reply chat.Reply, how look) (rendered, error) {
	laid := render.LayOutReply(format.Read(reply.Text, reply.Sources), reply, packer, how.single)
	out := rendered{says: "Cairn", stay: laid.Lost}
	for _, file := range laid.Files {
		out.files = append(out.files, upload{file.Name, file.MediaType, file.Content})
	}
	for _, pieces := range laid.Messages {
		out.notes = append(out.notes, note{Content: writePieces(pieces), Embeds: []embed{}, Mentions: callNobody()})
	}
	last := &out.notes[len(out.notes)-1]
	for _, remark := range laid.Remarks {
		last.addRemark(remark)
	}
	if reply.Run != "" && reply.Outcome != chat.Failure {
		last.addRemark(how.goOn)
	}
	last.Embeds = sourceLine(reply.Sources)
	buttons, err := replyButtons(reply, how)
	if err != nil {
		return rendered{}, fmt.Errorf("render for Discord: %w", err)
	}
	last.Components = buttons
	for i := range out.notes {
		if out.notes[i].Content == "" && len(out.notes[i].Embeds) == 0 {
			out.notes[i].Content = "…"
		}
	}
	return out, nil
}

// maxRemark is the most of a remark, of a choice's words or of an answer that is shown.
const maxRemark = 120

// addRemark adds a line of small print.
func (n *note) addRemark(text string) {
	line := render.Cut(markup.CleanLine(text), maxRemark)
	if line == "" {
		return
	}
	if n.Content != "" {
		n.Content += "\n"
	}
	n.Content += "-# " + escapeText(line, false)
}

// renderQuestion shows a question: open, with whom it is for and its choices, or with what
// became of it.
func renderQuestion(post chat.Post, how look) (rendered, error) {
	question := *post.Question
	body := format.Read(question.Text, nil)
	open := post.Answer == ""
	if !open && question.Meant != "" {
		meant := note{Embeds: []embed{}, Mentions: callNobody()}
		meant.addRemark(question.Meant)
		return rendered{notes: []note{meant}, says: answerOutcome(post.Answer)}, nil
	}
	if open {
		body = append(body, render.Choices(question.Choices, maxLabel, maxRemark)...)
	}
	messages, whole := packer.Pack(body)
	if len(messages) == 0 {
		messages = [][]render.Piece{{{Runs: []render.Run{{Text: "?"}}}}}
	}
	shown := note{Content: writePieces(messages[0]), Embeds: []embed{}, Mentions: callNobody()}
	if !whole || len(messages) > 1 {
		shown.addRemark("The question was too long to show it all.")
	}
	if !open {
		shown.Content += "\n" + answerLine(post)
		return rendered{notes: []note{shown}, says: answerOutcome(post.Answer)}, nil
	}
	if user := string(question.Asker); isUserID(user) {
		shown.Content = "<@" + user + "> " + shown.Content
		shown.Mentions.Users = []string{user}
	}
	if question.FreeText {
		shown.addRemark(howToAnswer(how))
	}
	rows, err := questionRows(question)
	if err != nil {
		return rendered{}, fmt.Errorf("render for Discord: %w", err)
	}
	shown.Components = rows
	return rendered{notes: []note{shown}, says: "Question"}, nil
}

// howToAnswer says what is heard as an answer in words.
func howToAnswer(how look) string {
	switch {
	case how.private:
		return "Choose, or press “In my own words”."
	case how.hears:
		return "Choose, or write your answer here."
	}
	return "Choose, press “In my own words”, or reply to this message."
}

// isUserID tells the ids that Discord takes for users in allowed_mentions.
func isUserID(id string) bool {
	return id != "" && len(id) <= 20 && strings.Trim(id, "0123456789") == ""
}

// answerLine tells who answered what.
func answerLine(post chat.Post) string {
	by := string(post.AnsweredBy)
	if !isUserID(by) {
		by = ""
	}
	return "> " + writeRuns(render.Answered(post, by, maxRemark))
}

// answerOutcome names what became of a question.
func answerOutcome(answer string) string {
	switch strings.ToLower(answer) {
	case "cancelled":
		return "Cancelled"
	case "expired":
		return "Expired"
	case "left open":
		return "Left open"
	}
	return "Answered"
}
