package knowledge

import (
	"context"
	"slices"
	"strings"
)

// Viewers are all the people who will see an answer, each known by the principals that they
// hold. A document may be shown to them if every one of them may read it. The zero Viewers
// may be shown what is public, and nothing else. They never change and may be used
// concurrently.
type Viewers struct {
	unrestricted bool
	people       int // different sets of principals
	// held has, at the row that rows gives a principal, one bit for each set that holds it.
	rows map[Principal]int
	held []uint64
}

// Unrestricted are viewers who may see every document: who runs Cairn and can read its
// index anyway.
func Unrestricted() Viewers { return Viewers{unrestricted: true} }

// NewViewers gives the viewers of a place from the principals of each person who sees it.
// People with equal sets count once. Without any person it gives the zero Viewers.
func NewViewers(people ...[]Principal) Viewers {
	sets := distinctSets(people)
	v := Viewers{people: len(sets), rows: make(map[Principal]int)}
	words := v.words()
	for number, set := range sets {
		for _, principal := range set {
			row, ok := v.rows[principal]
			if !ok {
				row = len(v.rows)
				v.rows[principal] = row
				v.held = append(v.held, make([]uint64, words)...)
			}
			v.held[row*words+number/64] |= 1 << (number % 64)
		}
	}
	return v
}

func distinctSets(people [][]Principal) [][]Principal {
	var sets [][]Principal
	known := make(map[string]bool)
	for _, held := range people {
		set := slices.Compact(slices.Sorted(slices.Values(held)))
		var key strings.Builder
		for _, principal := range set {
			key.WriteString(string(principal))
			key.WriteByte(' ')
		}
		if !known[key.String()] {
			known[key.String()] = true
			sets = append(sets, set)
		}
	}
	return sets
}

func (v Viewers) words() int { return (v.people + 63) / 64 }

// IsPublic tells whether the viewers may be shown what is public alone.
func (v Viewers) IsPublic() bool { return !v.unrestricted && len(v.rows) == 0 }

// MaySee tells whether each of the viewers may read a document of the audience.
func (v Viewers) MaySee(audience Audience) bool {
	if v.unrestricted || audience.OrPublic() == PublicAudience {
		return true
	}
	if v.people == 0 {
		return false
	}
	if words := v.words(); words > 1 {
		return v.allHold(audience, words)
	}
	var holders uint64
	for field := range strings.SplitSeq(string(audience), " ") {
		if row, ok := v.rows[Principal(field)]; ok && Principal(field) != Nobody {
			holders |= v.held[row]
		}
	}
	return holders == ^uint64(0)>>(64-v.people)
}

// allHold is MaySee for more than 64 sets.
func (v Viewers) allHold(audience Audience, words int) bool {
	holders := make([]uint64, words)
	for field := range strings.SplitSeq(string(audience), " ") {
		if row, ok := v.rows[Principal(field)]; ok && Principal(field) != Nobody {
			for i, word := range v.held[row*words : (row+1)*words] {
				holders[i] |= word
			}
		}
	}
	for number := range v.people {
		if holders[number/64]&(1<<(number%64)) == 0 {
			return false
		}
	}
	return true
}

// Reason says by which principals the viewers may read a document of the audience, for
// people: "public", "group:legal"; by its whole audience where they may see everything. ok
// is false where they may not.
func (v Viewers) Reason(audience Audience) (reason string, ok bool) {
	switch {
	case !v.MaySee(audience):
		return "", false
	case audience.OrPublic() == PublicAudience:
		return string(Public), true
	case v.unrestricted:
		return audience.String(), true
	}
	var held []string
	for _, principal := range audience.Principals() {
		if _, ok := v.rows[principal]; ok {
			held = append(held, string(principal))
		}
	}
	return strings.Join(held, ", "), true
}

// viewersKey is the key of the viewers in a context.
type viewersKey struct{}

// WithViewers gives a context whose work is done for these viewers. An identity is what a
// context carries across packages that need not know it: see index.Guard, which is where
// it takes effect. Work whose context lost it sees what is public.
func WithViewers(ctx context.Context, viewers Viewers) context.Context {
	return WithViewersFunc(ctx, func() Viewers { return viewers })
}

// WithViewersFunc is WithViewers for viewers that are found out when something is read for
// them. It is called for each read, also concurrently.
func WithViewersFunc(ctx context.Context, viewers func() Viewers) context.Context {
	return context.WithValue(ctx, viewersKey{}, viewers)
}

// ViewersFrom gives the viewers that work is done for, the zero Viewers where none are known.
func ViewersFrom(ctx context.Context) Viewers {
	if viewers, ok := ctx.Value(viewersKey{}).(func() Viewers); ok {
		return viewers()
	}
	return Viewers{}
}
