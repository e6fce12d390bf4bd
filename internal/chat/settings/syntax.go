package settings

import (
	"slices"
	"strings"
)

// Syntax is how settings are changed on a platform by a command that is typed as text.
type Syntax struct {
	Command string // "/cairn admin": its last word begins the text of the command
	Space   string // "workspace": stands at the end of a command that is about all channels
	// Askers reads the ids of people and groups that a command names.
	Askers func(value string) []string
}

// typedActions are the actions that are typed by their names.
var typedActions = []Action{Show, TurnOn, TurnOff, Reset, SetMode, SetCollections, ToggleAsker}

// Parse reads a command that was typed in a channel; false for text that is no command about
// settings. It gives no wishes for one that is not understood, and several for several askers.
func (s Syntax) Parse(text, channel string) (wishes []Wish, ok bool) {
	words := strings.Fields(text)
	command := s.Command[strings.LastIndex(s.Command, " ")+1:]
	if len(words) == 0 || !strings.EqualFold(words[0], command) {
		return nil, false
	}
	words = words[1:]
	if n := len(words); n > 0 && strings.EqualFold(words[n-1], s.Space) {
		channel, words = "", words[:n-1]
	}
	wish := Wish{Action: Show, Channel: channel}
	if len(words) > 0 {
		wish.Action, wish.Value = Action(strings.ToLower(words[0])), strings.Join(words[1:], " ")
	}
	if !slices.Contains(typedActions, wish.Action) {
		return nil, true
	}
	if wish.Action != ToggleAsker || wish.Value == "" {
		return []Wish{wish}, true
	}
	ids := s.Askers(wish.Value)
	for _, id := range ids[:min(len(ids), MaxAskers)] {
		wish.Value = id
		wishes = append(wishes, wish)
	}
	return wishes, true
}

// Help says how the command is typed.
func (s Syntax) Help() string {
	return "Use: `" + s.Command + " show`, `on`, `off`, `mode mention|thread|questions|off`, `collections NAME, NAME`, " +
		"`askers @person @group`, `reset`; with `" + s.Space + "` at the end for the whole " + s.Space + ", else for this channel."
}
