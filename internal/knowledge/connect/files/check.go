package files

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/cairn-bot/cairn/internal/knowledge"
)

// Check compares a file with what was read of it: by its time, and where that differs by its
// content.
func (c *Connector) Check(ctx context.Context, document knowledge.Document) (state knowledge.State, err error) {
	name, ok := strings.CutPrefix(string(document.ID), c.idPrefix())
	if !ok || strings.ContainsRune(name, utf8.RuneError) { // such a name is not that of the file
		return "", fmt.Errorf("check document %s: it is none of source %s", document.ID, c.options.Source)
	}
	place, err := c.openFolder()
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, place.root.Close()) }()
	info, err := place.root.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return knowledge.StateGone, nil
	case err != nil:
		return "", openError(err)
	case ctx.Err() != nil:
		return "", ctx.Err()
	case info.ModTime().UTC().Truncate(time.Microsecond).Equal(document.Modified.Truncate(time.Microsecond)):
		return knowledge.StateLive, nil
	}
	content, _, err := place.readFile(name)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(content)
	if strings.HasPrefix(document.Hash, hex.EncodeToString(sum[:])) {
		return knowledge.StateLive, nil
	}
	return knowledge.StateChanged, nil
}
