// Package replytest makes up replies of models, plays them through the check of an answer and
// counts their structure by a parser of GitHub's Markdown, for the tests of the check and of all
// that renders answers.
package replytest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
	"golang.org/x/sync/errgroup"

	"github.com/cairn-bot/cairn/internal/graph/flows/answer"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/retrieve"
	"github.com/cairn-bot/cairn/internal/llm"
	"github.com/cairn-bot/cairn/internal/racetest"
)

var (
	replies = flag.Int("replies", 120/racetest.Stride, "how many made-up replies are checked and rendered")
	first   = flag.Int("replies.first", 0, "the number of the first made-up reply")
	seed    = flag.Uint64("replies.seed", 20, "what the made-up replies are made from")
	saved   = flag.String("replies.save", "", "the file to write checked replies to")
	loaded  = flag.String("replies.load", "", "the file of checked replies to show instead of checking made-up ones")
)

// Structure counts the parts of a Markdown text.
type Structure struct{ Tables, Rows, Items, Blocks int }

// Exceeds says whether any part is there more often than in another text.
func (s Structure) Exceeds(other Structure) bool {
	return s.Tables > other.Tables || s.Rows > other.Rows || s.Items > other.Items || s.Blocks > other.Blocks
}

var parser = goldmark.New(goldmark.WithExtensions(extension.Table)).Parser()

// Count counts tables, rows below a header, list items and code blocks.
func Count(markdown string) Structure {
	var counted Structure
	root := parser.Parse(text.NewReader([]byte(markdown)))
	err := ast.Walk(root, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch node.Kind() {
		case extast.KindTable:
			counted.Tables++
		case extast.KindTableRow:
			counted.Rows++
		case ast.KindListItem:
			counted.Items++
		case ast.KindFencedCodeBlock, ast.KindCodeBlock:
			counted.Blocks++
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		panic(fmt.Sprintf("replytest: walk Markdown: %v", err)) // no visit gives one
	}
	return counted
}

// Reply is a made-up reply and what is shown of it.
type Reply struct {
	Number  int
	Written string
	Tame    bool // it has Markdown alone, each part with text
	Checked answer.CheckedReply
}

// Link is the one address that sources have, and that answers may link to.
const Link = "https://docs.example/allowed"

var facts = []string{
	"The Heron cluster is drained before a restart, which takes four minutes.", "At most 1,200 jobs run there at once.",
	"Set `queue.maxDepth` in `heron.yaml`.", "A restart does not delete the jobs that wait.", "Run `heron drain --grace-period` first.",
}

// Evidence are the four sources of each made-up reply.
func Evidence() []retrieve.Evidence {
	evidence := make([]retrieve.Evidence, 4)
	for i := range evidence {
		evidence[i] = retrieve.Evidence{
			Document: knowledge.Document{ID: knowledge.DocumentID(fmt.Sprint(i)), Title: fmt.Sprintf("Page %d", i)},
			Passage:  knowledge.Passage{Text: strings.Join(facts, " ") + fmt.Sprintf(" See [the page](%s) number %d.", Link, i)},
		}
	}
	return evidence
}

// Random checks as many made-up replies as the flag -replies says, by words alone or with a
// verifier that answers at random, and gives each to show, which is called by several goroutines
// at once. Each reply depends on the seed and its number alone. With -replies.load they are those
// of a file that -replies.save wrote, of which the texts alone are known.
func Random(t *testing.T, show func(Reply) error) {
	t.Helper()
	next := checkNext(t)
	if *loaded != "" {
		next = loadNext(t)
	}
	save := func(Reply) error { return nil }
	if *saved != "" {
		save = saveTo(t, *saved)
	}
	var group errgroup.Group
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() error {
			for {
				made, ok, err := next()
				if err != nil || !ok {
					return err
				}
				if err := errors.Join(save(made), show(made)); err != nil {
					return fmt.Errorf("reply %d of seed %d: %w\nwritten %.3000q\nshown   %.3000q", made.Number, *seed, err, made.Written, made.Checked.Text)
				}
			}
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
}

// nextReply gives one reply after the other, false at their end. It may be called concurrently.
type nextReply func() (made Reply, ok bool, err error)

// checkNext makes replies up and checks them, as many as the flag says.
func checkNext(t *testing.T) nextReply {
	var number atomic.Int64
	number.Store(int64(*first) - 1)
	return func() (Reply, bool, error) {
		i := int(number.Add(1))
		if i >= *first+*replies {
			return Reply{}, false, nil
		}
		made, err := makeReply(t.Context(), i)
		return made, true, err
	}
}

// makeReply makes up the reply of a number and checks it.
func makeReply(ctx context.Context, number int) (Reply, error) {
	random := rand.New(rand.NewPCG(*seed, uint64(number))) //nolint:gosec // repeatable on purpose
	made := Reply{Number: number, Tame: number%2 == 0}
	made.Written = writeReply(random, made.Tame)
	var verify llm.Model
	if number%3 > 0 {
		verify = fickle{random}
	}
	checked, err := answer.CheckReply(ctx, answer.WrittenReply{Question: "How long does a restart take?", Text: made.Written, Evidence: Evidence()}, verify)
	if err != nil {
		return made, fmt.Errorf("check reply %d of seed %d: %w", number, *seed, err)
	}
	made.Checked = checked
	return made, nil
}

// fickle is a verifier that answers at random, and at times not at all.
type fickle struct{ random *rand.Rand }

func (f fickle) Chat(_ context.Context, request llm.Request, _ func(string)) (llm.Reply, error) {
	asked := request.Messages[len(request.Messages)-1].Text
	if f.random.IntN(10) == 0 {
		return llm.Reply{Text: "I can't tell.", Finish: llm.Stop}, nil
	}
	labels := []string{"full", "full", "partial", "none"}
	if f.random.IntN(3) == 0 {
		labels = labels[:1]
	}
	var verdicts []string
	for n := range strings.Count(asked, "<statement n=") {
		verdicts = append(verdicts, fmt.Sprintf(`{"statement": %d, "support": %q}`, n+1, labels[f.random.IntN(len(labels))]))
	}
	return llm.Reply{Text: `{"verdicts": [` + strings.Join(verdicts, ", ") + `]}`, Finish: llm.Stop}, nil
}

func (fickle) Tokens(text string) int { return len(text) / 4 }

func (fickle) Limits() llm.Limits { return llm.Limits{Context: 8000, Reply: 1000} }
