package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/cairn-bot/cairn/internal/knowledge/lexical"
	"github.com/cairn-bot/cairn/internal/language"
)

// strays are rows that belong to nothing, by what they are.
var strays = map[string]string{
	"slots without passage":                    "SELECT count(*) FROM @slot WHERE slot NOT IN (SELECT slot FROM @passage)",
	"passages without slot":                    "SELECT count(*) FROM @passage WHERE slot NOT IN (SELECT slot FROM @slot)",
	"slots without document":                   "SELECT count(*) FROM @slot WHERE document NOT IN (SELECT id FROM @document)",
	"definitions without passage":              "SELECT count(*) FROM @definition WHERE slot NOT IN (SELECT slot FROM @passage)",
	"pages without segment":                    "SELECT count(*) FROM @page WHERE segment NOT IN (SELECT id FROM @segment)",
	"numbers that are given again":             "SELECT count(*) FROM @meta WHERE next_slot <= (SELECT max(slot) FROM @slot) OR next_document <= (SELECT max(id) FROM @document)",
	"blocks of a later generation":             "SELECT count(*) FROM @block WHERE generation > (SELECT generation FROM @meta)",
	"classes with another number of documents": "SELECT count(*) FROM @class c WHERE documents <> (SELECT count(*) FROM @document d WHERE d.class = c.id)",
}

// Verify analyses all texts again, and says where what is stored differs from them. It holds
// all of the index in memory: it serves the tests of backends.
func (x *Index) Verify(ctx context.Context) error {
	var errs []error
	err := x.read(ctx, func(tx Tx, snap *snapshot) error {
		for what, statement := range strays {
			var count int
			if err := selectOne(ctx, tx, query(statement), &count); err != nil {
				return err
			}
			if count > 0 {
				errs = append(errs, fmt.Errorf("%d %s", count, what))
			}
		}
		v := &verification{tx: tx, want: make(segmentBuilder), got: make(segmentBuilder), places: make(map[int32]passageInfo), passagesOf: make(map[int32]int)}
		if err := v.analyzeTexts(ctx); err != nil {
			return err
		}
		if err := v.readPostings(ctx); err != nil {
			return err
		}
		errs = append(errs, v.compareTerms(), v.compareSnapshot(snap))
		return errors.Join(append(errs, v.compareBlocks(ctx, passageReader{index: x, tx: tx, snap: snap}))...)
	})
	if err != nil {
		return fmt.Errorf("verify index: %w", err)
	}
	return nil
}

type verification struct {
	tx         Tx
	want, got  segmentBuilder
	places     map[int32]passageInfo
	lengths    lexical.Counts
	passagesOf map[int32]int // by class
}

func (v *verification) analyzeTexts(ctx context.Context) error {
	a := &analyzer{at: make(map[string]int)}
	var slot, class int32
	var text passageText
	var tag, headings string
	var stored lexical.Counts
	return v.tx.Select(ctx, query(`SELECT s.slot, d.class, d.title, d.language, p.headings, p.text, s.title_terms, s.heading_terms, s.body_terms
		FROM @slot s JOIN @passage p ON p.slot = s.slot JOIN @document d ON d.id = s.document ORDER BY s.slot`), func() error {
		text.language, text.headings = language.Parse(tag), nil
		if err := json.Unmarshal([]byte(headings), &text.headings); err != nil {
			return err
		}
		words := a.analyzePassage(text)
		if words.lengths != stored {
			return fmt.Errorf("slot %d has %+v terms, not %+v", slot, words.lengths, stored)
		}
		v.want.addPassage(slot, words)
		v.places[slot] = passageInfo{class: class, length: float32(lexical.DefaultBM25.Weigh(stored))}
		v.passagesOf[class]++
		v.lengths.Title += stored.Title
		v.lengths.Headings += stored.Headings
		v.lengths.Body += stored.Body
		return nil
	}, &slot, &class, &text.title, &tag, &headings, &text.body, &stored.Title, &stored.Headings, &stored.Body)
}

// readPostings reads all posting lists but for those of passages that are gone.
func (v *verification) readPostings(ctx context.Context) error {
	segments, err := listSegments(ctx, v.tx)
	if err != nil {
		return err
	}
	for _, s := range segments {
		reader := &segmentReader{tx: v.tx, segment: s.id, pages: readPages}
		for {
			e, ok, err := reader.peek(ctx)
			if err != nil {
				return err
			}
			if !ok {
				break
			}
			reader.next()
			change := v.got.changeOf(e.term)
			change.passages += e.passages
			var inner error
			err = eachGroup(e.list, func(group int32, postings []byte) {
				inner = errors.Join(inner, eachPosting(group, postings, func(p posting) {
					if _, ok := v.places[p.slot]; ok {
						change.postings = append(change.postings, p)
					}
				}))
			})
			if err = errors.Join(err, inner); err != nil {
				return err
			}
		}
	}
	return nil
}

func (v *verification) compareTerms() error {
	maps.DeleteFunc(v.got, func(_ string, c *termChange) bool { return c.passages == 0 && len(c.postings) == 0 })
	var errs []error
	for term, want := range v.want {
		got := v.got.changeOf(term)
		if got.passages != want.passages || !slices.Equal(got.postings, want.postings) {
			errs = append(errs, fmt.Errorf("postings of %q: %+v, want %+v", term, got, want))
		}
	}
	if len(v.got) > len(v.want) {
		errs = append(errs, fmt.Errorf("%d terms are in no text", len(v.got)-len(v.want)))
	}
	return errors.Join(errs...)
}

func (v *verification) compareSnapshot(snap *snapshot) error {
	if want := lexical.DefaultBM25.Weigh(v.lengths); snap.length != want || snap.passages != len(v.places) {
		return fmt.Errorf("%d passages of length %v, want %d of %v", snap.passages, snap.length, len(v.places), want)
	}
	for number, class := range snap.classes {
		if class.Passages != v.passagesOf[int32(number)] {
			return fmt.Errorf("class %d has %d passages, want %d", number, class.Passages, v.passagesOf[int32(number)])
		}
	}
	return nil
}

func (v *verification) compareBlocks(ctx context.Context, reader passageReader) error {
	for group := range int32(len(reader.snap.blocks)/groupBlocks + 1) {
		passages, err := reader.readGroup(ctx, group)
		if err != nil {
			return err
		}
		for slot := group << groupBits; slot < (group+1)<<groupBits; slot++ {
			if got := passages.at(slot); got.class != 0 && got != v.places[slot] || got.class == 0 && v.places[slot].class != 0 {
				return fmt.Errorf("slot %d is %+v in its block, want %+v", slot, got, v.places[slot])
			}
		}
	}
	return nil
}
