package replytest

import (
	"bufio"
	"encoding/gob"
	"errors"
	"io"
	"os"
	"testing"

	"cairn/internal/graph/flows/answer"
)

// savedReply is a checked reply in a file.
type savedReply struct {
	Written, Shown string
	Tame           bool
}

// saveTo writes replies to a file until the test ends.
func saveTo(t *testing.T, path string) func(Reply) {
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
	encoder := gob.NewEncoder(out)
	return func(reply Reply) {
		if err := encoder.Encode(savedReply{Written: reply.Written, Shown: reply.Checked.Text, Tame: reply.Tame}); err != nil {
			t.Fatal(err)
		}
	}
}

// loadNext reads the file of the flag -replies.load.
func loadNext(t *testing.T) func(i int) (Reply, bool) {
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
	decoder := gob.NewDecoder(bufio.NewReader(file))
	return func(i int) (Reply, bool) {
		var read savedReply
		switch err := decoder.Decode(&read); {
		case errors.Is(err, io.EOF) && i > 0:
			return Reply{}, false
		case err != nil:
			t.Fatalf("%s, reply %d: %v", *loaded, i, err)
		}
		return Reply{Written: read.Written, Tame: read.Tame, Checked: answer.CheckedReply{Text: read.Shown}}, true
	}
}
