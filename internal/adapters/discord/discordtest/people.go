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
	s.locked(func() { channelID = s.known(messageID).Channel })
	return s.Post(person, channelID, Posting{Text: text, ReplyTo: messageID})
}

// Upload posts files with a text.
func (s *Server) Upload(person, channelID, text string, files ...File) Message {
	return s.Post(person, channelID, Posting{Text: text, Files: files})
}

// Post posts whatever can be posted.
func (s *Server) Post(person, channelID string, posting Posting) Message {
	var result Message
	s.happening(func() {
		said := s.posted(person, channelID, posting)
		s.add(said)
		result = said.Message
	})
	return result
}

func (s *Server) posted(person, channelID string, posting Posting) *message {
	s.person(person)
	at := s.channels[channelID]
	if at == nil || at.deleted || at.kind == kindForum {
		panic("discordtest: nobody can post in the channel " + channelID)
	}
	if s.may(person, at) == 0 && at.with != person {
		panic("discordtest: " + s.people[person].Name + " does not see the channel " + at.Name)
	}
	said := &message{Message: Message{
		Channel: channelID, Guild: at.guild, Author: person, Type: posting.Type, Content: strings.TrimSpace(posting.Text),
	}}
	if posting.ReplyTo != "" {
		said.Type, said.reference = typeReply, posting.ReplyTo
	}
	for _, file := range posting.Files {
		said.Attachments = append(said.Attachments, s.keep(channelID, upload{file.Name, file.Media, file.Content}, ""))
	}
	var allowed *allowedMentions
	if posting.Silent {
		allowed = &allowedMentions{Parse: []string{"users", "roles", "everyone"}}
	}
	s.notify(said, said.Content, allowed)
	return said
}

// known gives a message that a test names.
func (s *Server) known(id string) *message {
	said := s.message("", id)
	if said == nil {
		panic("discordtest: there is no message " + id)
	}
	return said
}

// Edit changes somebody's own message.
func (s *Server) Edit(person, messageID, text string) Message {
	var result Message
	s.happening(func() {
		said := s.ownedBy(person, messageID)
		said.Content = strings.TrimSpace(text)
		s.notify(said, said.Content, nil)
		s.change(said)
		result = said.Message
	})
	return result
}

// Delete removes somebody's own message.
func (s *Server) Delete(person, messageID string) {
	s.happening(func() { s.remove(s.ownedBy(person, messageID)) })
}

// Moderate removes anybody's message.
func (s *Server) Moderate(messageID string) {
	s.happening(func() { s.remove(s.known(messageID)) })
}

// Purge removes messages of one channel at once: the app hears of all in one event.
func (s *Server) Purge(channelID string, messageIDs ...string) {
	s.happening(func() {
		for _, id := range messageIDs {
			s.known(id).Deleted = true
		}
		guildID := s.channels[channelID].guild
		s.emit(guildID, "MESSAGE_DELETE_BULK", struct {
			IDs     []string `json:"ids"`
			Channel string   `json:"channel_id"`
			Guild   string   `json:"guild_id,omitempty"`
		}{messageIDs, channelID, guildID})
	})
}

// Unfurl has Discord add an embed to a message, as it does to links: the app hears of a
// MESSAGE_UPDATE that is no edit.
func (s *Server) Unfurl(messageID, embedsJSON string) {
	s.happening(func() {
		said := s.known(messageID)
		said.Embeds = []byte(embedsJSON)
		s.tell("MESSAGE_UPDATE", said)
	})
}

func (s *Server) ownedBy(person, messageID string) *message {
	said := s.known(messageID)
	if said.Author != person {
		panic("discordtest: the message " + messageID + " is somebody else's")
	}
	return said
}

// StartThread starts a thread from a message and gives its id, which is the message's.
func (s *Server) StartThread(person, messageID, name string) string {
	s.happening(func() {
		said := s.known(messageID)
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
	s.happening(func() {
		id = s.snowflake()
		s.startThread(&channel{ID: id, Name: title, kind: kindPublicThread, parent: forumID}, threadBody{Tags: tags}, person)
		said := s.posted(person, id, posting)
		said.ID = id
		s.add(said)
	})
	return id
}

// Leave takes somebody out of the server.
func (g *Guild) Leave(person string) {
	g.server.mu.Lock()
	defer g.server.mu.Unlock()
	in := g.server.guild(g.ID)
	in.members = slices.DeleteFunc(in.members, func(m *member) bool { return m.user == person })
}
