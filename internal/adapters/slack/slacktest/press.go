package slacktest

import (
	"encoding/json"
	"fmt"
)

type container struct {
	Type        string `json:"type"`
	MessageTS   string `json:"message_ts,omitempty"`
	ChannelID   string `json:"channel_id,omitempty"`
	IsEphemeral bool   `json:"is_ephemeral"`
	ThreadTS    string `json:"thread_ts,omitempty"`
	ViewID      string `json:"view_id,omitempty"`
}

type action struct {
	Type     string `json:"type"`
	ActionID string `json:"action_id"`
	BlockID  string `json:"block_id"`
	Text     *text  `json:"text,omitempty"`
	Value    string `json:"value,omitempty"`
	ActionTS string `json:"action_ts"`
	// Selected is the option that was chosen from a menu.
	Selected *shownButton `json:"selected_option,omitempty"`
}

// newInteraction fills in what every interaction has. The caller holds the lock.
func (p *Person) newInteraction(kind, view string) interaction {
	return interaction{
		Type: kind, Token: "verification-token", Team: team{p.homeWorkspace(), "cairn"}, APIAppID: AppID,
		User: user{p.ID, p.Name, p.Name, p.homeWorkspace()}, TriggerID: p.server.newTrigger(p.ID, view),
	}
}

func (s *Server) deliverInteraction(payload interaction) *Delivery {
	s.mu.Lock()
	delivery := &Delivery{ID: s.nextID("interaction-"), Kind: "interactive", Type: payload.Type, Body: mustJSON(payload)}
	s.deliveries = append(s.deliveries, delivery)
	s.mu.Unlock()
	s.attemptDelivery(delivery, 0, "")
	return delivery
}

// Presses presses the button with a label on the channel's last message that has one
// which the person sees; nil where there is none.
func (p *Person) Presses(channelID, label string) *Delivery {
	s := p.server
	s.mu.Lock()
	var pressed *Message
	var does action
	for i := len(s.messages) - 1; i >= 0 && pressed == nil; i-- {
		message := s.messages[i]
		if message.Channel != channelID || message.Deleted || message.Only != "" && message.Only != p.ID {
			continue
		}
		if found, ok := findButton(message.Blocks, label); ok {
			pressed, does = message, found
		}
	}
	if pressed == nil {
		s.mu.Unlock()
		return nil
	}
	payload := p.newPress(pressed, does)
	s.mu.Unlock()
	return s.deliverInteraction(payload)
}

// PressesHome presses the button with a label on the person's home tab; nil where there is
// none.
func (p *Person) PressesHome(label string) *Delivery {
	s := p.server
	s.mu.Lock()
	var shown wireView
	if home := s.homes[p.ID]; home != nil {
		if err := json.Unmarshal(home, &shown); err != nil {
			panic("slacktest: kept a home tab that can't be read: " + err.Error())
		}
	}
	does, ok := findButton(shown.Blocks, label)
	if !ok {
		s.mu.Unlock()
		return nil
	}
	payload := p.newInteraction("block_actions", "")
	does.ActionTS = fmt.Sprintf("%d.000000", s.clock.Now().Unix())
	payload.Actions = []action{does}
	payload.Container = &container{Type: "view", ViewID: "V" + p.ID}
	s.mu.Unlock()
	return s.deliverInteraction(payload)
}

// PressesOld presses a button as it was on a message before it changed.
func (p *Person) PressesOld(old Message, label string) *Delivery {
	does, ok := findButton(old.Blocks, label)
	if !ok {
		return nil
	}
	p.server.mu.Lock()
	payload := p.newPress(&old, does)
	p.server.mu.Unlock()
	return p.server.deliverInteraction(payload)
}

func (p *Person) newPress(message *Message, does action) interaction {
	s := p.server
	payload := p.newInteraction("block_actions", "")
	does.ActionTS = fmt.Sprintf("%d.000000", s.clock.Now().Unix())
	payload.Actions = []action{does}
	payload.Container = &container{"message", message.TS, message.Channel, message.Only != "", message.ThreadTS, ""}
	payload.Channel = &named{message.Channel, s.channels[message.Channel].Name}
	payload.ResponseURL = s.newResponseURL(responseURL{channel: message.Channel, thread: message.ThreadTS, user: p.ID, message: message.TS})
	if message.Only == "" { // the payload of a press on an ephemeral message has none
		told := s.messageToWire(message, false)
		payload.Message = &told
	}
	return payload
}

