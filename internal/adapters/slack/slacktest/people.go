package slacktest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// messageEvent is a message as an event tells of it.
type messageEvent struct {
	wireMessage
	Channel         string       `json:"channel"`
	ChannelType     string       `json:"channel_type,omitempty"`
	EventTS         string       `json:"event_ts"`
	Hidden          bool         `json:"hidden,omitempty"`
	Message         *wireMessage `json:"message,omitempty"`
	PreviousMessage *wireMessage `json:"previous_message,omitempty"`
	DeletedTS       string       `json:"deleted_ts,omitempty"`
}

// newMessageEvent makes the message event of a message. The caller holds the lock.
func (s *Server) newMessageEvent(message *Message) messageEvent {
	return messageEvent{
		wireMessage: s.messageToWire(message, false), Channel: message.Channel,
		ChannelType: s.channels[message.Channel].kind, EventTS: message.TS,
	}
}

// echoMessage tells the app of its own message, as Slack does where the app listens to a
// channel's messages. The caller holds the lock.
func (s *Server) echoMessage(message *Message) {
	event := s.newMessageEvent(message)
	s.working.Go(func() {
		if s.endpoints != (endpoints{}) || s.nextConnection() != nil {
			s.Event(event)
		}
	})
}

// Says posts a message, into a thread unless threadTS is "", and gives its ts. The app
// has been told when it returns: of a message that mentions it twice, as app_mention and
// as message. Of what is said where the app is not it is told nothing.
func (p *Person) Says(channelID, threadTS, text string) (ts string) {
	return p.postMessage(&Message{Channel: channelID, ThreadTS: threadTS, User: p.ID, Text: text})
}

// Shares posts a message with a file.
func (p *Person) Shares(channelID, threadTS, text string, file File) (ts string) {
	p.server.mu.Lock()
	shared := file
	shared.ID, shared.user, shared.shared = p.server.nextID("F"), p.ID, true
	p.server.files[shared.ID] = &shared
	p.server.mu.Unlock()
	return p.postMessage(&Message{Channel: channelID, ThreadTS: threadTS, User: p.ID, Text: text, Files: []*File{&shared}})
}

// Forwards shares a message of another thread or channel, with words of one's own.
func (p *Person) Forwards(channelID, threadTS, text string, forwarded Message) (ts string) {
	return p.postMessage(&Message{Channel: channelID, ThreadTS: threadTS, User: p.ID, Text: text, Forwarded: &forwarded})
}

func (p *Person) postMessage(message *Message) string {
	s := p.server
	s.mu.Lock()
	message.TS = s.newTimestamp()
	s.messages = append(s.messages, message)
	event := s.newMessageEvent(message)
	at := s.channels[message.Channel]
	mentions := at.kind != "im" && strings.Contains(message.Text, "<@"+Bot+">")
	hears := slices.Contains(at.members, Bot)
	if mentions && !hears {
		at.mention = message
	}
	s.mu.Unlock()
	if !hears {
		return message.TS
	}
	if mentions {
		s.Event(mentionOf(event))
	}
	s.Event(event)
	return message.TS
}

// workflowBotID is what Slack calls a workflow that posts.
const workflowBotID = "B0WORKFLOW"

// WorkflowSays is a workflow of Workflow Builder that posts a message, into a thread unless threadTS
// is "", and gives its ts.
func (s *Server) WorkflowSays(channelID, threadTS, text string) (ts string) {
	workflow := &Person{server: s, ID: workflowBotID, Name: "Questions"}
	return workflow.postMessage(&Message{Channel: channelID, ThreadTS: threadTS, User: workflowBotID, Text: text, Workflow: "Wf0QUESTIONS"})
}

// mentionOf makes the app_mention of a message's event.
func mentionOf(event messageEvent) messageEvent {
	event.Type, event.ChannelType = "app_mention", ""
	if event.Subtype != "bot_message" {
		event.Subtype = ""
	}
	event.Files = nil // Slack leaves them out here
	return event
}

// Edits changes what a person wrote.
func (p *Person) Edits(channelID, ts, text string) {
	s := p.server
	s.mu.Lock()
	message := s.findMessage(channelID, ts)
	before := s.messageToWire(message, false)
	message.Text = text
	message.Edits++
	after := s.messageToWire(message, false)
	event := s.newHiddenEvent("message_changed", channelID)
	s.mu.Unlock()
	event.Message, event.PreviousMessage = &after, &before
	s.Event(event)
}

