package slacktest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// shownBlock is what of a block a person sees.
type shownBlock struct {
	Type      string         `json:"type"`
	BlockID   string         `json:"block_id"`
	Text      shownText      `json:"text"`
	Fields    []shownText    `json:"fields"`
	Elements  []shownElement `json:"elements"`
	Accessory *shownElement  `json:"accessory"`
	Element   *shownElement  `json:"element"`
	Label     shownText      `json:"label"`
	AltText   string         `json:"alt_text"`
	Rows      [][]shownCell  `json:"rows"` // of a table
}

// shownCell is a cell, of rich text where it has elements.
type shownCell struct {
	Text     string         `json:"text"`
	Elements []shownElement `json:"elements"`
}

// shownText is a text object, or in a markdown block a plain string.
type shownText struct {
	Text  string
	plain bool // plain_text: nothing in it is read
}

func (t *shownText) UnmarshalJSON(raw []byte) error {
	var object text
	if json.Unmarshal(raw, &t.Text) == nil {
		return nil
	}
	if err := json.Unmarshal(raw, &object); err != nil {
		return err
	}
	t.Text, t.plain = object.Text, object.Type == "plain_text"
	return nil
}

type shownButton struct {
	Text  *text  `json:"text"`
	Value string `json:"value"`
}

type shownElement struct {
	Type     string          `json:"type"`
	ActionID string          `json:"action_id"`
	Text     shownText       `json:"text"`
	Value    string          `json:"value"`
	URL      string          `json:"url"`
	UserID   string          `json:"user_id"`
	GroupID  string          `json:"usergroup_id"`
	Name     string          `json:"name"`
	Style    json.RawMessage `json:"style"`
	Indent   int             `json:"indent"`
	Offset   int             `json:"offset"`
	Elements []shownElement  `json:"elements"`
	Positive *shownButton    `json:"positive_button"`
	Negative *shownButton    `json:"negative_button"`
	AltText  string          `json:"alt_text"`
	Options  []shownButton   `json:"options"` // of a menu
}

// buttonLabel returns what a button says.
func (e shownElement) buttonLabel() (string, bool) {
	return e.Text.Text, e.Type == "button" || e.Type == "icon_button"
}

func parseBlocks(blocks json.RawMessage) []shownBlock {
	var list []shownBlock
	if len(blocks) > 0 {
		if err := json.Unmarshal(blocks, &list); err != nil {
			panic("slacktest: kept blocks that can't be read: " + err.Error())
		}
	}
	return list
}

func viewBlocks(view json.RawMessage) []shownBlock {
	var is struct {
		Blocks json.RawMessage `json:"blocks"`
	}
	if err := json.Unmarshal(view, &is); err != nil {
		panic("slacktest: kept a view that can't be read: " + err.Error())
	}
	return parseBlocks(is.Blocks)
}

// Show returns a channel as text, threads under the messages that start them, as people
// see it now. Messages for one person are marked with whom they are for.
func (s *Server) Show(channelID string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.showChannel(channelID, func(*Message) bool { return true })
}

// ShowTo returns a channel as Show does, as a person sees it, and Slack's own Stop in the threads
// where it can be pressed.
func (s *Server) ShowTo(channelID, person string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	shown := s.showChannel(channelID, func(message *Message) bool {
		return !message.Deleted && (message.Only == "" || message.Only == person)
	})
	for thread, status := range s.sessions {
		if strings.HasPrefix(thread, channelID+" ") && status == "processing" && !s.unstoppable {
			shown += "[Stop]\n"
		}
	}
	return shown
}

