package bot_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/graph/flows/answer"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/embed/local"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
	indexes "github.com/cairn-bot/cairn/internal/knowledge/index/embedded"
	"github.com/cairn-bot/cairn/internal/knowledge/retrieve"
)

// handbook is what the bot of the story knows: there are two kinds of permits in it.
var handbook = map[string]string{
	"Parking":  "Ask the front desk for a parking permit. The permit for parking is valid for twelve months.",
	"Visitors": "Visitors get a visitor permit at the gate. The permit for visitors is valid for one day.",
	"Leave":    "Ask your lead for leave. Enter the leave in the calendar of the team.",
	"Laptops":  "You get a laptop from the help desk in room 12. Return the laptop on a Thursday.",
}

// answering is the flow that answers, over the handbook.
func answering(t *testing.T) *answer.Flow {
	t.Helper()
	embedder, err := local.Load()
	if err != nil {
		t.Fatal(err)
	}
	ix, err := indexes.Open(t.Context(), indexes.Options{Dir: t.TempDir(), Embedder: embedder.Name(), Dimension: embedder.Dimension()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := ix.Close(); err != nil {
			t.Error(err)
		}
	})
	var batch index.Batch
	for title, text := range handbook {
		id := knowledge.DocumentID("docs:" + title)
		batch.Put = append(batch.Put, index.Entry{
			Document: knowledge.Document{
				ID: id, Source: "docs", Kind: knowledge.KindDocumentation, Path: title, Title: title, URL: "https://docs.example/" + title,
				Modified: time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC), Hash: title, State: knowledge.StateLive,
			},
			Passages: []knowledge.Passage{{ID: knowledge.MakePassageID(id, 0), Document: id, Headings: []string{title}, Text: text, Hash: title}},
		})
	}
	if err := ix.Write(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	flow, err := answer.New(answer.Options{Retriever: &retrieve.Retriever{Index: ix, Embedder: embedder, Fusion: retrieve.DefaultFusion}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 10*time.Second)
		defer cancel()
		if err := flow.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return flow
}

// TestWhatWasSaidLongAgoIsTakenUpAgain asks about one of two kinds of permits, talks of
// other things, and comes back to "that permit": while the turns about it are still
// there, and long after they went.
func TestWhatWasSaidLongAgoIsTakenUpAgain(t *testing.T) {
	for _, test := range []struct {
		first, says string
		between     int // exchanges
	}{
		{"how do I get a parking permit?", "twelve months", 5},
		{"how do I get a parking permit?", "twelve months", 30},
		{"where do visitors get their visitor permit?", "one day", 5},
		{"where do visitors get their visitor permit?", "one day", 30},
	} {
		t.Run(fmt.Sprintf("%s after %d", test.says, test.between), func(t *testing.T) {
			o := open(t, t.TempDir(), answering(t))
			o.text(test.first)
			for i := range test.between {
				o.text([]string{"how do I ask for leave?", "where do I get a laptop?"}[i%2])
			}
			said := o.text("how long is that permit valid?")
			if len(said.replies) != 1 {
				t.Fatalf("it asks %+v", said.questions)
			}
			reply := said.replies[0]
			if first := strings.SplitN(reply.Text, "\n", 2)[0]; reply.Outcome != chat.Answered || !strings.Contains(first, test.says) {
				t.Errorf("it says %q, want %q first", reply.Text, test.says)
			}
		})
	}
}
