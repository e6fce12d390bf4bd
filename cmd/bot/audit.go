package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"path/filepath"
	"strings"

	"cairn/internal/adapters/slack"
	"cairn/internal/adapters/web"
	"cairn/internal/audit"
	"cairn/internal/chat/settings"
)

// audit gives what actions on Cairn itself are written down in. It is opened once, while
// the program is wired.
func (a *app) audit() (audit.Log, error) {
	if a.audited != nil {
		return a.audited, nil
	}
	opened, err := audit.Open(a.stderr, a.config.Audit.File)
	if err != nil {
		return nil, err
	}
	a.closers = append(a.closers, opened.Close)
	a.audited = opened
	return opened, nil
}

// auditFileName is the audit log of commands in the data directory, where audit.file names
// none.
const auditFileName = "audit.jsonl"

// atTerminal does what somebody asked for on the command line, and writes it into the audit
// log's file, not onto their terminal.
func (a *app) atTerminal(ctx context.Context, action audit.Action, target string, do func() error) error {
	log, err := audit.Open(io.Discard, cmp.Or(a.config.Audit.File, filepath.Join(a.config.DataDir, auditFileName)))
	if err != nil {
		return err
	}
	failed := do()
	return errors.Join(failed, log.Record(context.WithoutCancel(ctx), audit.Entry{
		Actor: machineUser(), Action: action, Target: target, Outcome: audit.Of(failed), From: "terminal",
	}), log.Close())
}

// machineUser is who runs the program, as the machine knows them: in a container there is
// mostly no name for the number.
func machineUser() string {
	if known, err := user.Current(); err == nil {
		return known.Username
	}
	return fmt.Sprint("uid ", os.Getuid())
}

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
