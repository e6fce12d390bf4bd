package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/cairn-bot/cairn/internal/adapters/discord"
	"github.com/cairn-bot/cairn/internal/adapters/slack"
	"github.com/cairn-bot/cairn/internal/app"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/config"
	"github.com/cairn-bot/cairn/internal/knowledge/parse/ocr"
)

// littleSpace is how much of a disk is too little to go on with for long.
const littleSpace = 500 << 20

// checkMachine looks at the folders and files that are configured.
func checkMachine(ctx context.Context, configured config.Config) []finding {
	found := checkDataDir(configured.DataDir)
	for _, source := range configured.Sources {
		if source.Kind == config.SourceConversation {
			found = append(found, checkChannel(configured, source))
			continue
		}
		if source.Kind == config.SourceMCP {
			found = append(found, checkMCP(source))
			continue
		}
		found = append(found, checkSource(source, configured.Webhooks.Listen))
	}
	found = append(found, checkRecognizer(ctx, configured))
	if len(configured.Inspect.Pages) > 0 {
		found = append(found, checkBrowser(ctx, configured.Inspect))
	}
	for _, folder := range configured.Flows.Folders {
		found = append(found, checkFolder("folder for flows", folder, "correct flows.folders, or let Cairn's user read it"))
	}
	for _, file := range configured.SecretFiles() {
		found = append(found, checkSecretFile(file))
	}
	if configured.Audit.File != "" {
		found = append(found, checkAuditFile(configured.Audit.File))
	}
	return found
}

// checkSource checks a source as far as that goes without asking its place; the last sync tells the
// rest. hooks is where webhooks are received.
func checkSource(source config.Source, hooks string) finding {
	what := "source " + source.Name
	if source.Kind == config.SourceFiles {
		return checkFolder(what, source.Path, "correct its path, or let Cairn's user read it")
	}
	found := finding{What: what, Told: fmt.Sprintf("%s %s", source.Kind, source.Place())}
	switch every := source.Interval(); {
	case source.IsPaused():
		found.Told += ", paused"
	case every > 0:
		found.Told += ", every " + every.String()
	default:
		found.Told += ", read by hand"
	}
	if !source.WebhookKey.Secret.IsZero() && hooks == "" {
		found.Problem, found.Minor = errors.New("its webhook is not received"), true
		found.Remedy = "set webhooks.listen to an address that the forge reaches (see docs/sources.md)"
	}
	if source.Kind.IsForge() && source.Key.Secret.IsZero() {
		found.Problem, found.Minor = errors.New("it has no token: public repositories alone are read, and few requests are allowed"), true
		found.Remedy = "make a token that may read, and name it with key_env or key_file"
	}
	if source.Kind.IsAtlassian() && source.Key.Secret.IsZero() {
		found.Problem = errors.New("it has no token")
		found.Remedy = "make an API token, and name EMAIL:TOKEN with key_env or key_file (see docs/sources.md)"
	}
	if source.Kind == config.SourceNotion && source.Key.Secret.IsZero() {
		found.Problem = errors.New("it has no token")
		found.Remedy = "make an integration, and name its secret with key_env or key_file (see docs/sources.md)"
	}
	if source.Kind == config.SourceDrive && source.Key.Secret.IsZero() {
		found.Problem = errors.New("it has no key of a service account")
		found.Remedy = "make a service account, and name the file of its JSON key with key_file (see docs/sources.md)"
	}
	return found
}

// checkChannel looks whether the platform of a channel that is a source is on. Whether the channel can
// be read is told by its last reading.
func checkChannel(configured config.Config, source config.Source) finding {
	one := finding{What: "source " + source.Name, Told: source.Channel}
	adapter, _, _ := chat.ChannelID(source.Channel).Split()
	switch {
	case adapter == slack.Name && configured.Slack.Mode == config.SlackOff:
		one.Problem, one.Remedy = errors.New("its platform, Slack, is off"), "set slack.mode (see docs/slack.md), or remove the source"
	case adapter == discord.Name && configured.Discord.Mode == config.DiscordOff:
		one.Problem, one.Remedy = errors.New("its platform, Discord, is off"), "set discord.mode (see docs/discord.md), or remove the source"
	case adapter == discord.Name && !configured.Discord.MessageContent:
		one.Problem, one.Remedy = errors.New("the words of messages on Discord are not sent"), "turn the MESSAGE CONTENT intent on at discord.com/developers → your app → Bot, and set discord.message_content"
	}
	return one
}