// findButton finds the button with a label among a message's blocks.
func findButton(blocks json.RawMessage, label string) (action, bool) {
	for _, block := range parseBlocks(blocks) {
		elements := block.Elements
		if block.Accessory != nil {
			elements = append(elements, *block.Accessory)
		}
		for _, element := range elements {
			for _, choice := range []*shownButton{element.Positive, element.Negative} {
				if choice != nil && choice.Text.Text == label {
					return action{Type: element.Type, ActionID: element.ActionID, BlockID: block.BlockID, Text: choice.Text, Value: choice.Value}, true
				}
			}
			for _, choice := range element.Options {
				if element.Type == "overflow" && choice.Text != nil && choice.Text.Text == label {
					return action{Type: element.Type, ActionID: element.ActionID, BlockID: block.BlockID, Selected: &choice}, true
				}
			}
			if says, ok := element.buttonLabel(); ok && says == label {
				return action{Type: element.Type, ActionID: element.ActionID, BlockID: block.BlockID, Text: &text{Type: "plain_text", Text: label}, Value: element.Value}, true
			}
		}
	}
	return action{}, false
}

// Shortcut is a person who takes a message shortcut on a message.
func (p *Person) Shortcut(callbackID, channelID, ts string) *Delivery {
	s := p.server
	s.mu.Lock()
	message := s.findMessage(channelID, ts)
	payload := p.newInteraction("message_action", "")
	payload.CallbackID, payload.MessageTS = callbackID, ts
	payload.ActionTS = fmt.Sprintf("%d.000000", s.clock.Now().Unix())
	payload.Channel = &named{channelID, s.channels[channelID].Name}
	payload.ResponseURL = s.newResponseURL(responseURL{channel: channelID, thread: message.ThreadTS, user: p.ID})
	told := s.messageToWire(message, false)
	payload.Message = &told
	s.mu.Unlock()
	return s.deliverInteraction(payload)
}

// Submits sends a modal's form; inputs are values by block id. Each input has one
// element, which its action id is read from.
func (p *Person) Submits(view *View, inputs map[string]string) *Delivery {
	type value struct {
		Type  string `json:"type"`
		Value string `json:"value"`
	}
	state := map[string]map[string]value{}
	for _, block := range viewBlocks(view.JSON) {
		if given, ok := inputs[block.BlockID]; ok && block.Element != nil {
			state[block.BlockID] = map[string]value{block.Element.ActionID: {block.Element.Type, given}}
		}
	}
	s := p.server
	s.mu.Lock()
	payload := p.newInteraction("view_submission", view.ID)
	s.mu.Unlock()
	payload.View = mustJSON(struct {
		ID              string `json:"id"`
		Type            string `json:"type"`
		CallbackID      string `json:"callback_id"`
		PrivateMetadata string `json:"private_metadata"`
		Hash            string `json:"hash"`
		State           struct {
			Values map[string]map[string]value `json:"values"`
		} `json:"state"`
	}{view.ID, "modal", view.Callback, view.Private, view.Hash, struct {
		Values map[string]map[string]value `json:"values"`
	}{state}})
	return s.deliverInteraction(payload)
}

// Types writes into the text field of the channel's last message that has one which the
// person sees; nil where there is none.
func (p *Person) Types(channelID, text string) *Delivery {
	s := p.server
	s.mu.Lock()
	for i := len(s.messages) - 1; i >= 0; i-- {
		message := s.messages[i]
		if message.Channel != channelID || message.Deleted || message.Only != "" && message.Only != p.ID {
			continue
		}
		for _, block := range parseBlocks(message.Blocks) {
			if block.Type == "input" && block.Element != nil && block.Element.Type == "plain_text_input" {
				payload := p.newPress(message, action{Type: block.Element.Type, ActionID: block.Element.ActionID, BlockID: block.BlockID, Value: text})
				s.mu.Unlock()
				return s.deliverInteraction(payload)
			}
		}
	}
	s.mu.Unlock()
	return nil
}
