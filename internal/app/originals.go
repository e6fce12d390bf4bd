package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/bot"
	"github.com/cairn-bot/cairn/internal/config"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/graph/flows/page"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/repository/git"
)

// maxOriginal is how many bytes of a file that is to be corrected are read.
const maxOriginal = 4 << 20

// readOriginal reads the file of a document as its source has it; page.ErrNoOriginal for one that
// is no file of a folder or a repository, or a larger one.
func (l *Library) readOriginal(ctx context.Context, document knowledge.Document) (content []byte, err error) {
	configured, err := sources{l}.list()
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(configured, func(s config.Source) bool { return s.Name == string(document.Source) })
	name, ok := strings.CutPrefix(string(document.ID), string(document.Source)+":")
	if at < 0 || !ok {
		return nil, page.ErrNoOriginal
	}
	folder := configured[at].Path
	switch configured[at].Kind {
	case config.SourceGit:
		folder = git.FilesFolder(mirrorFolder(l.Config.DataDir, configured[at].Name))
	case config.SourceFiles:
	case config.SourceGitea:
		return mergeRequests{l}.read(ctx, configured[at], document.ID)
	default:
		return nil, page.ErrNoOriginal
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, fmt.Errorf("open source %s: %w", document.Source, err)
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	info, err := root.Stat(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && (!info.Mode().IsRegular() || info.Size() > maxOriginal) {
		return nil, page.ErrNoOriginal
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	file, err := root.Open(name)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	content, err = io.ReadAll(io.LimitReader(file, maxOriginal+1))
	if err == nil && len(content) > maxOriginal {
		return nil, page.ErrNoOriginal
	}
	return content, err
}

// findCorrections gives the flow that looks for corrections; nil where there are no pages.
func findCorrections(registered []flows.Flow) bot.Corrections {
	for _, flow := range registered {
		if corrections, ok := flow.(bot.Corrections); ok {
			return corrections
		}
	}
	return nil
}