// checkMCP looks whether the program of an MCP server is there. Whether it answers is told by its last
// reading.
func checkMCP(source config.Source) finding {
	one := finding{What: "source " + source.Name, Told: source.Place()}
	if len(source.Tools) > 0 {
		one.Told += ", tools asked with each question: " + strings.Join(source.Tools, ", ")
	}
	if len(source.Command) > 0 {
		if _, err := exec.LookPath(source.Command[0]); err != nil {
			one.Problem, one.Remedy = err, "install the program, or correct the source's command"
		}
	}
	return one
}

// checkBrowser starts what looks at web pages, or connects to it.
func checkBrowser(ctx context.Context, configured config.Inspect) finding {
	version, err := app.CheckBrowser(ctx, configured)
	return finding{
		What: "Chromium", Told: version, Problem: err,
		Remedy: "install Chromium or name it in inspect.chromium; in a container run one beside Cairn and name it in inspect.chromium_url (see docs/kubernetes.md)",
	}
}

// checkRecognizer looks for what reads screenshots and scans. Without it Cairn works, unless a source
// has pictures.
func checkRecognizer(ctx context.Context, configured config.Config) finding {
	found := finding{What: "text in pictures"}
	languages, err := app.NewRecognizer(configured.OCR).Find(ctx)
	hasPictures := slices.ContainsFunc(configured.Sources, func(s config.Source) bool { return s.Pictures })
	switch {
	case err == nil:
		found.Told = "read by tesseract, in " + languages
	case errors.Is(err, ocr.ErrNotInstalled) && !hasPictures && configured.OCR.Tesseract == "":
		found.Told = "not read: tesseract is not installed"
	default:
		found.Problem, found.Minor = err, true
		found.Remedy = "install tesseract (Debian: apt-get install tesseract-ocr), or correct ocr.tesseract and ocr.languages"
	}
	return found
}

// checkDataDir checks that the data directory can be written, by nobody else, and has room.
func checkDataDir(dir string) []finding {
	found := finding{What: "data directory", Told: dir}
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		found.Problem, found.Remedy = fmt.Errorf("%s is not there yet", dir), "`cairn ingest FOLDER` makes it; or set data_dir"
		found.Minor = true
		return []finding{found}
	}
	if err == nil {
		err = tryToWrite(dir)
	}
	if err != nil {
		found.Problem, found.Remedy = err, "let the user that Cairn runs as write to "+dir+", or set data_dir"
		return []finding{found}
	}
	if info.Mode().Perm()&0o007 != 0 {
		found.Problem, found.Remedy, found.Minor = fmt.Errorf("%s is open to all users of the machine", dir), "chmod 700 "+dir, true
	}
	return append([]finding{found}, checkSpace(dir)...)
}

// tryToWrite makes a file and takes it away.
func tryToWrite(dir string) error {
	file, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		return err
	}
	return errors.Join(file.Close(), os.Remove(file.Name()))
}

func checkSpace(dir string) []finding {
	free, known, err := freeSpace(dir)
	switch {
	case err != nil:
		return []finding{{What: "disk space", Problem: err, Remedy: "look into the disk that " + dir + " is on"}}
	case !known:
		return nil
	case free < littleSpace:
		return []finding{{What: "disk space", Problem: fmt.Errorf("%s left where %s is", humanize.IBytes(free), dir), Remedy: "make room: what people say and what is read is lost where the disk is full"}}
	}
	return []finding{{What: "disk space", Told: humanize.IBytes(free) + " left"}}
}

// checkFolder checks that a folder can be read, and is not empty.
func checkFolder(what, path, remedy string) finding {
	entries, err := os.ReadDir(path)
	switch {
	case err != nil:
		return finding{What: what, Problem: err, Remedy: remedy}
	case len(entries) == 0:
		return finding{What: what, Problem: fmt.Errorf("%s is empty", path), Remedy: remedy, Minor: true}
	}
	return finding{What: what, Told: path}
}

