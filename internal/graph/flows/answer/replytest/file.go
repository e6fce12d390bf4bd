package replytest

import (
	"bufio"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"testing"

	"github.com/cairn-bot/cairn/internal/graph/flows/answer"
)

// savedReply is a checked reply in a file.
type savedReply struct {
	Number         int
	Written, Shown string
	Tame           bool
}

// saveTo gives a function that writes replies to a file until the test ends. It may be called
// concurrently.
func saveTo(t *testing.T, path string) func(Reply) error {
	t.Helper()
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	out := bufio.NewWriter(file)
	t.Cleanup(func() {
		if err := errors.Join(out.Flush(), file.Close()); err != nil {
			t.Error(err)
		}
	})
	encoder := gob.NewEncoder(out) // its methods may be called concurrently
	return func(reply Reply) error {
		return encoder.Encode(savedReply{Number: reply.Number, Written: reply.Written, Shown: reply.Checked.Text, Tame: reply.Tame})
	}
}

// loadNext reads the file of the flag -replies.load.
func loadNext(t *testing.T) nextReply {
	t.Helper()
	file, err := os.Open(*loaded)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := file.Close(); err != nil {
			t.Error(err)
		}
	})
	decoder := gob.NewDecoder(bufio.NewReader(file)) // its methods may be called concurrently
	var read atomic.Int64
	return func() (Reply, bool, error) {
		var saved savedReply
		err := decoder.Decode(&saved)
		if errors.Is(err, io.EOF) && read.Load() > 0 {
			return Reply{}, false, nil
		}
		if err != nil {
			return Reply{}, false, fmt.Errorf("%s: %w", *loaded, err)
		}
		read.Add(1)
		return Reply{Number: saved.Number, Written: saved.Written, Tame: saved.Tame, Checked: answer.CheckedReply{Text: saved.Shown}}, true, nil
	}
}
