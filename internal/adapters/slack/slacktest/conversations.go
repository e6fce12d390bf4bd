package slacktest

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// maxReplyUsers is how many of those who replied Slack names.
const maxReplyUsers = 5

// wireMessage is a message as Slack tells of it.
type wireMessage struct {
	Type         string          `json:"type"`
	Subtype      string          `json:"subtype,omitempty"`
	User         string          `json:"user"`
	BotID        string          `json:"bot_id,omitempty"`
	AppID        string          `json:"app_id,omitempty"`
	Team         string          `json:"team,omitempty"`
	UserTeam     string          `json:"user_team,omitempty"`
	SourceTeam   string          `json:"source_team,omitempty"`
	Text         string          `json:"text"`
	TS           string          `json:"ts"`
	ThreadTS     string          `json:"thread_ts,omitempty"`
	ParentUserID string          `json:"parent_user_id,omitempty"`
	ReplyCount   int             `json:"reply_count,omitempty"`
	LatestReply  string          `json:"latest_reply,omitempty"`
	ReplyUsers   []string        `json:"reply_users,omitempty"`
	Blocks       json.RawMessage `json:"blocks,omitempty"`
	Metadata     json.RawMessage `json:"metadata,omitempty"`
	Files        []wireFile      `json:"files,omitempty"`
	Attachments  []attachment    `json:"attachments,omitempty"`
	Edited       *editedBy       `json:"edited,omitempty"`
	Reactions    []wireReaction  `json:"reactions,omitempty"`
	WorkflowID   string          `json:"workflow_id,omitempty"`
	BotProfile   *botProfile     `json:"bot_profile,omitempty"`
}

// botProfile is what Slack tells of a program that wrote a message.
type botProfile struct {
	ID         string `json:"id"`
	Name       string `json:"name"`
	IsWorkflow bool   `json:"is_workflow_bot"`
}

type wireReaction struct {
	Name  string   `json:"name"`
	Users []string `json:"users"`
	Count int      `json:"count"`
}

// attachment is a message that another one shares, as Slack shows it there.
type attachment struct {
	Shared     bool   `json:"is_share"`
	Unfurled   bool   `json:"is_msg_unfurl"`
	AuthorID   string `json:"author_id"`
	AuthorName string `json:"author_name"`
	ChannelID  string `json:"channel_id"`
	TS         string `json:"ts"`
	Text       string `json:"text"`
	Fallback   string `json:"fallback"`
}

type editedBy struct {
	User string `json:"user"`
	TS   string `json:"ts"`
}

// messageToWire returns a message as the API tells it; metadata only where it was asked for.
func (s *Server) messageToWire(message *Message, withMetadata bool) wireMessage {
	told := wireMessage{
		Type: "message", User: message.User, Team: Team, Text: message.Text, TS: message.TS,
		ThreadTS: message.ThreadTS, Blocks: message.Blocks,
	}
	if s.isBot(message.User) {
		told.BotID, told.AppID = botID, AppID
	}
	if message.Workflow != "" {
		told.Subtype, told.User, told.BotID, told.WorkflowID = "bot_message", "", workflowBotID, message.Workflow
		told.BotProfile = &botProfile{workflowBotID, "Questions", true}
	}
	if person := s.people[message.User]; person != nil && person.homeWorkspace() != Team && !s.isBot(message.User) {
		told.Team, told.UserTeam, told.SourceTeam = person.homeWorkspace(), person.homeWorkspace(), person.homeWorkspace()
	}
	if withMetadata {
		told.Metadata = message.Metadata
	}
	if message.Edits > 0 {
		told.Edited = &editedBy{message.User, message.TS}
	}
	if shared := message.Forwarded; shared != nil {
		told.Attachments = []attachment{{
			true, true, shared.User, s.visibleName(shared.User), shared.Channel, shared.TS, shared.Text, "[" + shared.TS + "] " + shared.Text,
		}}
	}
	told.Reactions = message.reactionsToWire()
	for _, file := range message.Files {
		told.Files = append(told.Files, s.wireFile(file))
	}
	if len(message.Files) > 0 && !s.isBot(message.User) {
		told.Subtype = "file_share"
	}
	if message.Tombstone {
		told.Subtype, told.User, told.Text, told.Blocks, told.Files = "tombstone", "USLACKBOT", "This message was deleted.", nil, nil
	}
	if message.ThreadTS != "" && message.ThreadTS != message.TS {
		if root := s.findRoot(message.Channel, message.ThreadTS); root != nil {
			told.ParentUserID = root.User
		}
	}
	for _, reply := range s.messages {
		if reply.Channel == message.Channel && reply.ThreadTS == message.TS && !reply.Deleted && reply.Only == "" && reply != message {
			told.ReplyCount++
			told.LatestReply = reply.TS
			if !slices.Contains(told.ReplyUsers, reply.User) && len(told.ReplyUsers) < maxReplyUsers {
				told.ReplyUsers = append(told.ReplyUsers, reply.User)
			}
			told.ThreadTS = message.TS
		}
	}
	return told
}

