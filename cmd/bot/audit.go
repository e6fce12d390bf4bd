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

	"github.com/cairn-bot/cairn/internal/app"
	"github.com/cairn-bot/cairn/internal/audit"
	"github.com/cairn-bot/cairn/internal/config"
)

// recordAction does what somebody asked for on the command line, and writes it into the audit
// log's file, not onto their terminal.
func recordAction(ctx context.Context, configured config.Config, entry audit.Entry, do func() error) error {
	log, err := audit.Open(io.Discard, cmp.Or(configured.Audit.File, filepath.Join(configured.DataDir, app.AuditFile)))
	if err != nil {
		return err
	}
	failed := do()
	entry.Actor, entry.Outcome, entry.From = machineUser(), audit.Of(failed), "terminal"
	return errors.Join(failed, log.Record(context.WithoutCancel(ctx), entry), log.Close())
}

// machineUser is who runs the program, as the machine knows them: in a container there is
// mostly no name for the number.
func machineUser() string {
	if known, err := user.Current(); err == nil {
		return known.Username
	}
	return fmt.Sprint("uid ", os.Getuid())
}
