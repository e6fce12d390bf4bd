package discordtest

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Show returns a channel as text, threads under the messages that start them, as people see
// it now. Messages for one person are marked with whom they are for, and whom a message
// notified is marked by an exclamation mark: "@Ann!".
func (s *Server) Show(channelID string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.showChannel(channelID, func(*message) bool { return true })
}

// ShowTo returns a channel as Show does, as a person sees it.
func (s *Server) ShowTo(channelID, person string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.showChannel(channelID, func(said *message) bool { return !said.Deleted && (said.Only == "" || said.Only == person) })
}

// showChannel shows the messages of a channel that can be seen, and of its threads.
func (s *Server) showChannel(channelID string, isSeen func(*message) bool) string {
	var out strings.Builder
	at := s.channels[channelID]
	switch {
	case at.kind == kindDM:
		fmt.Fprintf(&out, "== direct messages of %s ==\n", s.memberName("", at.with))
	case at.thread != nil:
		out.WriteString(threadLine(at) + "\n")
	default:
		fmt.Fprintf(&out, "== #%s ==\n", at.Name)
	}
	shown := map[string]bool{}
	for _, said := range at.said {
		if said.Type == typeStarter {
			continue
		}
		if isSeen(said) {
			s.writeMessage(&out, said, "")
		}
		if said.Thread != "" {
			shown[said.Thread] = true
			s.showThread(&out, said.Thread, isSeen)
		}
	}
	for _, id := range s.threadIDs(channelID) {
		if !shown[id] {
			s.showThread(&out, id, isSeen)
		}
	}
	return out.String()
}

func threadLine(at *channel) string {
	marks := ""
	if at.thread.archived {
		marks += " (archived)"
	}
	if at.thread.locked {
		marks += " (locked)"
	}
	return fmt.Sprintf("-- thread: %s%s --", at.Name, marks)
}

func (s *Server) showThread(out *strings.Builder, id string, isSeen func(*message) bool) {
	at := s.channels[id]
	if at.deleted {
		return
	}
	fmt.Fprintf(out, "    %s\n", threadLine(at))
	for _, said := range at.said {
		if said.Type != typeStarter && isSeen(said) {
			s.writeMessage(out, said, "    ")
		}
	}
}

func (s *Server) writeMessage(out *strings.Builder, said *message, indent string) {
	fmt.Fprintf(out, "%s%s %s", indent, said.Made.UTC().Format("15:04:05"), s.memberName(said.Guild, said.Author))
	if is := said.interaction; is != nil && is.kind == kindCommand && len(is.made) > 0 && is.made[0] == said {
		fmt.Fprintf(out, " (%s used %s)", s.memberName(said.Guild, is.Person), is.words)
	}
	if said.Only != "" {
		fmt.Fprintf(out, " (only to %s)", s.memberName(said.Guild, said.Only))
	}
	if said.Edits > 0 {
		out.WriteString(" (edited)")
	}
	if said.Deleted {
		out.WriteString(": (deleted)\n")
		return
	}
	out.WriteString(":\n")
	for line := range strings.SplitSeq(strings.TrimRight(s.messageText(said), "\n"), "\n") {
		out.WriteString(strings.TrimRight(indent+"  "+line, " ") + "\n")
	}
}

// messageText returns what a message shows.
func (s *Server) messageText(said *message) string {
	var out strings.Builder
	if first := s.findMessage("", said.reference); first != nil && said.Type == typeReply {
		fmt.Fprintf(&out, "┌ %s: %s\n", s.displayName(said, first.Author), quoteLine(s.plainText(first, first.Content)))
	}
	if said.Thinking {
		out.WriteString("… is thinking\n")
	}
	if said.Content != "" {
		out.WriteString(s.plainText(said, said.Content) + "\n")
	}
	if said.Flags&flagSuppressEmbeds == 0 {
		for _, one := range decodeEmbeds(said.Embeds) {
			out.WriteString(prefixLines("▌ ", s.embedText(said, one)))
		}
	}
	for _, one := range decodeComponents(said.Components) {
		out.WriteString(s.componentText(said, one) + "\n")
	}
	for _, file := range said.Attachments {
		fmt.Fprintf(&out, "📎 %s (%d bytes)\n", file.Name, file.Size)
	}
	if len(said.Reactions) > 0 {
		out.WriteString(strings.Join(said.Reactions, " ") + "\n")
	}
	return out.String()
}

