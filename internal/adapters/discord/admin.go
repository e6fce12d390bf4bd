package discord

import (
	"context"
	"strings"

	"github.com/cairn-bot/cairn/internal/chat/settings"
)

// adminActions are the settings that subcommands of /cairn-admin change.
var adminActions = map[string]settings.Action{
	"show": settings.Show, "on": settings.TurnOn, "off": settings.TurnOff, "reset": settings.Reset, "mode": settings.SetMode,
	"style": settings.SetStyle, "collections": settings.SetCollections, "roles": settings.ToggleAsker,
}

func adminMeaning(found signal, options []commandOption) signal {
	if len(options) != 1 || found.at.guild == directGuild {
		return ignoredSignal("/cairn-admin without a subcommand, or outside a server")
	}
	found.kind = kindManaged
	wish := settings.Wish{Action: adminActions[options[0].Name]}
	for _, field := range options[0].Options {
		if field.Name == channelOption {
			wish.Channel = field.textValue()
		} else {
			wish.Value = field.textValue()
		}
	}
	switch {
	case wish.Action == "":
		return ignoredSignal("/cairn-admin with a subcommand that there is none of")
	case wish.Channel != "" && !snowflake.MatchString(wish.Channel):
		return ignoredSignal("/cairn-admin about no channel")
	}
	found.interaction.admin = wish
	return found
}

// applySettings does what /cairn-admin asks for, and tells what holds then.
func (d dispatcher) applySettings(ctx context.Context, of signal) (string, error) {
	wish := of.interaction.admin
	done, err := d.adapter.control.Manage(ctx, terms, []settings.Wish{wish}, settings.Change{
		By: of.by, Space: settings.NewSpace(Name, of.at.guild), Allowed: of.interaction.mayManage,
	}, d.adapter.standardSetting(of.at.guild, wish.Channel))
	if err != nil || done.Refusal != "" {
		return escapeText(done.Refusal, false), err
	}
	return describeSetting(wish.Channel, done.Put, done.Holds), nil
}

// describeSetting tells a setting in words.
func describeSetting(channel string, put, holds settings.Setting) string {
	head := "**In this server**"
	if channel != "" {
		head = "**In <#" + channel + ">**"
	}
	told := settings.Description{
		Put: put, Holds: holds, Styles: true, Escape: func(text string) string { return escapeText(text, false) },
		Asker: func(role string) string { return "<@&" + role + ">" },
	}
	return head + "\n- " + strings.Join(told.Lines(), "\n- ")
}
