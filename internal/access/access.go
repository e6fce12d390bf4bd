// Package access finds out whom an answer will be shown to, and what they may be shown.
//
// A document has an audience, a set of principals (see package knowledge). A Resolver turns
// the place of an answer and the person who asked into knowledge.Viewers: from what the
// thread's adapter tells of the place and of its people (chat.PlaceDescriber,
// chat.Identifier), and from the table of groups. Whatever can't be found out makes
// the viewers smaller, never larger: in the end they see what is public.
package access

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/knowledge"
)

// Decision is whom an answer will be shown to.
type Decision struct {
	// Here are all who see the place of the answer.
	Here knowledge.Viewers
	// Asker is the person who asked, alone: what may be shown to them in private.
	Asker knowledge.Viewers
	// Private tells that nobody but the asker sees the place; Here and Asker are the same.
	Private bool
	// Uncertain tells that something could not be found out just now: Here may be smaller
	// than it will be.
	Uncertain bool
	// Notes say, for the trace, how Here was found. They name no person.
	Notes []string
}

// Question is what a Decision is about: an answer in a thread to somebody.
type Question struct {
	Thread chat.ThreadID
	Asker  chat.UserID
	// Identity is what the message says of its author (chat.Message.Asker), nil where the
	// adapter is asked.
	Identity *chat.Identity
}

// Options are what a Resolver asks.
type Options struct {
	// Adapters are asked for places and people, by name. One that is neither a
	// chat.PlaceDescriber nor a chat.Identifier tells nothing.
	Adapters map[string]any
	Groups   *Groups // nil: there are none but those of the adapters
	// IsPublic tells that every document is for everybody (index.Catalog): then nobody is
	// asked for places and people. nil: some may not be.
	IsPublic func(ctx context.Context) (bool, error)
	Logger   *slog.Logger
}

// Resolver decides whom answers are shown to. Its methods may be called concurrently.
type Resolver struct{ options Options }

// NewResolver makes a resolver.
func NewResolver(options Options) *Resolver { return &Resolver{options} }

// Resolve decides about a question. It never fails: where something can't be found out, the
// decision leaves it out, says so in its notes, and the cause is logged.
func (r *Resolver) Resolve(ctx context.Context, question Question) Decision {
	d := &deciding{Resolver: r, question: question, adapter: question.Thread.Adapter()}
	if question.Identity != nil && question.Identity.Local {
		return Decision{
			Here: knowledge.Unrestricted(), Asker: knowledge.Unrestricted(), Private: true,
			Notes: []string{"access: asked on the machine that Cairn runs on, where the whole index can be read"},
		}
	}
	if question.Identity == nil && d.isPublic(ctx) {
		return Decision{Notes: []string{"access: every document is public"}}
	}
	place, known := d.place(ctx)
	asker := d.asker(ctx)
	d.decision.Asker = knowledge.NewViewers(asker)
	switch {
	case !known:
	case place.Channel == "":
		d.decision.Here, d.decision.Private = d.decision.Asker, true
		d.note("access: a private conversation; the asker holds %s", count(len(asker), "principal"))
	case !place.Complete || len(place.Members) > chat.MaxMembers:
		d.decision.Here = knowledge.NewViewers(d.principalsOf(place))
		d.note("access: not everybody who sees this place is known; shown is what is public or for the place itself")
	default:
		d.everybody(ctx, place, asker)
	}
	return d.decision
}

// deciding is a Resolve under way.
type deciding struct {
	*Resolver
	question Question
	adapter  string
	decision Decision
}

func (d *deciding) note(format string, values ...any) {
	d.decision.Notes = append(d.decision.Notes, fmt.Sprintf(format, values...))
}

// fail notes what could not be found out.
func (d *deciding) fail(ctx context.Context, action string, err error) {
	d.decision.Uncertain = true
	d.note("access: could not %s; shown is what is public", action)
	d.options.Logger.WarnContext(ctx, "resolve access", "action", action, "thread", string(d.question.Thread), "error", err)
}

// isPublic tells that nothing needs to be found out, as everybody may see every document. A
// document that comes in between is held back: the decision is for what is public.
func (d *deciding) isPublic(ctx context.Context) bool {
	if d.options.IsPublic == nil {
		return false
	}
	public, err := d.options.IsPublic(ctx)
	if err != nil {
		d.options.Logger.WarnContext(ctx, "resolve access", "action", "look for documents that are not public", "error", err)
	}
	return public && err == nil
}

