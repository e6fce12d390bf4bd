package manifest

import (
	"bytes"
	"errors"

	"github.com/pelletier/go-toml/v2"
)

// Bounds of how deep YAML and TOML may be nested. Their libraries read by recursion, and
// some take long over what no manifest looks like.
const (
	maxNesting = 64  // brackets and braces that are open at once
	maxMarks   = 64  // "- ", "? ", anchors, tags and dots of a line before its value
	maxIndent  = 400 // columns
)

var errDeep = errors.New("it is broken: it is nested too deeply")

// checkNesting refuses what is nested deeper than manifests are. It does not know strings and
// comments, and so may count brackets in them: few manifests have many that are never
// closed.
func checkNesting(content []byte) error {
	open := 0
	for line := range bytes.Lines(content) {
		marks, indent, value := 0, len(line)-len(bytes.TrimLeft(line, " \t")), false
		for i, c := range line {
			switch c {
			case '[', '{':
				open++
			case ']', '}':
				open = max(0, open-1)
			case '-', '?', '&', '!', '.', ':', '*':
				// A row of one sign is a rule: "-----".
				if !value && (i == 0 || line[i-1] != c) {
					marks++
				}
			case '=', '"', '\'', '#':
				value = true
			}
			if open > maxNesting || marks > maxMarks || indent > maxIndent {
				return errDeep
			}
		}
	}
	return nil
}

// decodeTOML reads a document and returns the lines of its values.
func decodeTOML[T any](content []byte, into *T) (positions, error) {
	if err := checkNesting(content); err != nil {
		return nil, err
	}
	if err := toml.Unmarshal(content, into); err != nil {
		return nil, formatError(err)
	}
	return tomlPositions(content), nil
}
