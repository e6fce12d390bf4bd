package discordtest

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/cairn-bot/cairn/internal/shorten"
)

// Flags of messages.
const (
	flagSuppressEmbeds        = 1 << 2
	flagHasThread             = 1 << 5
	flagEphemeral             = 1 << 6
	flagLoading               = 1 << 7
	flagSuppressNotifications = 1 << 12
	flagComponentsV2          = 1 << 15
)

// Types of messages.
const (
	typeReply       = 19
	typeCommand     = 20
	typeStarter     = 21
	typeContextMenu = 23
)

// message is a message as it stands, with what became of it.
type message struct {
	Message
	nonce       string
	position    int    // in its thread
	reference   string // id of the message that it replies to, or that started the thread
	interaction *Interaction
}

// Message is a message as it stands, with what became of it.
type Message struct {
	ID, Channel, Guild string
	Type               int
	Author             string
	Content            string
	Embeds, Components json.RawMessage // arrays; nil where there are none
	Attachments        []Attachment
	Flags              int
	// Users, Roles and Everyone are who was notified.
	Users, Roles []string
	Everyone     bool
	Only         string // whom an ephemeral message is shown to
	Thinking     bool   // deferred, and not answered yet
	Edits        int
	Deleted      bool
	Thread       string // the thread that was started from it
	Made, Edited time.Time
	Reactions    []string            // of the app
	Reacted      map[string][]string // of people, by emoji
	// Request is the body of the request that made it, nil for people's messages.
	Request json.RawMessage
}

// Attachment is a file of a message.
type Attachment struct {
	ID, Name, Media, Description string
	Size                         int
	URL                          string
}

type wireAttachment struct {
	ID          string `json:"id"`
	Filename    string `json:"filename"`
	Size        int    `json:"size"`
	URL         string `json:"url"`
	ProxyURL    string `json:"proxy_url"`
	ContentType string `json:"content_type,omitempty"`
	Description string `json:"description,omitempty"`
}

type wireReference struct {
	Type      int    `json:"type"`
	MessageID string `json:"message_id,omitempty"`
	ChannelID string `json:"channel_id"`
	GuildID   string `json:"guild_id,omitempty"`
}

// wireMention is a mentioned user; the gateway adds the member.
type wireMention struct {
	wireUser
	Member *wireMember `json:"member,omitempty"`
}

type wireReaction struct {
	Count int       `json:"count"`
	Me    bool      `json:"me"`
	Emoji wireEmoji `json:"emoji"`
}

type wireEmoji struct {
	ID   *string `json:"id"`
	Name string  `json:"name"`
}

type wireMessage struct {
	ID              string           `json:"id"`
	ChannelID       string           `json:"channel_id"`
	GuildID         string           `json:"guild_id,omitempty"`     // the gateway alone tells it
	ChannelType     *int             `json:"channel_type,omitempty"` // likewise
	Position        *int             `json:"position,omitempty"`     // of messages in threads
	Type            int              `json:"type"`
	Author          wireUser         `json:"author"`
	Member          *wireMember      `json:"member,omitempty"`
	Content         string           `json:"content"`
	Timestamp       string           `json:"timestamp"`
	Edited          *string          `json:"edited_timestamp"`
	TTS             bool             `json:"tts"`
	MentionEveryone bool             `json:"mention_everyone"`
	Mentions        []wireMention    `json:"mentions"`
	MentionRoles    []string         `json:"mention_roles"`
	Attachments     []wireAttachment `json:"attachments"`
	Embeds          json.RawMessage  `json:"embeds"`
	Components      json.RawMessage  `json:"components"`
	Reactions       []wireReaction   `json:"reactions,omitempty"`
	Nonce           string           `json:"nonce,omitempty"` // where it was just made: it is not kept
	Pinned          bool             `json:"pinned"`
	Flags           int              `json:"flags"`
	WebhookID       string           `json:"webhook_id,omitempty"`
	ApplicationID   string           `json:"application_id,omitempty"`
	Reference       *wireReference   `json:"message_reference,omitempty"`
	Referenced      *wireMessage     `json:"referenced_message,omitempty"`
	Thread          *wireChannel     `json:"thread,omitempty"`
	Metadata        *wireMetadata    `json:"interaction_metadata,omitempty"`
}

