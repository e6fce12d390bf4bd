package access

import (
	"context"
	"slices"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/knowledge"
)

// Readers are those who may read what is posted in a place. The zero Readers are nobody.
type Readers struct {
	open   bool
	people []knowledge.Audience // the names of each person, as an audience
}

// Include tells whether viewers are among the readers: the place is open to its whole team,
// they hold its channel, or they are one of the people who see it.
func (r Readers) Include(viewers knowledge.Viewers) bool {
	if r.open {
		return true
	}
	for _, person := range r.people {
		if viewers.MaySee(person) {
			return true
		}
	}
	return false
}

// FindReaders tells who may read the place of a question. Where that can't be found out it is
// nobody, and ok is false: it may be known later.
func (r *Resolver) FindReaders(ctx context.Context, question Question) (readers Readers, ok bool) {
	d := &deciding{Resolver: r, question: question, adapter: question.Thread.Adapter()}
	if question.Identity != nil {
		if !question.Identity.Local {
			readers.add(d.principals(question.Asker, *question.Identity), knowledge.UserPrincipal)
		}
		return readers, true
	}
	place, known := d.place(ctx)
	if !known {
		return Readers{}, !d.decision.Uncertain
	}
	readers.open = place.Open
	readers.add(d.principalsOf(place), knowledge.ChannelPrincipal)
	members := place.Members
	if place.Channel == "" {
		members = []chat.UserID{question.Asker}
	}
	if place.Channel != "" && (!place.Complete || len(members) > chat.MaxMembers) {
		return readers, true
	}
	sets, err := d.people(ctx, members)
	if err != nil {
		d.fail(ctx, "find out who the people in this place are", err)
		return Readers{}, false
	}
	for _, set := range sets {
		readers.add(set, knowledge.UserPrincipal)
	}
	return readers, true
}

// add adds whoever holds one of the principals that are of a kind.
func (r *Readers) add(principals []knowledge.Principal, kind knowledge.PrincipalKind) {
	names := slices.DeleteFunc(slices.Clone(principals), func(p knowledge.Principal) bool { return p.Kind() != kind })
	if audience, err := knowledge.NewAudience(names...); err == nil { // none has no names
		r.people = append(r.people, audience)
	}
}