// Deletes removes what a person wrote. A message with replies leaves a tombstone, and the
// app is told of that as of a change.
func (p *Person) Deletes(channelID, ts string) {
	s := p.server
	s.mu.Lock()
	message := s.findMessage(channelID, ts)
	before := s.messageToWire(message, false)
	message.Deleted, message.Tombstone = true, s.hasReplies(message)
	event := s.newHiddenEvent("message_deleted", channelID)
	event.PreviousMessage, event.DeletedTS = &before, ts
	if message.Tombstone {
		after := s.messageToWire(message, false)
		event.Subtype, event.Message, event.DeletedTS = "message_changed", &after, ""
	}
	s.mu.Unlock()
	s.Event(event)
}

// Reacts is a person who reacts to a message, or takes the reaction back.
func (p *Person) Reacts(channelID, ts, name string, on bool) {
	s := p.server
	s.mu.Lock()
	message := s.findMessage(channelID, ts)
	at := slices.IndexFunc(message.Reacted, func(r Reaction) bool { return r.Name == name })
	if at < 0 {
		at, message.Reacted = len(message.Reacted), append(message.Reacted, Reaction{Name: name})
	}
	event := reactionEvent{Type: "reaction_added", User: p.ID, Reaction: name, ItemUser: message.User, EventTS: s.newTimestamp()}
	event.Item.Type, event.Item.Channel, event.Item.TS = "message", channelID, ts
	if on {
		message.Reacted[at].Users = append(message.Reacted[at].Users, p.ID)
	} else {
		event.Type = "reaction_removed"
		message.Reacted[at].Users = slices.DeleteFunc(message.Reacted[at].Users, func(user string) bool { return user == p.ID })
		if len(message.Reacted[at].Users) == 0 {
			message.Reacted = slices.Delete(message.Reacted, at, at+1)
		}
	}
	s.mu.Unlock()
	s.Event(event)
}

// reactionEvent tells of a reaction. Of the thread that its message is in it tells nothing.
type reactionEvent struct {
	Type     string `json:"type"`
	User     string `json:"user"`
	Reaction string `json:"reaction"`
	ItemUser string `json:"item_user"`
	Item     struct {
		Type    string `json:"type"`
		Channel string `json:"channel"`
		TS      string `json:"ts"`
	} `json:"item"`
	EventTS string `json:"event_ts"`
}

func (s *Server) newHiddenEvent(subtype, channelID string) messageEvent {
	at := s.newTimestamp()
	event := messageEvent{Channel: channelID, ChannelType: s.channels[channelID].kind, EventTS: at, Hidden: true}
	event.Type, event.Subtype, event.TS = "message", subtype, at
	return event
}

// OpensDM is a person who opens the app's messages tab.
func (p *Person) OpensDM() string {
	channelID := p.DM()
	p.homeOpened(channelID, "messages")
	return channelID
}

// Views is a person who looks at a channel while the app is open beside it; "" is none.
func (p *Person) Views(channelID string) {
	type entity struct {
		Type  string `json:"type"`
		Value any    `json:"value"`
		Team  string `json:"team_id"`
	}
	event := struct {
		Type    string `json:"type"`
		User    string `json:"user"`
		Channel string `json:"channel"`
		Context struct {
			Entities []entity `json:"entities,omitempty"`
		} `json:"context"`
		EventTS string `json:"event_ts"`
	}{Type: "app_context_changed", User: p.ID, Channel: p.DM(), EventTS: fmt.Sprintf("%d.000000", p.server.Now().Unix())}
	if channelID != "" {
		message := map[string]string{"channel_id": channelID, "message_ts": event.EventTS}
		event.Context.Entities = []entity{{"slack#/types/message_context", message, Team}, {"slack#/types/channel_id", channelID, Team}}
	}
	p.server.Event(event)
}

// OpensHome is a person who opens the app's home tab.
func (p *Person) OpensHome() { p.homeOpened(p.DM(), "home") }

func (p *Person) homeOpened(channelID, tab string) {
	p.server.Event(struct {
		Type    string `json:"type"`
		User    string `json:"user"`
		Channel string `json:"channel"`
		Tab     string `json:"tab"`
		EventTS string `json:"event_ts"`
	}{"app_home_opened", p.ID, channelID, tab, fmt.Sprintf("%d.000000", p.server.Now().Unix())})
}

