package extract

import (
	"regexp"
	"slices"

	"github.com/cairn-bot/cairn/internal/document/evidence"
)

// order is what a sentence says to happen first and then, by their telling words.
type order struct{ first, then []string }

// orderPattern parts two things of which one comes before the other.
var orderPattern = regexp.MustCompile(`(?i)^(.{8,}?),? \b(before|after|prior to)\b (.{8,})$`)

// leadingOrderPattern is the same with the second thing in front.
var leadingOrderPattern = regexp.MustCompile(`(?i)^(before|after|prior to) ([^,]{8,}), (.{8,})$`)

// readOrder reads the order of two things that happen, if a sentence tells one.
func readOrder(text string) order {
	if found := leadingOrderPattern.FindStringSubmatch(text); found != nil {
		return newOrder(found[3], found[1], found[2])
	}
	if found := orderPattern.FindStringSubmatch(text); found != nil {
		return newOrder(found[1], found[2], found[3])
	}
	return order{}
}

func newOrder(one, word, other string) order {
	if word == "after" || word == "After" {
		one, other = other, one
	}
	return order{first: evidence.Telling(one), then: evidence.Telling(other)}
}

// fewestOrdered is how many words each of two things has that happen, and shares with its other mention.
const fewestOrdered = 2

// isReverseOf tells whether two sentences say the same two things to happen, each in the other order.
func (o order) isReverseOf(other order) bool {
	if len(o.first) == 0 || len(other.first) == 0 {
		return false
	}
	crossed := [...]int{countShared(o.first, other.then), countShared(o.then, other.first)}
	straight := [...]int{countShared(o.first, other.first), countShared(o.then, other.then)}
	return crossed[0] >= fewestOrdered && crossed[1] >= fewestOrdered && crossed[0] > straight[0] && crossed[1] > straight[1]
}

func countShared(words, others []string) int {
	count := 0
	for i, word := range words {
		if !slices.Contains(words[:i], word) && slices.Contains(others, word) {
			count++
		}
	}
	return count
}