// showChannel shows the messages of a channel that can be seen.
func (s *Server) showChannel(channelID string, isSeen func(*Message) bool) string {
	var out strings.Builder
	name := s.channels[channelID].Name
	if name == "" {
		name = "direct message"
	}
	fmt.Fprintf(&out, "== %s ==\n", name)
	for _, message := range s.messages {
		if message.Channel != channelID || message.ThreadTS != "" && message.ThreadTS != message.TS {
			continue
		}
		if isSeen(message) {
			s.writeMessage(&out, message, "")
		}
		for _, reply := range s.messages {
			if reply.Channel == channelID && reply.ThreadTS == message.TS && reply != message && isSeen(reply) {
				s.writeMessage(&out, reply, "    ")
			}
		}
		if status := s.threadStatus(channelID, message.TS); status != "" {
			fmt.Fprintf(&out, "    … Cairn %s\n", status)
		}
	}
	return out.String()
}

func (s *Server) writeMessage(out *strings.Builder, message *Message, indent string) {
	seconds, _, _ := strings.Cut(message.TS, ".")
	unix, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		panic("slacktest: a timestamp that is none: " + message.TS)
	}
	fmt.Fprintf(out, "%s%s %s", indent, time.Unix(unix, 0).UTC().Format("15:04:05"), s.visibleName(message.User))
	if message.Only != "" {
		fmt.Fprintf(out, " (only to %s)", s.visibleName(message.Only))
	}
	if message.Edits > 0 {
		out.WriteString(" (edited)")
	}
	if message.Deleted {
		out.WriteString(": (deleted)\n")
		return
	}
	out.WriteString(":\n")
	lines := s.messageText(message)
	for line := range strings.SplitSeq(strings.TrimRight(lines, "\n"), "\n") {
		out.WriteString(strings.TrimRight(indent+"  "+line, " ") + "\n")
	}
}

// messageText returns what a message shows.
func (s *Server) messageText(message *Message) string {
	var out strings.Builder
	if message.Streamed != "" || len(message.Blocks) == 0 {
		out.WriteString(s.plainText(message.Text) + "\n")
	}
	for _, task := range message.Tasks {
		out.WriteString("· " + task + "\n")
	}
	for _, block := range parseBlocks(message.Blocks) {
		out.WriteString(s.blockText(block) + "\n")
	}
	for _, file := range message.Files {
		fmt.Fprintf(&out, "📎 %s (%d bytes)\n", cmp.Or(file.Title, file.Name), len(file.Content))
	}
	if message.Streaming {
		if s.isStreaming(message) {
			out.WriteString("▍\n")
		} else {
			out.WriteString("▍(died)\n")
		}
	}
	if len(message.Reactions) > 0 {
		out.WriteString(":" + strings.Join(message.Reactions, ": :") + ":\n")
	}
	return out.String()
}

var specialMention = regexp.MustCompile(`<(@|#|!|)([^<>|]+)(?:\|([^<>]*))?>`)

// plainText shows mrkdwn as people see it: mentions by name, links with their address.
func (s *Server) plainText(mrkdwn string) string {
	shown := specialMention.ReplaceAllStringFunc(mrkdwn, func(found string) string {
		parts := specialMention.FindStringSubmatch(found)
		switch {
		case parts[1] == "@":
			return "@" + s.visibleName(parts[2])
		case parts[1] == "!":
			return "@" + parts[2] + "(!)" // everybody was called
		case parts[3] != "":
			return parts[3] + " ⟨" + parts[2] + "⟩"
		}
		return parts[2]
	})
	return strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&").Replace(shown)
}

// objectText shows a text object.
func (s *Server) objectText(t shownText) string {
	if t.plain {
		return t.Text
	}
	return s.plainText(t.Text)
}

func (s *Server) blockText(block shownBlock) string {
	switch block.Type {
	case "divider":
		return "———"
	case "header":
		return "# " + block.Text.Text
	case "markdown":
		return s.plainText(block.Text.Text)
	case "actions", "context_actions":
		return s.buttonsText(block.Elements)
	case "rich_text":
		var out []string
		for _, element := range block.Elements {
			out = append(out, strings.TrimRight(s.richText(element), "\n"))
		}
		return strings.Join(out, "\n")
	case "table":
		return s.tableText(block.Rows)
	case "context":
		var out []string
		for _, element := range block.Elements {
			out = append(out, s.objectText(element.Text)+element.AltText)
		}
		return "  " + strings.ReplaceAll(strings.Join(out, " · "), "\n", "\n  ")
	}
	shown := s.objectText(block.Text)
	if block.Type == "input" {
		shown = "✎ " + block.Label.Text
	}
	for _, field := range block.Fields {
		shown += "\n| " + s.objectText(field)
	}
	if block.Accessory != nil {
		shown += " " + s.buttonsText([]shownElement{*block.Accessory})
	}
	return shown
}

