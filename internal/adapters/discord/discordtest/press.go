package discordtest

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Press presses the button with a label or a custom id, or else chooses what is called so in
// a menu.
func (s *Server) Press(person, messageID, button string) *Interaction {
	var is *Interaction
	s.withLock(func() {
		said, found := s.findComponent(person, messageID, func(one component) bool {
			return one.Type == componentButton && one.Style != buttonLink && (one.Label == button || one.CustomID == button)
		})
		if found == nil {
			var value string
			said, found = s.findComponent(person, messageID, func(one component) bool {
				at := slices.IndexFunc(one.Options, func(o selectOption) bool { return o.Label == button })
				if one.Type != componentSelect || at < 0 {
					return false
				}
				value = one.Options[at].Value
				return true
			})
			if found != nil {
				is = s.newInteraction(kindComponent, person, said.Channel, mustJSON(componentData{found.ID, found.CustomID, componentSelect, []string{value}}), said)
				return
			}
			panic(fmt.Sprintf("discordtest: the message %s shows no button %q that can be pressed", messageID, button))
		}
		is = s.newInteraction(kindComponent, person, said.Channel, mustJSON(componentData{ID: found.ID, CustomID: found.CustomID, Type: componentButton}), said)
	})
	return s.deliverInteraction(is)
}

// PressAgain is a press once more, by somebody whose screen does not show yet what came of it.
func (s *Server) PressAgain(pressed *Interaction) *Interaction {
	var told struct {
		Data json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(pressed.Payload, &told); err != nil {
		panic("discordtest: kept an interaction that can't be read: " + err.Error())
	}
	var is *Interaction
	s.withLock(func() { is = s.newInteraction(kindComponent, pressed.Person, pressed.Channel, told.Data, pressed.at) })
	return s.deliverInteraction(is)
}

// componentData is what a component's interaction says.
type componentData struct {
	ID       int      `json:"id"`
	CustomID string   `json:"custom_id"`
	Type     int      `json:"component_type"`
	Values   []string `json:"values,omitempty"`
}

// Select picks values, or options by their labels, from the first menu that has all of
// them.
func (s *Server) Select(person, messageID string, picked ...string) *Interaction {
	var is *Interaction
	s.withLock(func() {
		var values []string
		said, found := s.findComponent(person, messageID, func(one component) bool {
			values = nil
			for _, pick := range picked {
				at := slices.IndexFunc(one.Options, func(o selectOption) bool { return o.Value == pick || o.Label == pick })
				if one.Type != componentSelect || at < 0 {
					return false
				}
				values = append(values, one.Options[at].Value)
			}
			return one.Type == componentSelect
		})
		if found == nil {
			panic(fmt.Sprintf("discordtest: the message %s shows no menu with %q that can be used", messageID, picked))
		}
		is = s.newInteraction(kindComponent, person, said.Channel, mustJSON(componentData{found.ID, found.CustomID, componentSelect, values}), said)
	})
	return s.deliverInteraction(is)
}

// findComponent returns a component of a message that the person sees and can use; nil where there
// is none.
func (s *Server) findComponent(person, messageID string, wanted func(component) bool) (*message, *component) {
	said := s.findMessage("", messageID)
	if said == nil || said.Only != "" && said.Only != person {
		return nil, nil
	}
	var found *component
	eachComponent(decodeComponents(said.Components), nil, func(one component, _ []string) {
		if found == nil && !one.Disabled && wanted(one) {
			found = &one
		}
	})
	return said, found
}

// modalField is a component of a submitted modal.
type modalField struct {
	Type       int          `json:"type"`
	ID         int          `json:"id"`
	CustomID   string       `json:"custom_id,omitempty"`
	Value      *string      `json:"value,omitempty"`
	Values     []string     `json:"values,omitempty"`
	Components []modalField `json:"components,omitempty"`
	Component  *modalField  `json:"component,omitempty"`
}

// Submit sends a modal with values by custom id.
func (s *Server) Submit(modal *Modal, values map[string]string) *Interaction {
	var is *Interaction
	s.withLock(func() {
		left := len(values)
		fields := fillFields(decodeComponents(modal.Components), values, &left)
		if left > 0 {
			panic(fmt.Sprintf("discordtest: the modal %q lacks some of the fields %v", modal.CustomID, values))
		}
		opener := modal.opened
		is = s.newInteraction(kindModal, opener.Person, opener.Channel, mustJSON(struct {
			CustomID   string       `json:"custom_id"`
			Components []modalField `json:"components"`
		}{modal.CustomID, fields}), opener.at)
	})
	return s.deliverInteraction(is)
}

// fillFields returns the fields of a modal with what was typed, counting those that were found.
func fillFields(list []component, values map[string]string, left *int) []modalField {
	var fields []modalField
	for i, one := range list {
		field := modalField{Type: one.Type, ID: i + 1, CustomID: one.CustomID}
		value, ok := values[one.CustomID]
		if ok {
			*left--
		} else {
			value = one.Value
		}
		switch one.Type {
		case componentTextInput:
			field.Value = &value
			checkTyped(one, value)
		case componentSelect:
			field.Values = []string{value}
		}
		field.Components = fillFields(one.Components, values, left)
		if one.Component != nil {
			field.Component = &fillFields([]component{*one.Component}, values, left)[0]
		}
		fields = append(fields, field)
	}
	return fields
}

// checkTyped panics for what Discord would not let anybody type.
func checkTyped(field component, value string) {
	required := field.Required == nil || *field.Required
	switch {
	case value == "" && required,
		value != "" && field.MinLength != nil && Length(value) < *field.MinLength,
		field.MaxLength != nil && Length(value) > *field.MaxLength:
		panic(fmt.Sprintf("discordtest: the field %q does not take %q", field.CustomID, value))
	}
}
