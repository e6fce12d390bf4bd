package git

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/hairyhenderson/go-codeowners"
)

// ownersFiles are the places of CODEOWNERS, the first one that there is counts.
var ownersFiles = []string{".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS", ".gitlab/CODEOWNERS"}

// Bounds of CODEOWNERS: each pattern is tried on each file.
const (
	maxOwnersFile = 1 << 20 // bytes
	maxOwnersRule = 5000
	maxOwnersLine = 1000 // bytes
)

// readOwners reads the CODEOWNERS of a checkout; nil where it has none. One that can't be read is
// an error of the sync: documents must not lose their owners for it.
func readOwners(folder string) (owners *codeowners.Codeowners, err error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, fmt.Errorf("read CODEOWNERS: %w", err)
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	for _, name := range ownersFiles {
		file, err := root.Open(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		text, err := io.ReadAll(io.LimitReader(file, maxOwnersFile+1))
		if err := errors.Join(err, file.Close()); err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		return parseOwners(name, string(text))
	}
	return nil, nil
}

func parseOwners(name, text string) (*codeowners.Codeowners, error) {
	if len(text) > maxOwnersFile {
		return nil, fmt.Errorf("%s is larger than %d bytes: shorten it", name, maxOwnersFile)
	}
	rules := 0
	var kept strings.Builder
	for line := range strings.Lines(text) {
		if _, err := codeowners.FromReader(strings.NewReader(line), ""); err != nil || len(line) > maxOwnersLine {
			continue // no pattern that a person meant
		}
		if rules++; rules > maxOwnersRule {
			return nil, fmt.Errorf("%s has more than %d lines: shorten it", name, maxOwnersRule)
		}
		kept.WriteString(line)
	}
	owners, err := codeowners.FromReader(strings.NewReader(kept.String()), "")
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return owners, nil
}
