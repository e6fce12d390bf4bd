package eval

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
)

// maxLine bounds one line of an input file, in bytes.
const maxLine = 16 << 20

// line is one line that is not blank, without its line ending.
type line struct {
	number int // from 1
	text   []byte
}

// readLines yields the lines of r that are not blank; text is valid until the next
// one. name stands in errors.
func readLines(name string, r io.Reader) iter.Seq2[line, error] {
	return func(yield func(line, error) bool) {
		scanner := bufio.NewScanner(r)
		scanner.Buffer(nil, maxLine)
		number := 0
		for scanner.Scan() {
			number++
			if len(bytes.TrimSpace(scanner.Bytes())) == 0 {
				continue
			}
			if !yield(line{number: number, text: scanner.Bytes()}, nil) {
				return
			}
		}
		if err := scanner.Err(); errors.Is(err, bufio.ErrTooLong) {
			yield(line{}, fmt.Errorf("%s:%d: line is longer than %d bytes", name, number+1, maxLine))
		} else if err != nil {
			yield(line{}, fmt.Errorf("read %s: %w", name, err))
		}
	}
}

// record is one decoded line of a JSONL file.
type record[T any] struct {
	line  int
	value T
}

// readRecords decodes one JSON object a line. It stops at the first error, which
// names the file and the line.
func readRecords[T any](name string, r io.Reader) iter.Seq2[record[T], error] {
	return func(yield func(record[T], error) bool) {
		for l, err := range readLines(name, r) {
			if err != nil {
				yield(record[T]{}, err)
				return
			}
			rec := record[T]{line: l.number}
			if l.text[0] != '{' {
				yield(rec, fmt.Errorf("%s:%d: not a JSON object", name, l.number))
				return
			}
			if err := json.Unmarshal(l.text, &rec.value); err != nil {
				yield(rec, fmt.Errorf("%s:%d: %w", name, l.number, err))
				return
			}
			if !yield(rec, nil) {
				return
			}
		}
	}
}

// loadFile opens path and reads it whole with read, which gets path as the name for
// its errors.
func loadFile[T any](path string, read func(name string, r io.Reader) (T, error)) (T, error) {
	var none T
	file, err := os.Open(path)
	if err != nil {
		return none, fmt.Errorf("open evaluation file: %w", err)
	}
	value, err := read(path, file)
	if closeErr := file.Close(); err == nil && closeErr != nil {
		err = fmt.Errorf("close %s: %w", path, closeErr)
	}
	return value, err
}
