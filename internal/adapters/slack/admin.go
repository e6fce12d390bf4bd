package slack

import (
	"context"
	"errors"
	"regexp"
	"strings"

	"cairn/internal/chat/settings"
)

// adminWord begins the commands of those who manage a workspace: "/cairn admin mode thread".
const adminWord = "admin"

// adminHelp tells how the command is used.
const adminHelp = "Use: `/cairn admin show`, `on`, `off`, `mode mention|thread|questions|off`, `collections NAME, NAME`, " +
	"`askers @person @group`, `reset`; with `workspace` at the end for the whole workspace, else for this channel."

var (
	adminActions = map[string]settings.Action{
		"": settings.Show, "show": settings.Show, "on": settings.TurnOn, "off": settings.TurnOff, "reset": settings.Reset,
		"mode": settings.SetMode, "collections": settings.SetCollections, "askers": settings.ToggleAsker,
	}
	// called is how Slack writes people and user groups in a command: "<@U0123|ann>",
	// "<!subteam^S0123|@legal>".
	called = regexp.MustCompile(`<(?:@|!subteam\^)([A-Z0-9]{2,20})(?:\|[^>]*)?>`)
)

// adminWishes reads a command as it was typed; false for one that is none of an admin's. Several
// wishes are those for several askers.
func adminWishes(text, channel string) (wishes []settings.Wish, ok bool) {
	words := strings.Fields(text)
	if len(words) == 0 || !strings.EqualFold(words[0], adminWord) {
		return nil, false
	}
	words = words[1:]
	if n := len(words); n > 0 && strings.EqualFold(words[n-1], "workspace") {
		channel, words = "", words[:n-1]
	}
	does, value := "", ""
	if len(words) > 0 {
		does, value = strings.ToLower(words[0]), strings.Join(words[1:], " ")
	}
	action, known := adminActions[does]
	if !known {
		return nil, true
	}
	wish := settings.Wish{Action: action, Value: unescaper.Replace(value), Channel: channel}
	if action != settings.ToggleAsker || value == "" {
		return []settings.Wish{wish}, true
	}
	for _, found := range called.FindAllStringSubmatch(value, settings.MaxAskers) {
		wish.Value = found[1]
		wishes = append(wishes, wish)
	}
	return wishes, true
}

// applySettings does what an admin asks for, and tells what holds then.
func (a *Adapter) applySettings(ctx context.Context, of signal, who person) ([]byte, error) {
	if len(of.wishes) == 0 {
		return privateAnswer(adminHelp)
	}
	change := settings.Change{By: of.by, Space: settings.NewSpace(Name, of.place.team), Channel: of.wishes[0].Channel, Action: of.wishes[0].Action, Allowed: who.admin}
	if !who.admin {
		if a.options.Changed != nil && change.Action != settings.Show {
			if err := a.options.Changed(ctx, change); err != nil {
				return nil, err
			}
		}
		return privateAnswer("Nothing was changed: that takes an admin of the workspace.")
	}
	standard := settings.Setting{Mode: a.options.Listen(of.place.team, change.Channel)}
	var put, holds settings.Setting
	for _, wish := range of.wishes {
		var err error
		put, holds, err = a.settings.Manage(ctx, wish, change, standard, a.options.Changed)
		if errors.Is(err, settings.ErrInvalid) {
			return privateAnswer("Nothing was changed: " + escapeText(err.Error()) + ".\n" + adminHelp)
		}
		if err != nil {
			return nil, err
		}
	}
	return privateAnswer(describeSetting(change.Channel, put, holds))
}

// describeSetting tells a setting in words.
func describeSetting(channel string, put, holds settings.Setting) string {
	head := "*In this workspace*"
	if channel != "" {
		head = "*In <#" + channel + ">*"
	}
	told := settings.Description{Put: put, Holds: holds, Escape: escapeText, Asker: func(id string) string {
		if strings.HasPrefix(id, "S") {
			return "<!subteam^" + id + ">"
		}
		return "<@" + id + ">"
	}}
	return head + "\n• " + strings.Join(told.Lines(), "\n• ")
}
