package webcode

import (
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// ownerFiles are where CODEOWNERS may stand; the first that is there counts.
var ownerFiles = []string{".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS", ".gitlab/CODEOWNERS"}

// findOwners gives the owners of a file: those of the last pattern that fits.
func (f *follower) findOwners(file string) []string {
	for _, name := range ownerFiles {
		if !f.checkout.Has(name) {
			continue
		}
		content, err := f.checkout.Read(name)
		if err != nil {
			f.trace.Problems = append(f.trace.Problems, err.Error())
			return nil
		}
		return ownersOf(string(content), file)
	}
	return nil
}

func ownersOf(codeOwners, file string) []string {
	var owners []string
	for line := range strings.Lines(codeOwners) {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) > 0 && matchOwned(words[0], file) {
			owners = words[1:]
		}
	}
	return owners
}

// matchOwned matches a pattern as CODEOWNERS has it: one with a slash but at its end is meant
// from the root, another at any depth, and a folder means all that is below.
func matchOwned(pattern, file string) bool {
	rooted := strings.Contains(strings.TrimSuffix(pattern, "/"), "/")
	folder := strings.HasSuffix(pattern, "/")
	pattern = strings.Trim(pattern, "/")
	if !rooted {
		pattern = "**/" + pattern
	}
	if !folder {
		if ok, err := doublestar.Match(pattern, file); ok && err == nil {
			return true
		}
		if last := pattern[strings.LastIndexByte(pattern, '/')+1:]; last == "*" {
			return false // what is directly in a folder
		}
	}
	ok, err := doublestar.Match(pattern+"/**", file)
	return ok && err == nil
}
