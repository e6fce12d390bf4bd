package bot_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/chattest"
	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
)

// readText reads files of text.
func readText(_ context.Context, name string, content []byte) (string, error) {
	if strings.HasSuffix(name, ".bin") {
		return "", errors.New("no reader for it: " + string(content))
	}
	return string(content), nil
}

// ask hands over a message with files, and gives the reply once it is there.
func (f *front) ask(text string, files ...chat.File) chat.Reply {
	f.t.Helper()
	message := chat.Message{ID: "m1", Thread: f.thread, Author: "ann", Text: text, Files: files, At: time.Now()}
	if err := f.bot.Handle(f.t.Context(), message, nil); err != nil {
		f.t.Fatal(err)
	}
	f.quiet()
	posted := f.platform.Posted(f.thread)
	if len(posted) != 1 || posted[0].Post.Reply == nil {
		f.t.Fatalf("posted %+v", posted)
	}
	return *posted[0].Post.Reply
}

// TestFilesAreReadWithinLimits looks at what of its files a flow is given, and at what
// people are told of the rest.
func TestFilesAreReadWithinLimits(t *testing.T) {
	many := make([]chat.File, chat.MaxFiles+2)
	for _, test := range []struct {
		name  string
		files func(p *chattest.Platform) []chat.File
		given []int // letters
		note  string
	}{
		{"none", func(*chattest.Platform) []chat.File { return nil }, nil, ""},
		{"one", func(p *chattest.Platform) []chat.File { return []chat.File{p.Upload("a.txt", "", []byte("text"))} }, []int{4}, ""},
		{"one that can't be read", func(p *chattest.Platform) []chat.File {
			return []chat.File{p.Upload("a`.bin", "", []byte("secret")), p.Upload("b.txt", "", []byte("text"))}
		}, []int{4}, "I can't read `a.bin`."},
		{"one that is gone", func(*chattest.Platform) []chat.File { return []chat.File{{ID: "x", Name: "a.txt"}} },
			nil, "I did not read `a.txt` (it is gone)."},
		{"one that is large", func(*chattest.Platform) []chat.File {
			return []chat.File{{ID: "x", Name: "a.txt", Size: 1 << 30}}
		}, nil, "I did not read `a.txt` (larger than 8 MB)."},
		{"long ones", func(p *chattest.Platform) []chat.File {
			long := p.Upload("a.txt", "", []byte(strings.Repeat("é", 50_000)))
			return []chat.File{long, long, long}
		}, []int{40_000, 40_000}, "I read the first 40000 letters of `a.txt`, the first 40000 letters of `a.txt`. " +
			"I did not read `a.txt` (too much together with the others)."},
		{"too many", func(p *chattest.Platform) []chat.File {
			for i := range many {
				many[i] = p.Upload("a.txt", "", []byte("x"))
			}
			return many
		}, []int{1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, "I did not read 2 more (too many)."},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				j := newJob(t)
				j.succeeds()
				s := newStreet(t, j)
				defer s.works(newFate(0, false))()
				reply := s.front("platform", "1").ask("dig", test.files(s.platform)...)
				if reply.Note != test.note {
					t.Errorf("the note is %q, want %q", reply.Note, test.note)
				}
				var given []int
				for _, attachment := range j.requests[0].Attachments {
					given = append(given, len([]rune(attachment.Text)))
				}
				if len(given) != len(test.given) {
					t.Fatalf("given are %v, want %v", given, test.given)
				}
				for i, want := range test.given {
					if given[i] != want {
						t.Errorf("file %d has %d letters, want %d", i, given[i], want)
					}
				}
			})
		})
	}
}

// TestAFileIsFetchedOnceThePlatformLetsIt has the platform ask for patience.
func TestAFileIsFetchedOnceThePlatformLetsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJob(t)
		j.succeeds()
		s := newStreet(t, j)
		limited := 0
		s.platform.Faults = func(call chattest.Call) chattest.Fault {
			if call.Operation == chattest.FetchOperation && limited == 0 {
				limited++
				return chattest.RateLimited
			}
			return chattest.NoFault
		}
		defer s.works(newFate(0, false))()
		reply := s.front("platform", "1").ask("dig", s.platform.Upload("a.txt", "", []byte("text")))
		if reply.Note != "" || limited != 1 || len(j.requests[0].Attachments) != 1 {
			t.Errorf("the note is %q, given are %+v", reply.Note, j.requests[0].Attachments)
		}
	})
}

// TestFilesOfARunWithoutACheckpointAreReadAgain has the first worker die before anything
// of the run was saved.
func TestFilesOfARunWithoutACheckpointAreReadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJob(t)
		j.succeeds()
		s := newStreet(t, j)
		of := newFate(1, false)
		j.prepare = func() error {
			of.mu.Lock()
			of.at, of.calls = 1, 0 // it dies at its next call
			of.mu.Unlock()
			j.prepare = nil
			return nil
		}
		of.at = 0
		defer s.works(of)()
		f := s.front("platform", "1")
		file := s.platform.Upload("a.txt", "", []byte("text"))
		message := chat.Message{ID: "m1", Thread: f.thread, Author: "ann", Text: "dig", Files: []chat.File{file}, At: time.Now()}
		if err := f.bot.Handle(t.Context(), message, nil); err != nil {
			t.Fatal(err)
		}
		<-of.died
		defer s.works(newFate(0, false))()
		f.quiet()
		if len(j.requests) != 2 || len(j.requests[1].Attachments) != 1 || j.requests[1].Attachments[0] != (flows.Attachment{Name: "a.txt", Text: "text"}) {
			t.Errorf("the flow was asked %+v", j.requests)
		}
	})
}

func TestFilesThatNobodyReadsAreNamed(t *testing.T) {
	o, j := works(t)
	j.work = func(context.Context, graph.Step[state]) error { return nil }
	message := o.next("dig")
	message.Files = []chat.File{{ID: "f", Name: "a.txt"}}
	said := &heard{}
	if err := o.bot.Handle(t.Context(), message, said); err != nil || len(said.replies) != 1 {
		t.Fatalf("%v, %+v", err, said.replies)
	}
	if said.replies[0].Note != "I did not read `a.txt` (files can't be read here)." {
		t.Errorf("the note is %q", said.replies[0].Note)
	}
}
