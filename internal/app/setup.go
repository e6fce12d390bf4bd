package app

import (
	"errors"
	"io"
	"log/slog"

	"github.com/cairn-bot/cairn/internal/config"
	"github.com/cairn-bot/cairn/internal/telemetry"
)

// Setup is what every part of Cairn is made with.
type Setup struct {
	Config config.Config
	Logger *slog.Logger
	// Stderr is what the log goes to, and the audit log where it has no file.
	Stderr          io.Writer
	Version, Commit string               // of the program
	Telemetry       *telemetry.Telemetry // nil: nothing is measured
}

// NewSetup makes a setup whose logger is the configured one, and which measures nothing.
func NewSetup(configured config.Config, stderr io.Writer) Setup {
	return Setup{Config: configured, Logger: NewLogger(configured.Log, stderr), Stderr: stderr}
}

// NewLogger makes the configured logger.
func NewLogger(configured config.Log, out io.Writer) *slog.Logger {
	options := &slog.HandlerOptions{Level: configured.Level}
	if configured.Format == config.LogJSON {
		return slog.New(telemetry.LogHandler(slog.NewJSONHandler(out, options)))
	}
	return slog.New(telemetry.LogHandler(slog.NewTextHandler(out, options)))
}

// closers close what was opened.
type closers []func() error

func (c *closers) add(closer func() error) { *c = append(*c, closer) }

// closeAll closes what was opened, the last first.
func (c *closers) closeAll() error {
	var errs []error
	for i := len(*c) - 1; i >= 0; i-- {
		errs = append(errs, (*c)[i]())
	}
	*c = nil
	return errors.Join(errs...)
}