// StopsSession is a person who presses Slack's own Stop, which is there while the session of a
// thread is processing; false where it isn't. Slack ends the thread's streams with it.
func (p *Person) StopsSession(channelID, threadTS string) bool {
	s := p.server
	s.mu.Lock()
	processing := s.sessions[channelID+" "+threadTS] == "processing" && !s.unstoppable
	stopped := []string{}
	for _, message := range s.messages {
		if processing && message.Channel == channelID && message.ThreadTS == threadTS && message.Streaming && !message.Deleted {
			message.Streaming = false
			stopped = append(stopped, message.TS)
		}
	}
	s.mu.Unlock()
	if !processing {
		return false
	}
	s.Event(struct {
		Type     string   `json:"type"`
		User     string   `json:"user"`
		Channel  string   `json:"channel"`
		ThreadTS string   `json:"thread_ts"`
		Streams  []string `json:"streaming_message_ts"`
	}{"agent_session_stopped", p.ID, channelID, threadTS, stopped})
	return true
}

// responseURL takes five posts within half an hour.
type responseURL struct {
	channel, thread, user, message string
	left                           int
	until                          time.Time
}

func (s *Server) newResponseURL(of responseURL) string {
	id := s.nextID("R")
	of.left, of.until = 5, s.clock.Now().Add(30*time.Minute)
	s.responses[id] = &of
	return s.http.URL + "/respond/" + id
}

// Command is a person who types a slash command. What the app answers at once is shown
// to that person.
func (p *Person) Command(channelID, command, text string) *Delivery {
	s := p.server
	s.mu.Lock()
	body := mustJSON(map[string]string{
		"token": "verification-token", "team_id": p.homeWorkspace(), "team_domain": "cairn", "api_app_id": AppID,
		"channel_id": channelID, "channel_name": s.channels[channelID].Name, "user_id": p.ID, "user_name": p.Name,
		"command": command, "text": text, "is_enterprise_install": "false",
		"response_url": s.newResponseURL(responseURL{channel: channelID, user: p.ID}), "trigger_id": s.newTrigger(p.ID, ""),
	})
	s.messages = append(s.messages, &Message{Channel: channelID, TS: s.newTimestamp(), User: p.ID, Text: command + " " + text, Only: p.ID})
	delivery := &Delivery{ID: s.nextID("command-"), Kind: "slash_commands", Type: command, Body: body}
	s.deliveries = append(s.deliveries, delivery)
	s.mu.Unlock()
	s.attemptDelivery(delivery, 0, "")
	s.showAnswer(delivery, channelID, p.ID)
	return delivery
}

// showAnswer shows what the app answered a slash command with.
func (s *Server) showAnswer(delivery *Delivery, channelID, user string) {
	var told struct {
		ResponseType string          `json:"response_type"`
		Text         string          `json:"text"`
		Blocks       json.RawMessage `json:"blocks"`
	}
	raw := strings.TrimSpace(string(delivery.Response))
	if raw == "" || raw == "null" {
		return
	}
	if json.Unmarshal([]byte(raw), &told) != nil {
		told.Text = raw
	}
	message := &Message{Channel: channelID, User: Bot, Text: told.Text, Blocks: told.Blocks, Only: user}
	if told.ResponseType == "in_channel" {
		message.Only = ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	message.TS = s.newTimestamp()
	s.messages = append(s.messages, message)
}

// interaction is the payload of what a person does with the app's elements.
type interaction struct {
	Type        string          `json:"type"`
	Token       string          `json:"token"`
	CallbackID  string          `json:"callback_id,omitempty"`
	ActionTS    string          `json:"action_ts,omitempty"`
	MessageTS   string          `json:"message_ts,omitempty"`
	Team        team            `json:"team"`
	User        user            `json:"user"`
	APIAppID    string          `json:"api_app_id"`
	Container   *container      `json:"container,omitempty"`
	TriggerID   string          `json:"trigger_id"`
	Channel     *named          `json:"channel,omitempty"`
	Message     *wireMessage    `json:"message,omitempty"`
	View        json.RawMessage `json:"view,omitempty"`
	State       json.RawMessage `json:"state,omitempty"`
	Actions     []action        `json:"actions,omitempty"`
	ResponseURL string          `json:"response_url,omitempty"`
}

type team struct {
	ID     string `json:"id"`
	Domain string `json:"domain"`
}

type user struct {
	ID       string `json:"id"`
	Username string `json:"username"`
	Name     string `json:"name"`
	TeamID   string `json:"team_id"`
}