// tableText shows a table between double lines, so that it is not taken for text.
func (s *Server) tableText(rows [][]shownCell) string {
	var out strings.Builder
	for _, row := range rows {
		out.WriteString("║")
		for _, cell := range row {
			shown := cell.Text
			for _, element := range cell.Elements {
				shown += strings.TrimRight(s.richText(element), "\n")
			}
			out.WriteString(" " + strings.ReplaceAll(strings.TrimSpace(shown), "\n", " ⏎ ") + " ║")
		}
		out.WriteString("\n")
	}
	return strings.TrimRight(out.String(), "\n")
}

func (s *Server) buttonsText(elements []shownElement) string {
	var out []string
	for _, element := range elements {
		if label, ok := element.buttonLabel(); ok {
			out = append(out, "["+label+"]")
		}
		if element.Type == "overflow" {
			var choices []string
			for _, choice := range element.Options {
				choices = append(choices, choice.Text.Text)
			}
			out = append(out, "[⋯ "+strings.Join(choices, " | ")+"]")
		}
		if element.Positive != nil && element.Negative != nil {
			out = append(out, "["+element.Positive.Text.Text+"] ["+element.Negative.Text.Text+"]")
		}
	}
	return strings.Join(out, " ")
}

// richText shows an element of rich text.
func (s *Server) richText(element shownElement) string {
	var out strings.Builder
	switch element.Type {
	case "rich_text_list":
		for i, item := range element.Elements {
			mark := "• "
			if string(element.Style) == `"ordered"` {
				mark = strconv.Itoa(element.Offset+i+1) + ". "
			}
			pad := strings.Repeat("   ", element.Indent)
			out.WriteString(pad + mark + strings.ReplaceAll(strings.TrimRight(s.richText(item), "\n"), "\n", "\n"+pad+"   ") + "\n")
		}
	case "rich_text_quote", "rich_text_preformatted":
		prefix := map[string]string{"rich_text_quote": "> ", "rich_text_preformatted": "│ "}[element.Type]
		out.WriteString(prefix + strings.ReplaceAll(strings.TrimRight(s.runsText(element.Elements), "\n"), "\n", "\n"+prefix) + "\n")
	default:
		out.WriteString(s.runsText(element.Elements))
	}
	return out.String()
}

func (s *Server) runsText(runs []shownElement) string {
	var out strings.Builder
	for _, run := range runs {
		var style struct {
			Bold, Italic, Strike, Code bool
		}
		if len(run.Style) > 0 {
			if err := json.Unmarshal(run.Style, &style); err != nil {
				panic("slacktest: kept a style that can't be read: " + err.Error())
			}
		}
		shown := run.Text.Text
		switch run.Type {
		case "link":
			if shown == "" || shown == run.URL {
				shown = run.URL
			} else {
				shown += " ⟨" + run.URL + "⟩"
			}
		case "user":
			shown = "@" + s.visibleName(run.UserID)
		case "usergroup":
			shown = "@" + run.GroupID
		case "broadcast":
			shown = "@everybody(!)"
		case "emoji":
			shown = ":" + run.Name + ":"
		}
		for _, mark := range []struct {
			on   bool
			with string
		}{{style.Code, "`"}, {style.Bold, "*"}, {style.Italic, "_"}, {style.Strike, "~"}} {
			if mark.on && strings.TrimSpace(shown) != "" {
				shown = mark.with + shown + mark.with
			}
		}
		out.WriteString(shown)
	}
	return out.String()
}
