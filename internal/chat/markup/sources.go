package markup

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/cairn-bot/cairn/internal/chat"
)

// SortSources gives the sources of all groups by the first numbers that cite them, those that
// nothing cites last.
func SortSources(groups []chat.SourceGroup) []chat.Source {
	var all []chat.Source
	for _, group := range groups {
		all = append(all, group.Sources...)
	}
	slices.SortStableFunc(all, func(a, b chat.Source) int { return cmp.Compare(firstNumber(a), firstNumber(b)) })
	return all
}

func firstNumber(source chat.Source) int {
	if len(source.Numbers) == 0 {
		return math.MaxInt
	}
	return source.Numbers[0]
}

// MoreDocuments counts folded documents in words: "3 more documents".
func MoreDocuments(n int) string {
	if n == 1 {
		return "1 more document"
	}
	return strconv.Itoa(n) + " more documents"
}
