package app

import (
	"cmp"
	"context"
	"strings"

	"github.com/cairn-bot/cairn/internal/adapters/slack"
	"github.com/cairn-bot/cairn/internal/adapters/web"
	"github.com/cairn-bot/cairn/internal/audit"
	"github.com/cairn-bot/cairn/internal/chat/settings"
)

// auditor writes down what adapters tell of.
type auditor struct{ log audit.Log }

// settingChanged writes down changes of settings that people ask for in a platform.
func (w auditor) settingChanged(ctx context.Context, change settings.Change) error {
	outcome := audit.Of(change.Err)
	if !change.Allowed {
		outcome = audit.Refused
	}
	platform, id, _ := strings.Cut(string(change.Space), ":")
	space := "server"
	if platform == slack.Name {
		space = "workspace"
	}
	target := platform + " " + space + " " + id
	if change.Channel != "" {
		target += " channel " + change.Channel
	}
	return w.log.Record(ctx, audit.Entry{
		Actor: string(change.By), Action: audit.ChangeSetting, Target: target + ": " + string(change.Action), Outcome: outcome, From: platform,
	})
}

// slackChanged writes down which workspaces come and go.
func (w auditor) slackChanged(ctx context.Context, id slack.InstallID, installed bool, by string) error {
	action := audit.Uninstall
	if installed {
		action = audit.Install
	}
	if by == "" {
		by = "an administrator"
	}
	return w.log.Record(ctx, audit.Entry{Actor: by, Action: action, Target: "slack workspace " + string(id), Outcome: audit.Done, From: slack.Name})
}

// webSigned writes down who signs in to the web page, and out of it.
func (w auditor) webSigned(ctx context.Context, change web.SignInChange) error {
	action, outcome := audit.WebSignIn, audit.Done
	if change.Out {
		action = audit.WebSignOut
	}
	if change.Refused {
		outcome = audit.Refused
	}
	return w.log.Record(ctx, audit.Entry{Actor: cmp.Or(change.By, "unknown"), Action: action, Target: "web page", Outcome: outcome, From: change.From})
}
