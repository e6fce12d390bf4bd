package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/eval"
	"github.com/cairn-bot/cairn/internal/graph/flows/answer"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/chunk"
	"github.com/cairn-bot/cairn/internal/knowledge/parse"
	"github.com/cairn-bot/cairn/internal/knowledge/retrieve"
)

// repliesSet is the word before the folder of a set of replies.
const repliesSet = "replies"

// evalReplies plays the replies of a set through the check of an answer and measures what
// is shown of them.
func (c *evalCommand) evalReplies(ctx context.Context, out io.Writer) error {
	if c.Folder == "" || c.Documents == "" {
		return errors.New("eval replies: name the folder of replies.jsonl, and with --documents that of the pages which the replies cite")
	}
	replies, err := eval.LoadReplies(c.Folder)
	if err != nil {
		return err
	}
	sections := &sectionReader{root: c.Documents, pages: make(map[string]map[string]retrieve.Evidence)}
	halves := eval.HalvesOfReplies(replies)
	outcomes := make([]eval.ReplyOutcome, len(replies))
	var claims []labelledClaim
	for i, reply := range replies {
		var checked answer.CheckedReply
		if outcomes[i], checked, err = c.playReply(ctx, sections, reply); err != nil {
			return fmt.Errorf("reply %s: %w", reply.ID, err)
		}
		claims = append(claims, labelClaims(reply, checked)...)
	}
	if c.FitSupport != "" {
		more, err := c.labelMore(ctx)
		if err != nil {
			return err
		}
		claims = append(claims, more...)
		return c.fitSupportCheck(out, claims)
	}
	if c.Outcomes != "" {
		if err := eval.WriteReplyOutcomes(c.Outcomes, outcomes); err != nil {
			return err
		}
	}
	scores := eval.ScoreReplies(replies, outcomes)
	fmt.Fprintf(out, "%s%s\n", scores.Table(), scores.Summary())
	if !c.Split {
		return nil
	}
	for half := range 2 {
		var some []eval.Reply
		for _, reply := range replies {
			if halves[reply.ID] == half {
				some = append(some, reply)
			}
		}
		fmt.Fprintf(out, "half %d: %s\n", half+1, eval.ScoreReplies(some, outcomes).Summary())
	}
	return nil
}

// labelMore collects the claims of the sets of --also.
func (c *evalCommand) labelMore(ctx context.Context) ([]labelledClaim, error) {
	var claims []labelledClaim
	for _, pages := range slices.Sorted(maps.Keys(c.Also)) {
		replies, err := eval.LoadReplies(c.Also[pages])
		if err != nil {
			return nil, err
		}
		sections := &sectionReader{root: pages, pages: make(map[string]map[string]retrieve.Evidence)}
		for _, reply := range replies {
			_, checked, err := c.playReply(ctx, sections, reply)
			if err != nil {
				return nil, fmt.Errorf("reply %s: %w", reply.ID, err)
			}
			claims = append(claims, labelClaims(reply, checked)...)
		}
	}
	return claims, nil
}

// playReply checks a reply, with a verifier where one was chosen.
func (c *evalCommand) playReply(ctx context.Context, sections *sectionReader, reply eval.Reply) (eval.ReplyOutcome, answer.CheckedReply, error) {
	text, numbers := reply.Numbered()
	written := answer.WrittenReply{Question: reply.Question, Text: text, Evidence: make([]retrieve.Evidence, len(numbers))}
	for i := range written.Evidence {
		var err error
		if written.Evidence[i], err = sections.read(ctx, numbers[fmt.Sprint(i+1)]); err != nil {
			return eval.ReplyOutcome{}, answer.CheckedReply{}, err
		}
	}
	checked, err := answer.CheckReply(ctx, written, newLabelVerifier(c.Verifier, reply))
	if err != nil {
		return eval.ReplyOutcome{}, answer.CheckedReply{}, err
	}
	outcome := eval.ReplyOutcome{ID: reply.ID, Text: checked.Text, Sources: make(map[string]string)}
	for i, position := range checked.Cited {
		outcome.Sources[fmt.Sprint(i+1)] = numbers[fmt.Sprint(position+1)]
	}
	outcome.Units = unitVerdicts(reply, checked)
	return outcome, checked, nil
}

// unitVerdicts gives the verdict on each unit of a reply: the worst of those on the claims
// that it lies in or consists of. A unit without a claim has none.
func unitVerdicts(reply eval.Reply, checked answer.CheckedReply) []eval.UnitOutcome {
	claims := make([]string, len(checked.Claims))
	for i, claim := range checked.Claims {
		claims[i] = eval.SquashUnit(claim.Text)
	}
	var verdicts []eval.UnitOutcome
	from := 0
	for _, unit := range reply.Units {
		squashed := eval.SquashUnit(unit.Text)
		marked, removed, found := false, false, false
		for i := from; i < len(claims); i++ {
			if claims[i] == "" || !strings.Contains(claims[i], squashed) && !strings.Contains(squashed, claims[i]) {
				if found {
					break
				}
				continue
			}
			found, from = true, i
			marked, removed = marked || checked.Claims[i].Marked, removed || checked.Claims[i].Removed
			if len(claims[i]) >= len(squashed) {
				break
			}
		}
		switch {
		case !found:
			continue
		case removed:
			verdicts = append(verdicts, eval.UnitOutcome{Text: unit.Text, Verdict: eval.UnitRemoved})
		case marked:
			verdicts = append(verdicts, eval.UnitOutcome{Text: unit.Text, Verdict: eval.UnitMarked})
		default:
			verdicts = append(verdicts, eval.UnitOutcome{Text: unit.Text, Verdict: eval.UnitKept})
		}
	}
	return verdicts
}

// sectionReader reads the sections of pages below a folder as evidence.
type sectionReader struct {
	root  string
	pages map[string]map[string]retrieve.Evidence // by path, then anchor
}

// read gives the section that "path#anchor" names.
func (s *sectionReader) read(ctx context.Context, place string) (retrieve.Evidence, error) {
	name, anchor, _ := strings.Cut(place, "#")
	if s.pages[name] == nil {
		if err := s.readPage(ctx, name); err != nil {
			return retrieve.Evidence{}, err
		}
	}
	evidence, ok := s.pages[name][anchor]
	if !ok {
		return retrieve.Evidence{}, fmt.Errorf("%s has no section %q", name, anchor)
	}
	return evidence, nil
}

// wholeSection is a limit of tokens that no section reaches.
const wholeSection = 1 << 20

func (s *sectionReader) readPage(ctx context.Context, name string) error {
	root, err := os.OpenRoot(s.root)
	if err != nil {
		return fmt.Errorf("open the documents of replies: %w", err)
	}
	content, err := root.ReadFile(filepath.FromSlash(path.Clean(name)))
	if err = errors.Join(err, root.Close()); err != nil {
		return fmt.Errorf("read a document of replies: %w", err)
	}
	text, err := parse.Parse(ctx, parse.Detect(name, content), name, content, parse.Limits{})
	if err != nil {
		return err
	}
	document := knowledge.Document{ID: knowledge.DocumentID(name), Path: name, Title: text.Title, Kind: knowledge.KindDocumentation, Language: text.Language}
	s.pages[name] = make(map[string]retrieve.Evidence)
	for _, passage := range chunk.Passages(document, text, chunk.Options{MaxTokens: wholeSection}) {
		if _, known := s.pages[name][passage.Anchor]; !known {
			s.pages[name][passage.Anchor] = retrieve.Evidence{Document: document, Passage: passage, Score: 1}
		}
	}
	return nil
}