// checkSecretFile checks who may read and write a file with a secret. That others of the
// machine may read it is minor: so it is where Kubernetes mounts secrets.
func checkSecretFile(file config.SecretFile) finding {
	found := finding{What: "file of " + file.Key, Told: file.Path}
	info, err := os.Stat(file.Path)
	if err != nil {
		found.Problem, found.Remedy = err, "correct "+file.Key
		return found
	}
	switch mode := info.Mode().Perm(); {
	case mode&0o022 != 0:
		found.Problem = fmt.Errorf("others may write it (mode %o)", mode)
	case mode&0o004 != 0:
		found.Problem, found.Minor = fmt.Errorf("all users of the machine may read it (mode %o)", mode), true
	default:
		return found
	}
	found.Remedy = "chmod 600 " + file.Path + ", or in Kubernetes set the volume's defaultMode to 0400"
	return found
}

// checkAuditFile checks that the audit log can be written, and that others can't.
func checkAuditFile(path string) finding {
	found := finding{What: "audit log", Told: path}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = tryToWrite(filepath.Dir(path))
	case err == nil:
		var file *os.File
		if file, err = os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0); err == nil {
			err = file.Close()
		}
		if err == nil && info.Mode().Perm()&0o022 != 0 {
			err = fmt.Errorf("others may write it (mode %o)", info.Mode().Perm())
		}
	}
	if err != nil {
		found.Problem, found.Remedy = err, "let Cairn's user alone write there, or set audit.file to another path"
	}
	return found
}

// checkAddresses tries the addresses that a running Cairn listens at.
func checkAddresses(ctx context.Context, configured config.Config) []finding {
	var found []finding
	for _, at := range []struct {
		setting, address string
		used             bool
	}{
		{"web.listen", configured.Web.Listen, true},
		{"slack.listen", configured.Slack.Listen, configured.Slack.Mode == config.SlackHTTP || configured.Slack.Many()},
		{"discord.listen", configured.Discord.Listen, configured.Discord.Mode == config.DiscordHTTP},
		{"telemetry.listen", configured.Telemetry.Listen, configured.Telemetry.Listen != ""},
		{"telemetry.profile", configured.Telemetry.Profile, configured.Telemetry.Profile != ""},
		{"operations.listen", configured.Operations.Listen, configured.Operations.Listen != ""},
	} {
		if at.used {
			found = append(found, checkAddress(ctx, at.setting, at.address))
		}
	}
	if collector := configured.Telemetry.Traces; collector != "" {
		found = append(found, checkReach(ctx, "telemetry.traces", collector))
	}
	if issuer := configured.Operations.Issuer; issuer != "" {
		found = append(found, checkReach(ctx, "operations.oidc_issuer", issuer))
	}
	return found
}

// reachTime is how long a server may take to be connected to.
const reachTime = 5 * time.Second

// checkReach connects to the server of an address that a setting names.
func checkReach(ctx context.Context, setting, address string) finding {
	found := finding{What: setting, Told: "there is a server"}
	parsed, err := url.Parse(address)
	if err == nil {
		port := parsed.Port()
		if port == "" {
			port = parsed.Scheme
		}
		var connection net.Conn
		if connection, err = (&net.Dialer{Timeout: reachTime}).DialContext(ctx, "tcp", net.JoinHostPort(parsed.Hostname(), port)); err == nil {
			err = connection.Close()
		}
	}
	if err != nil {
		found.Problem, found.Remedy = err, "correct "+setting+", or start what should answer there"
	}
	return found
}

func checkAddress(ctx context.Context, setting, address string) finding {
	found := finding{What: setting, Told: address + " is free"}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		found.Told = address + " is in use: by a running `cairn serve`, if there is one on this machine"
	case err != nil:
		found.Problem, found.Remedy = err, "choose another address with "+setting
	default:
		if err := listener.Close(); err != nil {
			found.Problem, found.Remedy = err, "try again"
		}
	}
	return found
}
