package slacktest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf16"
)

// Problem is one thing that Slack would refuse about blocks, a view or chunks.
type Problem struct {
	Message string
	Pointer string // JSON pointer: "/blocks/0/text/text"
}

func (p Problem) String() string {
	return fmt.Sprintf("%s [json-pointer:%s]", p.Message, p.Pointer)
}

// checker collects problems.
type checker struct {
	problems  []Problem
	surface   surface
	blockIDs  map[string]bool
	tables    int
	markdown  int      // characters of all markdown blocks
	text      int      // of all rich text
	tableText int      // of all cells of tables
	size      int      // what counts against totalLimit
	files     []string // ids of files that images show
}

func (c *checker) addProblem(pointer, format string, args ...any) {
	c.problems = append(c.problems, Problem{fmt.Sprintf(format, args...), pointer})
}

// checkLength refuses texts that are empty, unless empty ones are fine, or longer than limit.
func (c *checker) checkLength(pointer, text string, least, limit int) {
	switch n := Length(text); {
	case n < least:
		c.addProblem(pointer, "must be more than %d characters", least-1)
	case n > limit:
		c.addProblem(pointer, "must be less than %d characters", limit+1)
	}
}

func (c *checker) checkCount(pointer string, n, least, most int) {
	switch {
	case n < least:
		c.addProblem(pointer, "no less than %d items allowed", least)
	case n > most:
		c.addProblem(pointer, "no more than %d items allowed", most)
	}
}

// Length returns how many characters Slack is taken to see in a text: UTF-16 units.
func Length(text string) int {
	n := 0
	for _, r := range text {
		n += max(utf16.RuneLen(r), 1)
	}
	return n
}

// decodeStrict decodes one JSON value; a field that T lacks is an error.
func decodeStrict[T any](raw json.RawMessage) (T, error) {
	var value T
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&value); err != nil {
		return value, errors.New("invalid: " + strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return value, errors.New("invalid: more than one JSON value")
	}
	return value, nil
}

// decodeField is strictly with the error as a problem; false where there was one.
func decodeField[T any](c *checker, pointer string, raw json.RawMessage) (T, bool) {
	value, err := decodeStrict[T](raw)
	if err != nil {
		c.addProblem(pointer, "%v", err)
	}
	return value, err == nil
}