// place asks who sees the thread; known is false where nobody can tell.
func (d *deciding) place(ctx context.Context) (place chat.Place, known bool) {
	if d.question.Identity != nil { // people who sign in talk to the bot alone
		return chat.Place{}, true
	}
	describer, ok := d.options.Adapters[d.adapter].(chat.PlaceDescriber)
	if !ok {
		d.note("access: nothing is known of who sees this place; shown is what is public")
		return chat.Place{}, false
	}
	place, err := describer.Place(ctx, d.question.Thread)
	if err != nil {
		d.fail(ctx, "find out who sees this place", err)
		return chat.Place{}, false
	}
	return place, true
}

// asker gives the principals of the person who asked.
func (d *deciding) asker(ctx context.Context) []knowledge.Principal {
	if d.question.Identity != nil {
		return d.withGroups(ctx, [][]knowledge.Principal{d.principals(d.question.Asker, *d.question.Identity)})[0]
	}
	sets, err := d.people(ctx, []chat.UserID{d.question.Asker})
	if err != nil {
		d.fail(ctx, "find out who asks", err)
		return nil
	}
	return sets[0]
}

// everybody decides for a place whose members are known. The asker sees it as well, also
// where the adapter does not list them.
func (d *deciding) everybody(ctx context.Context, place chat.Place, asker []knowledge.Principal) {
	sets, err := d.people(ctx, place.Members)
	if err != nil {
		d.fail(ctx, "find out who the people in this place are", err)
		return
	}
	shared := d.principalsOf(place)
	everybody := make([][]knowledge.Principal, 0, len(sets)+1)
	if d.question.Asker != "" { // a program sees nothing
		sets = append(sets, asker)
	}
	for _, set := range sets {
		everybody = append(everybody, append(append([]knowledge.Principal(nil), set...), shared...))
	}
	d.decision.Here = knowledge.NewViewers(everybody...)
	d.note("access: %s see this place; shown is what each of them may read", count(len(place.Members), "person"))
}

// people gives the principals of some people, in their order.
func (d *deciding) people(ctx context.Context, ids []chat.UserID) ([][]knowledge.Principal, error) {
	identifier, ok := d.options.Adapters[d.adapter].(chat.Identifier)
	if !ok {
		return make([][]knowledge.Principal, len(ids)), nil
	}
	people, err := identifier.Identify(ctx, d.question.Thread, ids)
	if err != nil {
		return nil, err
	}
	if len(people) != len(ids) {
		return nil, fmt.Errorf("%s told of %d people, asked were %d", d.adapter, len(people), len(ids))
	}
	sets := make([][]knowledge.Principal, len(ids))
	for i, person := range people {
		sets[i] = d.principals(ids[i], person)
	}
	return d.withGroups(ctx, sets), nil
}

// principals gives what a person holds of their own. A name that makes no principal is left
// out: no document can be for it either.
func (d *deciding) principals(id chat.UserID, person chat.Identity) []knowledge.Principal {
	h := holding{}
	h.add(knowledge.User, d.adapter+":", string(id))
	h.add(knowledge.User, "", person.Email)
	h.addAll(knowledge.Group, d.adapter+":", person.Groups)
	h.addAll(knowledge.Channel, d.adapter+":", person.Channels)
	if !person.Guest && !person.External {
		h.add(knowledge.Team, d.adapter+":", person.Team)
	}
	h.addAll(knowledge.ParsePrincipal, "", person.Holds)
	return h
}

// principalsOf gives what everybody who sees a place holds for that.
func (d *deciding) principalsOf(place chat.Place) []knowledge.Principal {
	h := holding{}
	h.add(knowledge.Channel, d.adapter+":", place.Channel)
	h.add(knowledge.Team, d.adapter+":", place.Team)
	return h
}

// withGroups adds the groups of the table to sets of principals.
func (d *deciding) withGroups(ctx context.Context, sets [][]knowledge.Principal) [][]knowledge.Principal {
	if d.options.Groups == nil {
		return sets
	}
	wider, err := d.options.Groups.Extend(ctx, sets)
	if err != nil {
		d.fail(ctx, "read the table of groups", err)
		return sets
	}
	return wider
}

type holding []knowledge.Principal

func (h *holding) add(kind func(string) (knowledge.Principal, error), prefix, name string) {
	if name == "" {
		return
	}
	if principal, err := kind(prefix + name); err == nil {
		*h = append(*h, principal)
	}
}

func (h *holding) addAll(kind func(string) (knowledge.Principal, error), prefix string, names []string) {
	for _, name := range names[:min(len(names), chat.MaxMemberships)] {
		h.add(kind, prefix, name)
	}
}

func count(n int, what string) string {
	switch {
	case n == 1:
		return "1 " + what
	case what == "person":
		return fmt.Sprintf("%d people", n)
	}
	return fmt.Sprintf("%d %ss", n, what)
}