// displayName returns how a message calls somebody: with a mark where it notified them.
func (s *Server) displayName(said *message, id string) string {
	mark := ""
	for _, user := range said.Users {
		if user == id {
			mark = "!"
		}
	}
	return "@" + s.memberName(said.Guild, id) + mark
}

// plainText shows mentions by name.
func (s *Server) plainText(said *message, text string) string {
	return mentionPattern.ReplaceAllStringFunc(text, func(found string) string {
		parts := mentionPattern.FindStringSubmatch(found)
		switch {
		case parts[1] != "":
			return s.displayName(said, parts[1])
		case parts[2] != "":
			return "@" + s.roleName(said, parts[2])
		case said.Everyone:
			return found + "!"
		}
		return found
	})
}

func (s *Server) roleName(said *message, id string) string {
	name := id
	if in := s.findGuild(said.Guild); in != nil && in.findRole(id) != nil {
		name = in.findRole(id).Name
	}
	for _, notified := range said.Roles {
		if notified == id {
			name += "!"
		}
	}
	return name
}

func prefixLines(prefix, text string) string {
	return prefix + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n"+prefix) + "\n"
}

func (s *Server) embedText(said *message, one embed) string {
	var lines []string
	add := func(text, address string) {
		if address != "" {
			text += " ⟨" + address + "⟩"
		}
		if text != "" {
			lines = append(lines, s.plainText(said, text))
		}
	}
	add(one.Author.Name, one.Author.URL)
	if one.Title != "" {
		add("# "+one.Title, one.URL)
	}
	add(one.Description, "")
	for _, field := range one.Fields {
		add(field.Name+": "+field.Value, "")
	}
	add("", one.Image.URL)
	add("", one.Thumbnail.URL)
	add(one.Footer.Text, "")
	return strings.Join(lines, "\n")
}

func (s *Server) componentText(said *message, one component) string {
	var inside []string
	for _, part := range one.Components {
		inside = append(inside, s.componentText(said, part))
	}
	switch one.Type {
	case componentRow:
		return strings.Join(inside, " ")
	case componentButton:
		return buttonText(one)
	case componentDisplay:
		return s.plainText(said, one.Content)
	case componentSection:
		return strings.Join(inside, "\n") + " " + s.componentText(said, *one.Accessory)
	case componentContainer:
		return strings.TrimRight(prefixLines("│ ", strings.Join(inside, "\n")), "\n")
	case componentSeparator:
		return "———"
	case componentThumbnail:
		return "⟨" + one.Media.URL + "⟩"
	case componentFile:
		return "📎 ⟨" + one.File.URL + "⟩"
	case componentGallery:
		var items []string
		for _, item := range one.Items {
			items = append(items, "🖼 ⟨"+item.Media.URL+"⟩")
		}
		return strings.Join(items, " ")
	}
	return selectText(one)
}

func buttonText(one component) string {
	label := one.Label
	if label == "" {
		var emoji wireEmoji
		if err := json.Unmarshal(one.Emoji, &emoji); err != nil {
			panic("discordtest: an emoji that passed its schema: " + err.Error())
		}
		label = emoji.Name
	}
	if one.URL != "" {
		label += " ⟨" + one.URL + "⟩"
	}
	if one.Disabled {
		return "(" + label + ")"
	}
	return "[" + label + "]"
}

func selectText(one component) string {
	var options []string
	for _, option := range one.Options {
		label := option.Label
		if option.Description != "" {
			label += " – " + option.Description
		}
		if option.Default {
			label = "✓ " + label
		}
		options = append(options, label)
	}
	shown := one.Placeholder + " ▾ " + strings.Join(options, " | ")
	if one.Disabled {
		return "(" + shown + ")"
	}
	return "[" + shown + "]"
}

// Show returns a modal as text.
func (m *Modal) Show() string {
	var out strings.Builder
	fmt.Fprintf(&out, "== window: %s ==\n", m.Title)
	eachComponent(decodeComponents(m.Components), nil, func(one component, _ []string) {
		switch one.Type {
		case componentTextInput:
			fmt.Fprintf(&out, "✎ %s", one.Label)
			if one.Value != "" {
				fmt.Fprintf(&out, " = %s", one.Value)
			}
			out.WriteString("\n")
		case componentLabel:
			fmt.Fprintf(&out, "%s\n", one.Label)
		case componentDisplay:
			fmt.Fprintf(&out, "%s\n", one.Content)
		case componentSelect:
			fmt.Fprintf(&out, "%s\n", selectText(one))
		}
	})
	return out.String()
}
