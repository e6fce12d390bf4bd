package threadsource

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"html"
	"slices"
	"strings"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/connect"
	"github.com/cairn-bot/cairn/internal/shorten"
)

// Bounds of a document.
const (
	maxTitle   = 150    // letters
	maxMessage = 12_000 // letters of one message
	maxName    = 80     // letters of a person's name
	mediaType  = "text/html"
	cairnName  = "Cairn" // as the author of an answer that was rated up
)

// describeThread makes the document of an answered thread, and its content.
func (s *Source) describeThread(channel chat.Channel, audience knowledge.Audience, thread chat.ChannelThread, found exchange) (knowledge.Document, []byte) {
	title := shorten.Line(thread.Title, maxTitle)
	if title == "" && len(found.question) > 0 {
		title = shorten.Line(firstLine(found.question[0].Text), maxTitle)
	}
	if title == "" {
		title = shorten.Line(firstLine(found.answer[0].Text), maxTitle)
	}
	content := renderExchange(title, found)
	sum := sha256.Sum256(content)
	last := found.answer[len(found.answer)-1]
	return knowledge.Document{
		ID: connect.NewDocumentID(s.options.Source, string(thread.Thread)), Source: s.options.Source, Kind: knowledge.KindConversation,
		Path: threadPath(channel, thread.Thread), Title: title, URL: thread.URL, Owner: strings.Join(authorsOf(found), ", "), Modified: last.At,
		Hash:     hashOf(thread.State, audience, hex.EncodeToString(sum[:8])),
		Audience: audience, State: knowledge.StateLive,
	}, content
}

// threadPath is how a thread is named in lists: "#support/1767326125.870439".
func threadPath(channel chat.Channel, thread chat.ThreadID) string {
	_, local, _ := strings.Cut(string(thread), ":")
	if at := strings.LastIndexByte(local, ':'); at >= 0 {
		local = local[at+1:]
	}
	return "#" + shorten.Line(channel.Name, maxName) + "/" + local
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}

// authorsOf names who answered, each once.
func authorsOf(found exchange) []string {
	var names []string
	for _, m := range found.answer {
		name := shorten.Line(m.Name, maxName)
		if found.byCairn {
			name = cairnName
		}
		if name != "" && !slices.Contains(names, name) && len(names) < 5 {
			names = append(names, name)
		}
	}
	return names
}

// renderExchange writes the question and the answer as HTML, in which nothing of what people wrote is
// markup. The question is the title; what it says beyond that comes last, as the answer is what is
// looked for.
func renderExchange(title string, found exchange) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><title>%s</title></head>\n<body>\n", html.EscapeString(title))
	writeMessages(&b, found.answer, found.byCairn)
	more := len(found.question) > 1
	for _, m := range found.question {
		more = more || strings.TrimSpace(m.Text) != title
	}
	if more && (len(found.answer) == 0 || found.answer[0].ID != found.question[0].ID) {
		writeMessages(&b, found.question, false)
	}
	b.WriteString("</body></html>\n")
	return []byte(b.String())
}

// writeMessages writes messages, with a heading of who wrote and when before each that is of another
// person or day.
func writeMessages(b *strings.Builder, messages []chat.ChannelMessage, byCairn bool) {
	last := ""
	for _, m := range messages {
		name := shorten.Line(m.Name, maxName)
		if byCairn {
			name = cairnName
		}
		heading := strings.TrimPrefix(name+", "+m.At.UTC().Format(time.DateOnly), ", ")
		if heading != last {
			fmt.Fprintf(b, "<h2>%s</h2>\n", html.EscapeString(heading))
			last = heading
		}
		writeText(b, shorten.Text(m.Text, maxMessage))
	}
}

const fence = "```"

// writeText writes a message: its paragraphs, and what stands between fences as code.
func writeText(b *strings.Builder, text string) {
	for i, part := range strings.Split(text, fence) {
		if part = strings.Trim(part, "\n"); strings.TrimSpace(part) == "" {
			continue
		}
		if i%2 == 1 {
			fmt.Fprintf(b, "<pre><code>%s</code></pre>\n", html.EscapeString(part))
			continue
		}
		for paragraph := range strings.SplitSeq(part, "\n") {
			if paragraph = strings.TrimSpace(paragraph); paragraph != "" {
				fmt.Fprintf(b, "<p>%s</p>\n", html.EscapeString(paragraph))
			}
		}
	}
}

// hashOf joins what a document was made from: the thread's state as a listing tells it, who may read
// it, and its content.
func hashOf(state string, audience knowledge.Audience, content string) string {
	sum := sha256.Sum256([]byte(audience.OrPublic()))
	return state + " " + hex.EncodeToString(sum[:6]) + " " + content
}

// sameState reports whether a document with a hash was made from a thread in a state, for an audience.
func sameState(hash, state string, audience knowledge.Audience) bool {
	at := strings.LastIndexByte(hash, ' ')
	return at > 0 && hash[:at+1] == hashOf(state, audience, "")
}

// contentOf is the part of a hash that tells of the content.
func contentOf(hash string) string { return hash[strings.LastIndexByte(hash, ' ')+1:] }