type wireMetadata struct {
	ID     string            `json:"id"`
	Type   int               `json:"type"`
	User   wireUser          `json:"user"`
	Owners map[string]string `json:"authorizing_integration_owners"`
}

// contentVisible is Discord's rule of the MESSAGE CONTENT intent: without it the app sees
// the content of its own messages, of those that mention it and of direct ones only.
func contentVisible(of *message, intent bool) bool {
	return intent || of.Author == Bot || of.Guild == "" || slices.Contains(of.Users, Bot)
}

// messageToWire returns a message as the REST API and the gateway do, without what the app must not
// see.
func (s *Server) messageToWire(of *message) wireMessage {
	return s.wireForIntent(of, s.options.MessageContent)
}

// wireForIntent returns a message as an app with the intent sees it, or one without.
func (s *Server) wireForIntent(of *message, intent bool) wireMessage {
	wired := wireMessage{
		ID: of.ID, ChannelID: of.Channel, Type: of.Type, Author: s.wireUser(of.Author), Timestamp: formatTime(of.Made),
		MentionEveryone: of.Everyone, Mentions: []wireMention{}, MentionRoles: append([]string{}, of.Roles...),
		Attachments: []wireAttachment{}, Embeds: rawArray(nil), Components: rawArray(nil), Flags: of.Flags,
	}
	if contentVisible(of, intent) {
		wired.Content, wired.Embeds, wired.Components = of.Content, rawArray(of.Embeds), rawArray(of.Components)
		for _, file := range of.Attachments {
			wired.Attachments = append(wired.Attachments, wireAttachment{file.ID, file.Name, file.Size, file.URL, file.URL, file.Media, file.Description})
		}
	}
	if s.channels[of.Channel].thread != nil {
		wired.Position = &of.position
	}
	if of.Edits > 0 {
		edited := formatTime(of.Edited)
		wired.Edited = &edited
	}
	for _, id := range of.Users {
		wired.Mentions = append(wired.Mentions, wireMention{wireUser: s.wireUser(id)})
	}
	for _, emoji := range of.Reactions {
		wired.Reactions = append(wired.Reactions, wireReaction{1 + len(of.Reacted[emoji]), true, wireEmoji{Name: emoji}})
	}
	for _, emoji := range slices.Sorted(maps.Keys(of.Reacted)) {
		if users := of.Reacted[emoji]; len(users) > 0 && !slices.Contains(of.Reactions, emoji) {
			wired.Reactions = append(wired.Reactions, wireReaction{len(users), false, wireEmoji{Name: emoji}})
		}
	}
	if of.reference != "" {
		wired.Reference = &wireReference{MessageID: of.reference, ChannelID: of.Channel, GuildID: of.Guild}
		if first := s.findMessage("", of.reference); first != nil {
			wired.Reference.ChannelID = first.Channel
			shown := s.wireForIntent(first, intent)
			shown.Referenced = nil // it is not nested further
			wired.Referenced = &shown
		}
	}
	if of.Thread != "" {
		thread := s.wireChannel(s.channels[of.Thread])
		wired.Thread = &thread
	}
	if is := of.interaction; is != nil {
		wired.ApplicationID, wired.WebhookID = AppID, AppID
		wired.Metadata = &wireMetadata{is.ID, is.kind, s.wireUser(is.Person), is.installOwners()}
	}
	return wired
}

