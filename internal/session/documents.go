package session

import (
	"slices"

	"github.com/cairn-bot/cairn/internal/chat"
)

// maxContents bounds the contents of a session's documents together, in bytes: those of
// one reply fit.
const maxContents = 2 << 20

// BoundDocuments drops the contents of the oldest documents beyond 2 MiB; what they are
// called and how large they were stays.
func (s *Session) BoundDocuments() {
	left := maxContents
	for i, turn := range slices.Backward(s.Turns) {
		if turn.Reply == nil {
			continue
		}
		for _, document := range turn.Reply.Documents {
			left -= len(document.Content)
		}
		if left < 0 {
			s.DropDocuments(i)
		}
	}
}

// DropDocuments drops the contents of the documents that go with a turn; false where
// there is none.
func (s *Session) DropDocuments(turn int) bool {
	reply := s.Turns[turn].Reply
	if reply == nil || !slices.ContainsFunc(reply.Documents, chat.Document.Kept) {
		return false
	}
	without := reply.WithoutContent()
	s.Turns[turn].Reply = &without
	return true
}
