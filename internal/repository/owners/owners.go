// Package owners tells who owns the files of a repository, as its CODEOWNERS has it.
package owners

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/hairyhenderson/go-codeowners"
)

// places are where CODEOWNERS may stand, the first one that there is counts.
var places = []string{".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS", ".gitlab/CODEOWNERS"}

// MaxFile is how many bytes CODEOWNERS may have.
const MaxFile = 1 << 20

// Bounds of CODEOWNERS: each pattern is tried on each file.
const (
	maxRules = 5000
	maxLine  = 1000 // bytes
)

// Owners are the owners of a repository's files. A nil one knows none.
type Owners struct {
	rules *codeowners.Codeowners
}

// Read reads the CODEOWNERS of a repository; nil where it has none. read gives a file by its path
// in the repository; its error for one that is not there is fs.ErrNotExist.
func Read(read func(name string) ([]byte, error)) (*Owners, error) {
	for _, name := range places {
		text, err := read(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		return parse(name, string(text))
	}
	return nil, nil
}

// Of returns the owners of a file, as they are written: "@team", "ann@example.com".
func (o *Owners) Of(name string) []string {
	if o == nil {
		return nil
	}
	return o.rules.Owners(name)
}

func parse(name, text string) (*Owners, error) {
	if len(text) > MaxFile {
		return nil, fmt.Errorf("%s is larger than %d bytes: shorten it", name, MaxFile)
	}
	rules := 0
	var kept strings.Builder
	for line := range strings.Lines(text) {
		if _, err := codeowners.FromReader(strings.NewReader(line), ""); err != nil || len(line) > maxLine {
			continue // no pattern that a person meant
		}
		if rules++; rules > maxRules {
			return nil, fmt.Errorf("%s has more than %d lines: shorten it", name, maxRules)
		}
		kept.WriteString(line)
	}
	owners, err := codeowners.FromReader(strings.NewReader(kept.String()), "")
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return &Owners{owners}, nil
}