// reactionsToWire returns the reactions of the app and of people, each name once.
func (m *Message) reactionsToWire() []wireReaction {
	var told []wireReaction
	add := func(name string, users ...string) {
		at := slices.IndexFunc(told, func(r wireReaction) bool { return r.Name == name })
		if at < 0 {
			at, told = len(told), append(told, wireReaction{Name: name})
		}
		told[at].Users = append(told[at].Users, users...)
		told[at].Count += len(users)
	}
	for _, name := range m.Reactions {
		add(name, Bot)
	}
	for _, reaction := range m.Reacted {
		add(reaction.Name, reaction.Users...)
	}
	return told
}

func (s *Server) isBot(user string) bool {
	for _, install := range s.tokens {
		if install.bot == user {
			return true
		}
	}
	return false
}

type messagesPage struct {
	Messages []wireMessage `json:"messages"`
	HasMore  bool          `json:"has_more"`
	Metadata *metadata     `json:"response_metadata,omitempty"`
}

// inSpan reports whether ts is in the asked span.
func (r args) inSpan(ts string) bool {
	oldest, latest, inclusive := r["oldest"], r["latest"], r["inclusive"] == "1" || r["inclusive"] == "true"
	if oldest != "" && (ts < oldest || ts == oldest && !inclusive) {
		return false
	}
	return latest == "" || ts < latest || ts == latest && inclusive
}

// pageMessages cuts a list to the page that was asked for.
func (s *Server) pageMessages(work *request, found []*Message, most int) (any, *apiError) {
	limit := most
	if asked, err := strconv.Atoi(work.args["limit"]); err == nil && asked > 0 && asked < most {
		limit = asked
	}
	start := 0
	if cursor := work.args["cursor"]; cursor != "" {
		at, err := strconv.Atoi(cursor)
		if err != nil || at > len(found) {
			return nil, newAPIError("invalid_cursor")
		}
		start = at
	}
	end := min(start+limit, len(found))
	result := messagesPage{Messages: []wireMessage{}, HasMore: end < len(found)}
	withMetadata := work.args["include_all_metadata"] == "1" || work.args["include_all_metadata"] == "true"
	for _, message := range found[start:end] {
		result.Messages = append(result.Messages, s.messageToWire(message, withMetadata))
	}
	if result.HasMore {
		result.Metadata = &metadata{NextCursor: strconv.Itoa(end)}
	}
	return result, nil
}

// readableChannel returns a channel that the app may read.
func (s *Server) readableChannel(work *request) (*channel, *apiError) {
	from := s.channels[work.args["channel"]]
	switch {
	case from == nil:
		return nil, newAPIError("channel_not_found")
	case !slices.Contains(from.members, work.install.bot):
		return nil, newAPIError("not_in_channel")
	}
	return from, nil
}

func (s *Server) listReplies(work *request) (any, *apiError) {
	from, refused := s.readableChannel(work)
	if refused != nil {
		return nil, refused
	}
	root := s.findRoot(from.ID, work.args["ts"])
	if root == nil {
		return nil, newAPIError("thread_not_found")
	}
	var found []*Message
	for _, message := range s.messages {
		if message.Channel == from.ID && (!message.Deleted || message == root) && message.Only == "" &&
			(message == root || message.ThreadTS == root.TS) && (message == root || work.inSpan(message.TS)) {
			found = append(found, message)
		}
	}
	return s.pageMessages(work, found, 1000)
}

func (s *Server) listHistory(work *request) (any, *apiError) {
	from, refused := s.readableChannel(work)
	if refused != nil {
		return nil, refused
	}
	var found []*Message
	for _, message := range slices.Backward(s.messages) { // newest first
		top := message.ThreadTS == "" || message.ThreadTS == message.TS
		if message.Channel == from.ID && !message.Deleted && message.Only == "" && top && work.inSpan(message.TS) {
			found = append(found, message)
		}
	}
	return s.pageMessages(work, found, 999)
}

type wireChannel struct {
	ID         string `json:"id"`
	Name       string `json:"name"`
	IsChannel  bool   `json:"is_channel"`
	IsGroup    bool   `json:"is_group"`
	IsIM       bool   `json:"is_im"`
	IsMPIM     bool   `json:"is_mpim"`
	IsMember   bool   `json:"is_member"`
	IsArchived bool   `json:"is_archived"`
	IsPrivate  bool   `json:"is_private"`
	IsShared   bool   `json:"is_ext_shared"`
	User       string `json:"user,omitempty"`
}

