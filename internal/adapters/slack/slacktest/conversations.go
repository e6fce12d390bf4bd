package slacktest

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
)

// wireMessage is a message as Slack tells of it.
type wireMessage struct {
	Type         string          `json:"type"`
	Subtype      string          `json:"subtype,omitempty"`
	User         string          `json:"user"`
	BotID        string          `json:"bot_id,omitempty"`
	AppID        string          `json:"app_id,omitempty"`
	Team         string          `json:"team,omitempty"`
	Text         string          `json:"text"`
	TS           string          `json:"ts"`
	ThreadTS     string          `json:"thread_ts,omitempty"`
	ParentUserID string          `json:"parent_user_id,omitempty"`
	ReplyCount   int             `json:"reply_count,omitempty"`
	LatestReply  string          `json:"latest_reply,omitempty"`
	Blocks       json.RawMessage `json:"blocks,omitempty"`
	Metadata     json.RawMessage `json:"metadata,omitempty"`
	Files        []wireFile      `json:"files,omitempty"`
	Edited       *edited         `json:"edited,omitempty"`
}

type edited struct {
	User string `json:"user"`
	TS   string `json:"ts"`
}

// wire gives a message as the API tells it; metadata only where it was asked for.
func (s *Server) wire(message *Message, withMetadata bool) wireMessage {
	told := wireMessage{
		Type: "message", User: message.User, Team: Team, Text: message.Text, TS: message.TS,
		ThreadTS: message.ThreadTS, Blocks: message.Blocks,
	}
	if s.isBot(message.User) {
		told.BotID, told.AppID = botID, AppID
	}
	if withMetadata {
		told.Metadata = message.Metadata
	}
	if message.Edits > 0 {
		told.Edited = &edited{message.User, message.TS}
	}
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
		if root := s.root(message.Channel, message.ThreadTS); root != nil {
			told.ParentUserID = root.User
		}
	}
	for _, reply := range s.messages {
		if reply.Channel == message.Channel && reply.ThreadTS == message.TS && !reply.Deleted && reply.Only == "" && reply != message {
			told.ReplyCount++
			told.LatestReply = reply.TS
			told.ThreadTS = message.TS
		}
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

type page struct {
	Messages []wireMessage `json:"messages"`
	HasMore  bool          `json:"has_more"`
	Metadata *metadata     `json:"response_metadata,omitempty"`
}

// between tells whether ts is in the asked span.
func (r args) between(ts string) bool {
	oldest, latest, inclusive := r["oldest"], r["latest"], r["inclusive"] == "1" || r["inclusive"] == "true"
	if oldest != "" && (ts < oldest || ts == oldest && !inclusive) {
		return false
	}
	return latest == "" || ts < latest || ts == latest && inclusive
}

// paged cuts a list to the page that was asked for.
func (s *Server) paged(work *request, found []*Message, most int) (any, *apiError) {
	limit := most
	if asked, err := strconv.Atoi(work.args["limit"]); err == nil && asked > 0 && asked < most {
		limit = asked
	}
	start := 0
	if cursor := work.args["cursor"]; cursor != "" {
		at, err := strconv.Atoi(cursor)
		if err != nil || at > len(found) {
			return nil, refuse("invalid_cursor")
		}
		start = at
	}
	end := min(start+limit, len(found))
	result := page{Messages: []wireMessage{}, HasMore: end < len(found)}
	withMetadata := work.args["include_all_metadata"] == "1" || work.args["include_all_metadata"] == "true"
	for _, message := range found[start:end] {
		result.Messages = append(result.Messages, s.wire(message, withMetadata))
	}
	if result.HasMore {
		result.Metadata = &metadata{NextCursor: strconv.Itoa(end)}
	}
	return result, nil
}

// readable gives a channel that the app may read.
func (s *Server) readable(work *request) (*channel, *apiError) {
	from := s.channels[work.args["channel"]]
	switch {
	case from == nil:
		return nil, refuse("channel_not_found")
	case !slices.Contains(from.members, work.install.bot):
		return nil, refuse("not_in_channel")
	}
	return from, nil
}

func (s *Server) replies(work *request) (any, *apiError) {
	from, refused := s.readable(work)
	if refused != nil {
		return nil, refused
	}
	root := s.root(from.ID, work.args["ts"])
	if root == nil {
		return nil, refuse("thread_not_found")
	}
	var found []*Message
	for _, message := range s.messages {
		if message.Channel == from.ID && (!message.Deleted || message == root) && message.Only == "" &&
			(message == root || message.ThreadTS == root.TS) && (message == root || work.between(message.TS)) {
			found = append(found, message)
		}
	}
	return s.paged(work, found, 1000)
}

func (s *Server) history(work *request) (any, *apiError) {
	from, refused := s.readable(work)
	if refused != nil {
		return nil, refused
	}
	var found []*Message
	for _, message := range slices.Backward(s.messages) { // newest first
		top := message.ThreadTS == "" || message.ThreadTS == message.TS
		if message.Channel == from.ID && !message.Deleted && message.Only == "" && top && work.between(message.TS) {
			found = append(found, message)
		}
	}
	return s.paged(work, found, 999)
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
	User       string `json:"user,omitempty"`
}

func (s *Server) channelInfo(work *request) (any, *apiError) {
	from := s.channels[work.args["channel"]]
	if from == nil {
		return nil, refuse("channel_not_found")
	}
	told := wireChannel{
		ID: from.ID, Name: from.Name, IsChannel: from.kind == "channel", IsGroup: from.kind == "group",
		IsIM: from.kind == "im", IsMPIM: from.kind == "mpim",
		IsMember: slices.Contains(from.members, work.install.bot), IsArchived: from.archived,
	}
	if told.IsIM {
		told.User = from.members[1]
	}
	return struct {
		Channel wireChannel `json:"channel"`
	}{told}, nil
}

// joined lists the channels that the app is in.
func (s *Server) joined(work *request) (any, *apiError) {
	list := []wireChannel{}
	for _, id := range slices.Sorted(maps.Keys(s.channels)) {
		of := s.channels[id]
		if slices.Contains(of.members, work.install.bot) && of.kind != "im" && !of.archived {
			list = append(list, wireChannel{ID: of.ID, Name: of.Name, IsChannel: of.kind == "channel", IsGroup: of.kind == "group", IsMember: true})
		}
	}
	return struct {
		Channels []wireChannel `json:"channels"`
		Metadata *metadata     `json:"response_metadata"`
	}{list, &metadata{}}, nil
}

func (s *Server) members(work *request) (any, *apiError) {
	from := s.channels[work.args["channel"]]
	if from == nil {
		return nil, refuse("channel_not_found")
	}
	return struct {
		Members  []string  `json:"members"`
		Metadata *metadata `json:"response_metadata"`
	}{from.members, &metadata{}}, nil
}

func (s *Server) openConversation(work *request) (any, *apiError) {
	user := work.args["users"]
	if s.people[user] == nil {
		return nil, refuse("user_not_found")
	}
	id := "D" + user[1:]
	s.direct(id, user)
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
		return nil, refuse("user_not_found")
	}
	type profile struct {
		DisplayName string `json:"display_name"`
		RealName    string `json:"real_name"`
	}
	type user struct {
		ID      string  `json:"id"`
		TeamID  string  `json:"team_id"`
		Name    string  `json:"name"`
		IsBot   bool    `json:"is_bot"`
		TZ      string  `json:"tz"`
		Profile profile `json:"profile"`
	}
	return struct {
		User user `json:"user"`
	}{user{person.ID, Team, person.Name, s.isBot(person.ID), "Europe/Berlin", profile{person.Name, person.Name}}}, nil
}
