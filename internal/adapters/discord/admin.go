package discord

import (
	"context"
	"strings"

	"cairn/internal/chat/settings"
)

// adminActions are the settings that subcommands of /cairn-admin change.
var adminActions = map[string]settings.Action{
	"show": settings.Show, "on": settings.TurnOn, "off": settings.TurnOff, "reset": settings.Reset, "mode": settings.SetMode,
	"style": settings.SetStyle, "collections": settings.SetCollections, "roles": settings.ToggleAsker,
}

func adminMeaning(found signal, options []commandOption) signal {
	if len(options) != 1 || found.at.guild == directly {
		return ignore("/cairn-admin without a subcommand, or outside a server")
	}
	found.kind = managed
	wish := settings.Wish{Action: adminActions[options[0].Name]}
	for _, field := range options[0].Options {
		if field.Name == channelOption {
			wish.Channel = field.text()
		} else {
			wish.Value = field.text()
		}
	}
	switch {
	case wish.Action == "":
		return ignore("/cairn-admin with a subcommand that there is none of")
	case wish.Channel != "" && !snowflake.MatchString(wish.Channel):
		return ignore("/cairn-admin about no channel")
	}
	found.interaction.admin = wish
	return found
}

// manage does what /cairn-admin asks for, and tells what holds then.
func (a *Adapter) manage(ctx context.Context, of signal) (string, error) {
	wish := of.interaction.admin
	done, err := a.control.Manage(ctx, terms, []settings.Wish{wish}, settings.Change{
		By: of.by, Space: settings.NewSpace(Name, of.at.guild), Allowed: of.interaction.mayManage,
	}, a.standard(of.at.guild, wish.Channel))
	if err != nil || done.Refusal != "" {
		return escape(done.Refusal, false), err
	}
	return describe(wish.Channel, done.Put, done.Holds), nil
}

// describe tells a setting in words.
func describe(channel string, put, holds settings.Setting) string {
	head := "**In this server**"
	if channel != "" {
		head = "**In <#" + channel + ">**"
	}
	told := settings.Description{
		Put: put, Holds: holds, Styles: true, Escape: func(text string) string { return escape(text, false) },
		Asker: func(role string) string { return "<@&" + role + ">" },
	}
	return head + "\n- " + strings.Join(told.Lines(), "\n- ")
}
