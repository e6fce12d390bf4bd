package session

import (
	"testing"

	"github.com/cairn-bot/cairn/internal/chat"
)

// TestTheOldestDocumentsGiveWay has replies of a document each, of these many bytes, and
// tells which keep theirs.
func TestTheOldestDocumentsGiveWay(t *testing.T) {
	for name, test := range map[string]struct {
		sizes []int
		kept  []bool
	}{
		"none":                             {nil, nil},
		"all fit":                          {[]int{maxContents / 2, maxContents / 2}, []bool{true, true}},
		"one byte too much":                {[]int{1, maxContents / 2, maxContents / 2}, []bool{false, true, true}},
		"what is older than what goes":     {[]int{1, maxContents, 1}, []bool{false, false, true}},
		"the last fills all that there is": {[]int{1, maxContents}, []bool{false, true}},
	} {
		t.Run(name, func(t *testing.T) {
			s := Session{Turns: []chat.Turn{{Role: chat.Person}}}
			for _, size := range test.sizes {
				reply := &chat.Reply{Documents: []chat.Document{{Name: "a.md", MediaType: "m", Size: size, Content: make([]byte, size)}}}
				s.Turns = append(s.Turns, chat.Turn{Role: chat.Bot, Reply: reply}, chat.Turn{Role: chat.Bot, Question: &chat.Question{}})
			}
			before := s.Turns[1:]
			s.BoundDocuments()
			for i, kept := range test.kept {
				document := before[2*i].Reply.Documents[0]
				if document.Kept() != kept || document.Name != "a.md" || document.MediaType != "m" || document.Size != test.sizes[i] {
					t.Errorf("document %d of %d: kept %v, %q, %d", i, len(test.kept), document.Kept(), document.Name, document.Size)
				}
			}
		})
	}
}

// TestWhatWasHandedOutKeepsItsDocuments drops the content of a document that others hold.
func TestWhatWasHandedOutKeepsItsDocuments(t *testing.T) {
	reply := &chat.Reply{Text: "done", Documents: []chat.Document{{Name: "a.md", Size: 1, Content: []byte("x")}}}
	s := Session{Turns: []chat.Turn{{Role: chat.Bot, Reply: reply}}}
	s.DropDocuments(0)
	if !reply.Documents[0].Kept() || s.Turns[0].Reply.Documents[0].Kept() || s.Turns[0].Reply.Text != "done" {
		t.Errorf("handed out %+v, left %+v", reply, s.Turns[0].Reply)
	}
}