func (s *Server) channelInfo(work *request) (any, *apiError) {
	from := s.channels[work.args["channel"]]
	if from == nil {
		return nil, newAPIError("channel_not_found")
	}
	told := wireChannel{
		ID: from.ID, Name: from.Name, IsChannel: from.kind == "channel", IsGroup: from.kind == "group",
		IsIM: from.kind == "im", IsMPIM: from.kind == "mpim",
		IsMember: slices.Contains(from.members, work.install.bot), IsArchived: from.archived,
		IsPrivate: from.kind != "channel", IsShared: from.shared,
	}
	if told.IsIM {
		told.User = from.members[1]
	}
	return struct {
		Channel wireChannel `json:"channel"`
	}{told}, nil
}

// pageOf cuts a list to the page that was asked for, and gives the cursor of the next.
func pageOf[T any](work *request, list []T, most int) ([]T, *metadata, *apiError) {
	limit, start := most, 0
	if asked, err := strconv.Atoi(work.args["limit"]); err == nil && asked > 0 && asked < most {
		limit = asked
	}
	if cursor := work.args["cursor"]; cursor != "" {
		at, err := strconv.Atoi(cursor)
		if err != nil || at < 0 || at > len(list) {
			return nil, nil, newAPIError("invalid_cursor")
		}
		start = at
	}
	end := min(start+limit, len(list))
	next := &metadata{}
	if end < len(list) {
		next.NextCursor = strconv.Itoa(end)
	}
	return list[start:end], next, nil
}

// listJoined lists the channels that the app is in, or of those another person is in as well.
func (s *Server) listJoined(work *request) (any, *apiError) {
	list := []wireChannel{}
	who := work.args["user"]
	for _, id := range slices.Sorted(maps.Keys(s.channels)) {
		of := s.channels[id]
		if slices.Contains(of.members, work.install.bot) && (who == "" || slices.Contains(of.members, who)) && of.kind != "im" && !of.archived {
			list = append(list, wireChannel{ID: of.ID, Name: of.Name, IsChannel: of.kind == "channel", IsGroup: of.kind == "group", IsMember: true})
		}
	}
	page, next, refused := pageOf(work, list, 200)
	if refused != nil {
		return nil, refused
	}
	return struct {
		Channels []wireChannel `json:"channels"`
		Metadata *metadata     `json:"response_metadata"`
	}{page, next}, nil
}

func (s *Server) listMembers(work *request) (any, *apiError) {
	from := s.channels[work.args["channel"]]
	if from == nil {
		return nil, newAPIError("channel_not_found")
	}
	page, next, refused := pageOf(work, from.members, 1000)
	if refused != nil {
		return nil, refused
	}
	return struct {
		Members  []string  `json:"members"`
		Metadata *metadata `json:"response_metadata"`
	}{page, next}, nil
}

// listGroups lists the user groups of the workspace.
func (s *Server) listGroups(work *request) (any, *apiError) {
	type group struct {
		ID     string   `json:"id"`
		Handle string   `json:"handle"`
		Users  []string `json:"users,omitempty"`
	}
	list := []group{}
	for _, id := range slices.Sorted(maps.Keys(s.groups)) {
		one := group{ID: id, Handle: strings.ToLower(id)}
		if work.args["include_users"] == "true" || work.args["include_users"] == "1" {
			one.Users = s.groups[id]
		}
		list = append(list, one)
	}
	return struct {
		Groups []group `json:"usergroups"`
	}{list}, nil
}

func (s *Server) openConversation(work *request) (any, *apiError) {
	user := work.args["users"]
	if s.people[user] == nil {
		return nil, newAPIError("user_not_found")
	}
	id := "D" + user[1:]
	s.addDirect(id, user)
	return struct {
		Channel struct {
			ID string `json:"id"`
		} `json:"channel"`
	}{struct {
		ID string `json:"id"`
	}{id}}, nil
}

func (s *Server) userInfo(work *request) (any, *apiError) {
	person := s.people[work.args["user"]]
	if person == nil {
		return nil, newAPIError("user_not_found")
	}
	type profile struct {
		DisplayName string `json:"display_name"`
		RealName    string `json:"real_name"`
		Email       string `json:"email,omitempty"`
	}
	type user struct {
		ID             string  `json:"id"`
		TeamID         string  `json:"team_id"`
		Name           string  `json:"name"`
		IsBot          bool    `json:"is_bot"`
		IsAdmin        bool    `json:"is_admin"`
		IsRestricted   bool    `json:"is_restricted"`
		EmailConfirmed bool    `json:"is_email_confirmed"`
		TZ             string  `json:"tz"`
		Profile        profile `json:"profile"`
	}
	told := user{
		ID: person.ID, TeamID: person.homeWorkspace(), Name: person.Name, IsBot: s.isBot(person.ID), IsAdmin: person.admin, IsRestricted: person.guest,
		TZ: "Europe/Berlin", Profile: profile{DisplayName: person.Name, RealName: person.Name},
	}
	if slices.Contains(s.options.Scopes, "users:read.email") {
		told.EmailConfirmed, told.Profile.Email = person.email != "", person.email
	}
	return struct {
		User user `json:"user"`
	}{told}, nil
}