// gatewayMessage returns a message with what the gateway adds: the guild and the members.
func (s *Server) gatewayMessage(of *message, intent bool) wireMessage {
	wired := s.wireForIntent(of, intent)
	wired.GuildID, wired.ChannelType = of.Guild, &s.channels[of.Channel].kind
	in := s.findGuild(of.Guild)
	if in == nil {
		return wired
	}
	if author := in.findMember(of.Author); author != nil {
		member := s.wireMember(author)
		wired.Member = &member
	}
	for i := range wired.Mentions {
		if mentioned := in.findMember(wired.Mentions[i].ID); mentioned != nil {
			member := s.wireMember(mentioned)
			wired.Mentions[i].Member = &member
		}
	}
	return wired
}

// findMessage finds one that is still there; channelID "" is any channel.
func (s *Server) findMessage(channelID, id string) *message {
	found := s.messages[id]
	if found == nil || found.Deleted || channelID != "" && found.Channel != channelID {
		return nil
	}
	return found
}

// addMessage puts a message into its channel, where it wakes an archived thread, and tells the
// gateway of it.
func (s *Server) addMessage(said *message) {
	said.Made = s.now()
	if said.ID == "" {
		said.ID = s.newSnowflake()
	}
	at := s.channels[said.Channel]
	said.Guild = at.guild
	said.position = len(at.said)
	s.messages[said.ID], at.said = said, append(at.said, said)
	if at.thread != nil {
		if !slices.Contains(at.thread.members, said.Author) && said.Only == "" {
			at.thread.members = append(at.thread.members, said.Author)
		}
		if at.thread.archived && !at.thread.locked {
			at.thread.archived = false
			s.emitEvent(at.guild, "THREAD_UPDATE", s.wireChannel(at))
		}
	}
	if said.Only == "" {
		s.announceMessage("MESSAGE_CREATE", said)
	}
	s.signalChange()
}

// announceEdit tells the gateway that a message was edited.
func (s *Server) announceEdit(said *message) {
	said.Edits++
	said.Edited = s.now()
	s.changedMessage(said)
}

// changedMessage tells the gateway that a message is not what it was.
func (s *Server) changedMessage(said *message) {
	if said.Only == "" {
		s.announceMessage("MESSAGE_UPDATE", said)
	}
	s.signalChange()
}

// announceMessage tells the gateway of a message in a channel that the app sees.
func (s *Server) announceMessage(eventType string, said *message) {
	if s.memberPermissions(Bot, s.channels[said.Channel]).hasAll(ViewChannel) {
		wired := func(intent bool) json.RawMessage {
			message := s.gatewayMessage(said, intent)
			if eventType == "MESSAGE_CREATE" {
				message.Nonce = said.nonce
			}
			return mustJSON(message)
		}
		happened := Event{Guild: said.Guild, Type: eventType, Data: wired(s.options.MessageContent)}
		if s.options.MessageContent && !contentVisible(said, false) {
			happened.without = wired(false)
		}
		s.recordEvent(happened)
	}
}

// removeMessage deletes a message.
func (s *Server) removeMessage(said *message) {
	said.Deleted = true
	if said.Only == "" && s.memberPermissions(Bot, s.channels[said.Channel]).hasAll(ViewChannel) {
		s.emitEvent(said.Guild, "MESSAGE_DELETE", struct {
			ID      string `json:"id"`
			Channel string `json:"channel_id"`
			Guild   string `json:"guild_id,omitempty"`
		}{said.ID, said.Channel, said.Guild})
	}
	s.signalChange()
}

// Messages returns a channel's messages as they stand, deleted ones and those for one
// person included, in their order.
func (s *Server) Messages(channelID string) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []Message
	for _, said := range s.channels[channelID].said {
		found = append(found, said.Message)
	}
	return found
}

// Standing returns what the app said that everybody still sees in a channel and in the
// threads that were started in it, drafts included, in their order.
func (s *Server) Standing(channelID string) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []Message
	for _, id := range append([]string{channelID}, s.threadIDs(channelID)...) {
		for _, said := range s.channels[id].said {
			if said.Author == Bot && !said.Deleted && said.Only == "" && said.Type != typeStarter {
				found = append(found, said.Message)
			}
		}
	}
	return found
}

