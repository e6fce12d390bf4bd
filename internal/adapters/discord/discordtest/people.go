package discordtest

import (
	"slices"
	"strings"
)

// Posting is what somebody posts.
type Posting struct {
	Text    string
	ReplyTo string // id of a message; "": it is no reply
	Silent  bool   // a reply that does not notify whom it replies to
	Type    int    // of a system message, such as 7 for "joined"; 0: what somebody says
	Files   []File
}

// File is a file to upload.
type File struct {
	Name, Media string
	Content     []byte
}

// Say and the other methods of this file are what people do; they give what Discord made
// of it once the gateway's events were handed over. What no person can do, such as editing
// somebody else's message, is a mistake of the test, and panics.

// Say posts a text in a channel, a thread or a direct conversation.
func (s *Server) Say(person, channelID, text string) Message {
	return s.Post(person, channelID, Posting{Text: text})
}

// Reply posts a reply to a message, which notifies its author.
func (s *Server) Reply(person, messageID, text string) Message {
	var channelID string
	s.withLock(func() { channelID = s.mustMessage(messageID).Channel })
	return s.Post(person, channelID, Posting{Text: text, ReplyTo: messageID})
}

// Upload posts files with a text.
func (s *Server) Upload(person, channelID, text string, files ...File) Message {
	return s.Post(person, channelID, Posting{Text: text, Files: files})
}

// Post posts whatever can be posted.
func (s *Server) Post(person, channelID string, posting Posting) Message {
	var result Message
	s.withEvents(func() {
		said := s.newPost(person, channelID, posting)
		s.addMessage(said)
		result = said.Message
	})
	return result
}

func (s *Server) newPost(person, channelID string, posting Posting) *message {
	s.mustPerson(person)
	at := s.channels[channelID]
	if at == nil || at.deleted || at.kind == kindForum {
		panic("discordtest: nobody can post in the channel " + channelID)
	}
	if s.memberPermissions(person, at) == 0 && at.with != person {
		panic("discordtest: " + s.people[person].Name + " does not see the channel " + at.Name)
	}
	said := &message{Message: Message{
		Channel: channelID, Guild: at.guild, Author: person, Type: posting.Type, Content: strings.TrimSpace(posting.Text),
	}}
	if posting.ReplyTo != "" {
		said.Type, said.reference = typeReply, posting.ReplyTo
	}
	for _, file := range posting.Files {
		said.Attachments = append(said.Attachments, s.storeFile(channelID, upload{file.Name, file.Media, file.Content}, ""))
	}
	var allowed *allowedMentions
	if posting.Silent {
		allowed = &allowedMentions{Parse: []string{"users", "roles", "everyone"}}
	}
	s.resolveMentions(said, said.Content, allowed)
	return said
}

// mustMessage returns a message that a test names.
func (s *Server) mustMessage(id string) *message {
	said := s.findMessage("", id)
	if said == nil {
		panic("discordtest: there is no message " + id)
	}
	return said
}

// Edit changes somebody's own message.
func (s *Server) Edit(person, messageID, text string) Message {
	var result Message
	s.withEvents(func() {
		said := s.ownedBy(person, messageID)
		said.Content = strings.TrimSpace(text)
		s.resolveMentions(said, said.Content, nil)
		s.announceEdit(said)
		result = said.Message
	})
	return result
}

// React is somebody who reacts to a message, or takes the reaction back.
func (s *Server) React(person, messageID, emoji string, on bool) {
	s.withEvents(func() {
		s.mustPerson(person)
		said := s.mustMessage(messageID)
		if said.Reacted == nil {
			said.Reacted = make(map[string][]string)
		}
		event, author := "MESSAGE_REACTION_ADD", said.Author
		var member *wireMember // told of a new reaction alone, as is the author
		if in := s.findGuild(said.Guild); in != nil && on {
			full := s.fullMember(in.findMember(person))
			member = &full
		}
		said.Reacted[emoji] = slices.DeleteFunc(said.Reacted[emoji], func(user string) bool { return user == person })
		if on {
			said.Reacted[emoji] = append(said.Reacted[emoji], person)
		} else {
			event, author = "MESSAGE_REACTION_REMOVE", ""
		}
		s.emitEvent(said.Guild, event, struct {
			User    string      `json:"user_id"`
			Channel string      `json:"channel_id"`
			Message string      `json:"message_id"`
			Guild   string      `json:"guild_id,omitempty"`
			Member  *wireMember `json:"member,omitempty"`
			Author  string      `json:"message_author_id,omitempty"`
			Emoji   wireEmoji   `json:"emoji"`
			Burst   bool        `json:"burst"`
			Type    int         `json:"type"`
		}{person, said.Channel, said.ID, said.Guild, member, author, wireEmoji{Name: emoji}, false, 0})
	})
}

// Delete removes somebody's own message.
func (s *Server) Delete(person, messageID string) {
	s.withEvents(func() { s.removeMessage(s.ownedBy(person, messageID)) })
}

// Moderate removes anybody's message.
func (s *Server) Moderate(messageID string) {
	s.withEvents(func() { s.removeMessage(s.mustMessage(messageID)) })
}

// Purge removes messages of one channel at once: the app hears of all in one event.
func (s *Server) Purge(channelID string, messageIDs ...string) {
	s.withEvents(func() {
		for _, id := range messageIDs {
			s.mustMessage(id).Deleted = true
		}
		guildID := s.channels[channelID].guild
		s.emitEvent(guildID, "MESSAGE_DELETE_BULK", struct {
			IDs     []string `json:"ids"`
			Channel string   `json:"channel_id"`
			Guild   string   `json:"guild_id,omitempty"`
		}{messageIDs, channelID, guildID})
	})
}

// Unfurl has Discord add an embed to a message, as it does to links: the app hears of a
// MESSAGE_UPDATE that is no edit.
func (s *Server) Unfurl(messageID, embedsJSON string) {
	s.withEvents(func() {
		said := s.mustMessage(messageID)
		said.Embeds = []byte(embedsJSON)
		s.announceMessage("MESSAGE_UPDATE", said)
	})
}

func (s *Server) ownedBy(person, messageID string) *message {
	said := s.mustMessage(messageID)
	if said.Author != person {
		panic("discordtest: the message " + messageID + " is somebody else's")
	}
	return said
}

// StartThread starts a thread from a message and gives its id, which is the message's.
func (s *Server) StartThread(person, messageID, name string) string {
	s.withEvents(func() {
		said := s.mustMessage(messageID)
		made := s.startThread(&channel{ID: said.ID, Name: name, kind: kindPublicThread, parent: said.Channel}, threadBody{}, person)
		made.thread.starter = said.ID
		said.Thread, said.Flags = made.ID, said.Flags|flagHasThread
	})
	return messageID
}

// OpenPost posts in a forum and gives the id of the thread; that of its first message is
// the same.
func (s *Server) OpenPost(person, forumID, title string, posting Posting, tags ...string) string {
	var id string
	s.withEvents(func() {
		id = s.newSnowflake()
		s.startThread(&channel{ID: id, Name: title, kind: kindPublicThread, parent: forumID}, threadBody{Tags: tags}, person)
		said := s.newPost(person, id, posting)
		said.ID = id
		s.addMessage(said)
	})
	return id
}

// Leave takes somebody out of the server.
func (g *Guild) Leave(person string) {
	g.server.mu.Lock()
	defer g.server.mu.Unlock()
	in := g.server.findGuild(g.ID)
	in.members = slices.DeleteFunc(in.members, func(m *member) bool { return m.user == person })
}
