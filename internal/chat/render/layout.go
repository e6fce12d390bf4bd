package render

import (
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/markup"
)

// Layout is a reply as messages of a platform.
type Layout struct {
	Messages [][]Piece // one at least, which may say nothing
	Whole    bool      // the messages hold all of the answer; else the first of Files does
	Remarks  []string  // small print under the last message, in order
	// Files go with the reply: the whole answer where the messages can't hold it, then its
	// documents, as they are drawn.
	Files []chat.Document
	Lost  bool // a document is left out: its content is not kept any more
}

// LayOutReply makes messages of a reply whose text was read as body: one where single, else as
// many as the packer allows. What does not fit into them is a file, and they show its beginning.
func LayOutReply(body []Piece, reply chat.Reply, packer Packer, single bool) Layout {
	messages, whole := packer.Pack(body)
	out := Layout{Messages: messages, Whole: whole && (len(messages) < 2 || !single)}
	if !out.Whole {
		answer := []byte(markup.Clean(reply.Text))
		out.Files = []chat.Document{{Name: "answer.md", MediaType: "text/markdown; charset=utf-8", Size: len(answer), Content: answer}}
		out.Messages = messages[:min(len(messages), 1)]
		out.Remarks = []string{"This answer is long: the whole of it is in the attached file."}
	}
	if len(out.Messages) == 0 {
		out.Messages = [][]Piece{nil}
	}
	if reply.Note != "" {
		out.Remarks = append(out.Remarks, reply.Note)
	}
	if reply.Outcome == chat.Failure && reply.Run != "" {
		out.Remarks = append(out.Remarks, "Run "+string(reply.Run))
	}
	for _, document := range reply.Documents {
		document = Drawn(document)
		if document.Kept() {
			out.Files = append(out.Files, document)
		} else {
			out.Lost = true
		}
	}
	return out
}
