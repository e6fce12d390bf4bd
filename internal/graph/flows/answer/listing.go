package answer

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/knowledge/retrieve"
)

// listing is what a passage begins or ends with that may go on in the next one.
type listing int

const (
	noListing listing = iota
	options           // of a command, in a code block
	items             // of a list
	rows              // of a table
)

var (
	listItem  = regexp.MustCompile(`^\s*(?:[-*+]|\d+[.)])\s`)
	optionRow = regexp.MustCompile(`(?m)^\s*--?[A-Za-z]`)
)

// How far a listing is followed.
const (
	// maxListings is how many of the best passages have theirs completed.
	maxListings = 2
	// maxFollowed is how many passages are added on either side of one.
	maxFollowed = 3
)

// listingAt says what a text ends with, or begins with.
func listingAt(text string, end bool) listing {
	text = strings.TrimSpace(text)
	line, _, _ := strings.Cut(text, "\n")
	if end {
		line = text[strings.LastIndexByte(text, '\n')+1:]
	}
	switch {
	case isFence(line):
		if len(optionRow.FindAllStringIndex(text, 2)) == 2 {
			return options
		}
	case strings.HasPrefix(line, "|"):
		return rows
	case listItem.MatchString(line):
		return items
	}
	return noListing
}

// isOneListing says whether a text is nothing but a part of a listing, which may go on behind it.
func isOneListing(text string, kind listing) bool {
	text = strings.TrimSpace(text)
	if kind == options {
		return strings.Count("\n"+text, "\n```")+strings.Count("\n"+text, "\n~~~") == 2
	}
	for line := range strings.Lines(text) {
		if line = strings.TrimRight(line, "\n"); line != "" && !strings.HasPrefix(line, "|") && !listItem.MatchString(line) && !strings.HasPrefix(line, " ") {
			return false
		}
	}
	return true
}

// completeListings adds the rest of the lists of options, of other lists and of tables that the best
// of the passages worth showing hold a part of, which passages were cut in. rest are the positions of
// it, by that of the passage, in the order in which they stand.
func completeListings(ctx context.Context, passages index.Reader, evidence []retrieve.Evidence, size sizeOfContext) (complete []retrieve.Evidence, rest map[int][]int, err error) {
	var cut []int
	var ids []knowledge.PassageID
	for _, position := range worthShowing(evidence, size) {
		e := evidence[position]
		if len(cut) == maxListings || e.Score < nearShare*evidence[0].Score {
			break
		}
		if isAttached(e) || listingAt(e.Passage.Text, true) == noListing && listingAt(e.Passage.Text, false) == noListing {
			continue
		}
		cut = append(cut, position)
		for at := max(0, e.Passage.Position-maxFollowed); at <= e.Passage.Position+maxFollowed; at++ {
			ids = append(ids, knowledge.MakePassageID(e.Document.ID, at))
		}
	}
	if len(cut) == 0 {
		return evidence, nil, nil
	}
	found, err := passages.Passages(ctx, ids)
	if err != nil {
		return nil, nil, fmt.Errorf("read the rest of listings: %w", err)
	}
	known := make(map[knowledge.PassageID]knowledge.Passage)
	for _, one := range found {
		known[one.Passage.ID] = one.Passage
	}
	complete, rest = slices.Clone(evidence), make(map[int][]int)
	for _, position := range cut {
		for _, passage := range followListing(evidence[position], known) {
			at := slices.IndexFunc(complete, func(e retrieve.Evidence) bool { return e.Passage.ID == passage.ID })
			if at < 0 {
				at = len(complete)
				complete = append(complete, retrieve.Evidence{Document: evidence[position].Document, Passage: passage, Score: evidence[position].Score})
			}
			rest[position] = append(rest[position], at)
		}
	}
	return complete, rest, nil
}

// followListing gives the passages before and behind one in which its listing stands as well.
func followListing(e retrieve.Evidence, known map[knowledge.PassageID]knowledge.Passage) []knowledge.Passage {
	before, behind := followListingTo(e, known, -1), followListingTo(e, known, 1)
	slices.Reverse(before)
	return append(before, behind...)
}

// followListingTo gives those before (-1) or behind (1), the nearest first.
func followListingTo(e retrieve.Evidence, known map[knowledge.PassageID]knowledge.Passage, step int) []knowledge.Passage {
	kind := listingAt(e.Passage.Text, step > 0)
	var followed []knowledge.Passage
	for kind != noListing && len(followed) < maxFollowed {
		next, ok := known[knowledge.MakePassageID(e.Document.ID, e.Passage.Position+step*(len(followed)+1))]
		if !ok || next.Anchor != e.Passage.Anchor || listingAt(next.Text, step < 0) != kind {
			break
		}
		followed = append(followed, next)
		if !isOneListing(next.Text, kind) {
			break
		}
	}
	return followed
}
