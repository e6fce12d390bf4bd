package slack

import (
	"context"
	"regexp"
	"strings"

	"github.com/cairn-bot/cairn/internal/chat/settings"
)

// adminSyntax is the command of those who manage a workspace: "/cairn admin mode thread".
var adminSyntax = settings.Syntax{Command: "/cairn admin", Space: "workspace", Askers: readAskers}

// called is how Slack writes people and user groups in a command: "<@U0123|ann>",
// "<!subteam^S0123|@legal>".
var called = regexp.MustCompile(`<(?:@|!subteam\^)([A-Z0-9]{2,20})(?:\|[^>]*)?>`)

// readAskers reads the people and user groups that a command names.
func readAskers(value string) []string {
	var ids []string
	for _, found := range called.FindAllStringSubmatch(value, settings.MaxAskers) {
		ids = append(ids, found[1])
	}
	return ids
}

// applySettings does what an admin asks for, and tells what holds then.
func (d dispatcher) applySettings(ctx context.Context, of signal, who person) ([]byte, error) {
	if len(of.wishes) == 0 {
		return privateAnswer(adminSyntax.Help())
	}
	channel := of.wishes[0].Channel
	done, err := d.adapter.control.Manage(ctx, terms, of.wishes, settings.Change{
		By: of.by, Space: settings.NewSpace(Name, of.place.team), Allowed: who.admin,
	}, settings.Setting{Mode: d.adapter.options.Listen(of.place.team, channel)})
	switch {
	case err != nil:
		return nil, err
	case done.Invalid:
		return privateAnswer(escapeText(done.Refusal) + "\n" + adminSyntax.Help())
	case done.Refusal != "":
		return privateAnswer(done.Refusal)
	}
	return privateAnswer(describeSetting(channel, done.Put, done.Holds))
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
