// Package curated keeps answers that experts pinned to questions, and finds the one that
// answers a question.
//
// curated.go has what is kept and the contract of its stores, finder.go which pinned question a
// question repeats in other words, flow.go how a flow answers by it.
package curated

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/knowledge"
)

// Bounds of what is kept.
const (
	MaxQuestion = 500       // letters
	MaxText     = 20_000    // letters
	MaxName     = 80        // letters
	MaxAnswers  = 1000      // of a store
	maxStored   = 256 << 10 // bytes of one answer as it is stored
)

// ID names a pinned answer: "pin-K7QJ2MXA".
type ID string

// NewID makes an id that no other answer has.
func NewID() ID { return ID("pin-" + rand.Text()[:10]) }

// Answer is an answer that an expert pinned to a question.
type Answer struct {
	ID       ID
	Question string
	Text     string // Markdown; a mark [n] cites the section of Groups that has the number
	Groups   []flows.SourceGroup
	// RestsOn are the documents of the index that it was made from, also those that it does not
	// cite. Whoever may not read one of them is not answered by it.
	RestsOn []knowledge.DocumentID
	// Audience is whom it is for beside that; "" is everybody.
	Audience knowledge.Audience
	// Author is who pinned it, as their platform knows them, and Name as people do; "" for one who
	// was forgotten.
	Author chat.UserID
	Name   string
	Run    chat.RunID // that it comes from; "" for one that the expert wrote
	Pinned time.Time
	// Expires is when it stops to answer.
	Expires time.Time
}

// IsExpired reports whether the answer is too old to be given.
func (a Answer) IsExpired(now time.Time) bool { return !now.Before(a.Expires) }

// Validate gives what an answer lacks, in words for who pins it.
func (a Answer) Validate() error {
	switch {
	case a.ID == "":
		return errors.New("the answer has no id")
	case strings.TrimSpace(a.Question) == "":
		return errors.New("the question is missing")
	case strings.TrimSpace(a.Text) == "":
		return errors.New("the answer is empty")
	case utf8.RuneCountInString(a.Question) > MaxQuestion:
		return fmt.Errorf("the question is longer than %d letters", MaxQuestion)
	case utf8.RuneCountInString(a.Text) > MaxText:
		return fmt.Errorf("the answer is longer than %d letters", MaxText)
	case !a.Expires.After(a.Pinned):
		return errors.New("the answer expires before it is pinned")
	}
	return nil
}

// Documents are all documents of the index that the answer rests on, each once.
func (a Answer) Documents() []knowledge.DocumentID {
	all := slices.Clone(a.RestsOn)
	for _, group := range a.Groups {
		for _, source := range group.Sources {
			all = append(all, source.Document)
		}
	}
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(id knowledge.DocumentID) bool { return id == "" })
}

// Errors that callers branch on.
var (
	ErrUnknown = errors.New("there is no such pinned answer")
	ErrFull    = fmt.Errorf("%d answers are pinned already, which is as many as are kept: unpin some", MaxAnswers)
)

// Store keeps pinned answers. Its methods may be called concurrently, by several processes.
type Store interface {
	// Put keeps an answer, in the place of the one with its id. Times are kept to the millisecond.
	// ErrFull where there are MaxAnswers others.
	Put(ctx context.Context, answer Answer) error
	// Delete removes an answer. ErrUnknown.
	Delete(ctx context.Context, id ID) error
	// List gives all answers, also expired ones, the latest pinned first.
	List(ctx context.Context) ([]Answer, error)
	// Revision is another number after each Put and Delete.
	Revision(ctx context.Context) (int64, error)
}

// Forget takes the name of a person from the answers that they pinned, and tells how many these
// are. The answers stay.
func Forget(ctx context.Context, store Store, author chat.UserID) (int, error) {
	all, err := store.List(ctx)
	if err != nil {
		return 0, err
	}
	forgotten := 0
	for _, answer := range all {
		if author == "" || answer.Author != author {
			continue
		}
		answer.Author, answer.Name = "", ""
		if err := store.Put(ctx, answer); err != nil {
			return forgotten, err
		}
		forgotten++
	}
	return forgotten, nil
}

// sortLatest puts the latest pinned first.
func sortLatest(all []Answer) {
	slices.SortFunc(all, func(a, b Answer) int {
		if order := b.Pinned.Compare(a.Pinned); order != 0 {
			return order
		}
		return strings.Compare(string(a.ID), string(b.ID))
	})
}

// keepExpired is how long an expired answer is listed, before it makes room.
const keepExpired = 90 * 24 * time.Hour

// Pin keeps an answer, in the place of the one that is pinned to its question, and removes those
// that expired long ago. It gives the answer as it is kept.
func Pin(ctx context.Context, store Store, answer Answer, now time.Time) (Answer, error) {
	if err := answer.Validate(); err != nil {
		return Answer{}, err
	}
	all, err := store.List(ctx)
	if err != nil {
		return Answer{}, err
	}
	for _, other := range all {
		switch {
		case plainText(other.Question) == plainText(answer.Question):
			answer.ID = other.ID
		case other.IsExpired(now.Add(-keepExpired)):
			if err := store.Delete(ctx, other.ID); err != nil && !errors.Is(err, ErrUnknown) {
				return Answer{}, err
			}
		}
	}
	return answer, store.Put(ctx, answer)
}
