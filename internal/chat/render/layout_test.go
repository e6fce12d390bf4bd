package render_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/chattest"
	"github.com/cairn-bot/cairn/internal/chat/render"
)

func TestLayOutReply(t *testing.T) {
	format := render.Format{MaxAddress: 500, MaxTitle: 120, Deepest: 2}
	packer := render.Packer{
		Budget: 100, Messages: 2, Cost: func(p render.Piece) int { return len(render.Plain(p.Runs)) }, RunCost: func(r render.Run) int { return len(r.Text) },
	}
	lost := chattest.Documents("a.md", "# A", "b.md", "# B")
	lost[1].Content = nil
	long := strings.Repeat("A sentence of the answer.\n\n", 6)
	for name, test := range map[string]struct {
		reply    chat.Reply
		single   bool
		messages int
		remarks  []string
		files    []string
		lost     bool
	}{
		"a short answer":          {chat.Reply{Run: "r", Text: "So.", Note: "Quoted."}, false, 1, []string{"Quoted."}, nil, false},
		"nothing":                 {chat.Reply{Run: "r"}, false, 1, nil, nil, false},
		"a failure":               {chat.Reply{Run: "run-1", Outcome: chat.Failure, Text: "It broke."}, false, 1, []string{"Run run-1"}, nil, false},
		"two messages":            {chat.Reply{Run: "r", Text: long}, false, 2, nil, nil, false},
		"one that would need two": {chat.Reply{Run: "r", Text: long}, true, 1, []string{"This answer is long: the whole of it is in the attached file."}, []string{"answer.md"}, false},
		"one that is too long": {
			chat.Reply{Run: "r", Text: strings.Repeat(long, 4), Documents: lost[:1]}, false, 1,
			[]string{"This answer is long: the whole of it is in the attached file."}, []string{"answer.md", "a.md"}, false,
		},
		"a document that is not kept": {chat.Reply{Run: "r", Text: "So.", Documents: lost}, false, 1, nil, []string{"a.md"}, true},
	} {
		laid := render.LayOutReply(format.Read(test.reply.Text, nil), test.reply, packer, test.single)
		var files []string
		for _, file := range laid.Files {
			files = append(files, file.Name)
		}
		if len(laid.Messages) != test.messages || !slices.Equal(laid.Remarks, test.remarks) || !slices.Equal(files, test.files) || laid.Lost != test.lost {
			t.Errorf("%s: %d messages, remarks %q, files %q, lost %v", name, len(laid.Messages), laid.Remarks, files, laid.Lost)
		}
		if laid.Whole == slices.Contains(files, "answer.md") {
			t.Errorf("%s: whole is %v", name, laid.Whole)
		}
	}
}
