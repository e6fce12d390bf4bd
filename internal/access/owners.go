package access

import (
	"context"
	"fmt"
	"slices"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/knowledge"
)

// Person is somebody as their platform knows them.
type Person struct {
	Name string // as people call them, "" where that is not known
	// Viewers are the person alone.
	Viewers knowledge.Viewers
}

// Identify tells who asks a question, also where every document is public.
func (r *Resolver) Identify(ctx context.Context, question Question) (Person, error) {
	d := &deciding{Resolver: r, question: question, adapter: question.Thread.Adapter()}
	identity := question.Identity
	if identity != nil && identity.Local {
		return Person{Name: identity.Name, Viewers: knowledge.Unrestricted()}, nil
	}
	if identity == nil {
		identifier, ok := r.options.Adapters[d.adapter].(chat.Identifier)
		if !ok {
			return Person{}, nil
		}
		found, err := identifier.Identify(ctx, question.Thread, []chat.UserID{question.Asker})
		if err != nil || len(found) != 1 {
			return Person{}, fmt.Errorf("identify %s: %w", question.Asker, err)
		}
		identity = &found[0]
	}
	held := d.withGroups(ctx, [][]knowledge.Principal{d.principals(question.Asker, *identity)})
	return Person{Name: identity.Name, Viewers: knowledge.NewViewers(held...)}, nil
}

// Owners tells who looks after collections. The zero Owners has nobody.
type Owners struct {
	// Operators look after all collections.
	Operators []knowledge.Principal
	// Collections are those who look after each.
	Collections map[knowledge.SourceID][]knowledge.Principal
}

// IsEmpty tells that nobody looks after anything.
func (o Owners) IsEmpty() bool { return len(o.Operators)+len(o.Collections) == 0 }

// MayCurate reports whether a person may say what answers from these collections are: an operator,
// and who owns all of them.
func (o Owners) MayCurate(person Person, collections []knowledge.SourceID) bool {
	switch {
	case holdsOne(person.Viewers, o.Operators):
		return true
	case len(collections) == 0:
		return false
	}
	return !slices.ContainsFunc(collections, func(id knowledge.SourceID) bool { return !holdsOne(person.Viewers, o.Collections[id]) })
}

// OwnsAny reports whether a person looks after anything.
func (o Owners) OwnsAny(person Person) bool {
	if holdsOne(person.Viewers, o.Operators) {
		return true
	}
	for _, owners := range o.Collections {
		if holdsOne(person.Viewers, owners) {
			return true
		}
	}
	return false
}

// holdsOne reports whether somebody holds one of some principals. Whoever may see everything does:
// they run Cairn.
func holdsOne(who knowledge.Viewers, principals []knowledge.Principal) bool {
	if len(principals) == 0 {
		return who.MaySee(knowledge.HiddenAudience)
	}
	audience, err := knowledge.NewAudience(principals...)
	return err == nil && who.MaySee(audience)
}