// HasButton reports whether a message has a button with a label that can be pressed.
func (m Message) HasButton(label string) bool {
	found := false
	eachComponent(decodeComponents(m.Components), nil, func(one component, _ []string) {
		found = found || one.Type == componentButton && one.Label == label && !one.Disabled
	})
	return found
}

// HasOption reports whether a message has a menu with an option of a label.
func (m Message) HasOption(label string) bool {
	found := false
	eachComponent(decodeComponents(m.Components), nil, func(one component, _ []string) {
		found = found || one.Type == componentSelect && slices.ContainsFunc(one.Options, func(o selectOption) bool { return o.Label == label })
	})
	return found
}

// Last returns the last message of a channel that is still there, that of an ephemeral one
// included; false where there is none.
func (s *Server) Last(channelID string) (Message, bool) {
	messages := s.Messages(channelID)
	for _, said := range slices.Backward(messages) {
		if !said.Deleted {
			return said, true
		}
	}
	return Message{}, false
}

var mentionPattern = regexp.MustCompile(`<@!?(\d{1,20})>|<@&(\d{1,20})>|@(everyone|here)\b`)

// allowedMentions says whom a message may notify; nil: everybody that it mentions.
type allowedMentions struct {
	Parse       []string `json:"parse"`
	Users       []string `json:"users"`
	Roles       []string `json:"roles"`
	RepliedUser bool     `json:"replied_user"`
}

// checkLists refuses a list of ids beside the word that already means all of them.
func (a *allowedMentions) checkLists(form *formErrors) {
	if a == nil {
		return
	}
	for _, list := range []struct {
		name string
		ids  []string
	}{{"users", a.Users}, {"roles", a.Roles}} {
		if len(list.ids) > 0 && slices.Contains(a.Parse, list.name) {
			form.addError([]string{"allowed_mentions", list.name}, "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE", `parse:["`+list.name+`"] and `+list.name+`: [ids...] are mutually exclusive.`)
		}
	}
}

// resolveMentions finds out whom a message notifies.
func (s *Server) resolveMentions(said *message, text string, allowed *allowedMentions) {
	said.Users, said.Roles, said.Everyone = nil, nil, false
	everyone := s.memberPermissions(said.Author, s.channels[said.Channel]).hasAll(MentionEveryone)
	for _, found := range mentionPattern.FindAllStringSubmatch(codePattern.ReplaceAllString(text, ""), -1) {
		user, role := found[1], found[2]
		switch {
		case user != "" && s.people[user] != nil && allowsMention(allowed, "users", user) && !slices.Contains(said.Users, user):
			said.Users = append(said.Users, user)
		case role != "" && everyone && allowsMention(allowed, "roles", role) && !slices.Contains(said.Roles, role):
			said.Roles = append(said.Roles, role)
		case found[3] != "" && everyone && allowsMention(allowed, "everyone", ""):
			said.Everyone = true
		}
	}
	if first := s.findMessage("", said.reference); first != nil && (allowed == nil || allowed.RepliedUser) && !slices.Contains(said.Users, first.Author) {
		said.Users = append(said.Users, first.Author)
	}
}

// codePattern is what mentions nobody: mentions in code stay text.
var codePattern = regexp.MustCompile("(?s)```.*?```|`[^`\n]+`")

func allowsMention(allowed *allowedMentions, kind, id string) bool {
	if allowed == nil || slices.Contains(allowed.Parse, kind) {
		return true
	}
	list := allowed.Users
	if kind == "roles" {
		list = allowed.Roles
	}
	return id != "" && slices.Contains(list, id)
}

// quoteLine returns what a reply's line says of the message it replies to.
func quoteLine(content string) string {
	line, _, _ := strings.Cut(content, "\n")
	return shorten.Text(line, 40)
}
