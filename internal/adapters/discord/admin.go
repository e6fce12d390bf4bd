package discord

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"cairn/internal/chat"
	"cairn/internal/chat/markup"
	"cairn/internal/chat/rich"
)

// adminWish is what /cairn-admin was asked for.
type adminWish struct {
	does    string // the subcommand
	value   string
	channel string // "" for the whole server
}

func adminMeaning(found signal, options []commandOption) signal {
	if len(options) != 1 || found.at.guild == directly {
		return ignore("/cairn-admin without a subcommand, or outside a server")
	}
	found.kind = managed
	wish := adminWish{does: options[0].Name}
	for _, field := range options[0].Options {
		if field.Name == channelOption {
			wish.channel = field.text()
		} else {
			wish.value = field.text()
		}
	}
	if wish.channel != "" && !snowflake.MatchString(wish.channel) {
		return ignore("/cairn-admin about no channel")
	}
	found.interaction.admin = wish
	return found
}

// Bounds of a setting.
const (
	maxRoles       = 25
	maxCollections = 25
)

// applied gives a setting after a wish.
func (w adminWish) applied(to Setting) (Setting, error) {
	switch w.does {
	case "show":
	case "on":
		if to.Mode == "" || to.Mode == ModeOff {
			to.Mode = ModeMention
		}
	case "off":
		to.Mode = ModeOff
	case "reset":
		to = Setting{}
	case "mode":
		to.Mode = Mode(w.value)
	case "style":
		to.Style = ReplyStyle(w.value)
	case "collections":
		to.Collections = nil
		for _, name := range strings.Split(w.value, ",") {
			if name = strings.TrimPrefix(rich.Cut(markup.CleanLine(name), 100), "@"); name != "" && !slices.Contains(to.Collections, name) {
				to.Collections = append(to.Collections, name)
			}
		}
	case "roles":
		to.Roles = toggled(to.Roles, w.value)
	default:
		return Setting{}, fmt.Errorf("/cairn-admin knows no %q", w.does)
	}
	if len(to.Roles) > maxRoles || len(to.Collections) > maxCollections {
		return Setting{}, fmt.Errorf("at most %d roles and %d collections can be set", maxRoles, maxCollections)
	}
	return to, to.valid()
}

// toggled adds a role, or takes it away where it is there; "" takes all away.
func toggled(roles []string, role string) []string {
	switch at := slices.Index(roles, role); {
	case role == "":
		return nil
	case at >= 0:
		return slices.Delete(slices.Clone(roles), at, at+1)
	}
	return append(slices.Clone(roles), role)
}

// manage does what /cairn-admin asks for, and tells what holds then.
func (a *Adapter) manage(ctx context.Context, of signal) (string, error) {
	wish := of.interaction.admin
	change := Change{By: of.by, Guild: of.at.guild, Channel: wish.channel, Does: wish.does, Allowed: of.interaction.mayManage}
	if !change.Allowed {
		return "Nothing was changed: that takes the permission Manage Server.", a.changed(ctx, change)
	}
	now, err := a.options.Settings.Get(ctx, of.at.guild, wish.channel)
	if err != nil {
		return "", fmt.Errorf("read the settings of a Discord server: %w", err)
	}
	set, err := wish.applied(now)
	if err != nil {
		return "Nothing was changed: " + escape(err.Error(), false) + ".", nil
	}
	if wish.does != "show" {
		change.Err = a.options.Settings.Put(ctx, of.at.guild, wish.channel, set)
		a.settled.forget()
		if err := errors.Join(change.Err, a.changed(ctx, change)); err != nil {
			return "", fmt.Errorf("keep the settings of a Discord server: %w", err)
		}
	}
	holds, err := a.setting(ctx, of.at.guild, wish.channel)
	if err != nil {
		return "", err
	}
	return describe(wish.channel, set, holds), nil
}

// Change is what somebody asked for with /cairn-admin that would change a setting.
type Change struct {
	By             chat.UserID
	Guild, Channel string // Channel is "" for the whole server
	Does           string // the subcommand: "mode"
	Allowed        bool   // the person may change settings of the server
	Err            error  // why it could not be kept
}

// changed tells of what somebody asked for.
func (a *Adapter) changed(ctx context.Context, change Change) error {
	if a.options.Changed == nil || change.Does == "show" {
		return nil
	}
	return a.options.Changed(ctx, change)
}

// describe tells a setting in words.
func describe(channel string, set, holds Setting) string {
	head := "**In this server**"
	if channel != "" {
		head = "**In <#" + channel + ">**"
	}
	state := "on"
	if holds.Mode == ModeOff {
		state = "off"
	}
	inherited := func(is bool) string {
		if is {
			return ""
		}
		return " (as set around it)"
	}
	collections, roles := "all", "everybody"
	if len(holds.Collections) > 0 {
		collections = escape(rich.Cut(strings.Join(holds.Collections, ", "), 500), false)
	}
	if len(holds.Roles) > 0 {
		roles = "<@&" + strings.Join(holds.Roles, "> <@&") + ">"
	}
	return strings.Join([]string{
		head,
		"- Cairn is " + state,
		"- it answers: " + string(holds.Mode) + inherited(set.Mode != ""),
		"- mentions are answered in: " + string(holds.Style) + inherited(set.Style != ""),
		"- collections that I answer from: " + collections + inherited(len(set.Collections) > 0),
		"- who may ask: " + roles + inherited(len(set.Roles) > 0),
	}, "\n")
}
