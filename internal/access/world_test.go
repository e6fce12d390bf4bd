package access_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/access"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/knowledge"
)

// world is some people, where they talk, and what is written.
type world struct {
	people   []*person
	groups   map[string][]string // members by group, as principals
	channels []*channel
	audience map[knowledge.DocumentID][]string
	// broken has the adapter know nothing: every question about it fails.
	broken bool
}

type person struct {
	id, email, team string
	guest           bool // or of another company
}

type channel struct {
	id      string
	members []*person
	listed  bool // who sees it is known
	home    string
}

func (c *channel) has(p *person) bool { return slices.Contains(c.members, p) }

// team is that of all who see the channel, "" where they are of several, or guests.
func (c *channel) team() string {
	for _, p := range c.members {
		if p.team != c.home || p.guest {
			return ""
		}
	}
	return c.home
}

type question struct {
	asker   *person
	channel *channel // nil: a private conversation
}

func (q question) thread() chat.ThreadID {
	if q.channel == nil {
		return chat.NewThreadID("chat", "private/"+q.asker.id)
	}
	return chat.NewThreadID("chat", q.channel.id)
}

func (q question) String() string {
	if q.channel == nil {
		return q.asker.id + " in private"
	}
	return fmt.Sprintf("%s in %s (%d members, listed %t, team %q)", q.asker.id, q.channel.id, len(q.channel.members), q.channel.listed, q.channel.team())
}

const (
	peopleOfWorld    = 12
	groupsOfWorld    = 6
	channelsOfWorld  = 6
	documentsOfWorld = 30
)

func newWorld(random *rand.Rand) *world {
	w := &world{groups: make(map[string][]string), audience: make(map[knowledge.DocumentID][]string)}
	for i := range peopleOfWorld {
		w.people = append(w.people, &person{id: fmt.Sprint("U", i)})
		w.movePerson(random, w.people[i])
	}
	for i := range channelsOfWorld {
		w.channels = append(w.channels, &channel{id: fmt.Sprint("C", i)})
		w.changeChannel(random, w.channels[i])
	}
	for i := range groupsOfWorld {
		w.changeGroup(random, fmt.Sprint("g", i))
	}
	for i := range documentsOfWorld {
		w.audience[knowledge.DocumentID(fmt.Sprint("doc", i))] = randomAudience(random)
	}
	return w
}

// movePerson gives somebody another address, team and standing.
func (w *world) movePerson(random *rand.Rand, p *person) {
	p.email, p.team, p.guest = "", fmt.Sprint("T", random.IntN(2)), random.IntN(6) == 0
	if random.IntN(5) > 0 {
		p.email = p.id + "@example.com"
		p.email = strings.ToLower(p.email)
	}
}

func (w *world) changeChannel(random *rand.Rand, c *channel) {
	c.listed, c.home, c.members = random.IntN(4) > 0, fmt.Sprint("T", random.IntN(2)), nil
	for _, p := range w.people {
		if random.IntN(3) == 0 {
			c.members = append(c.members, p)
		}
	}
}

// changeGroup gives a group other members, other groups among them, and maybe itself.
func (w *world) changeGroup(random *rand.Rand, name string) {
	w.groups[name] = nil
	for range random.IntN(5) {
		if member := randomPrincipal(random); member != "public" && !slices.Contains(w.groups[name], member) {
			w.groups[name] = append(w.groups[name], member)
		}
	}
}

func randomPrincipal(random *rand.Rand) string {
	switch random.IntN(9) {
	case 0, 1:
		return fmt.Sprintf("user:u%d@example.com", random.IntN(peopleOfWorld))
	case 2:
		return fmt.Sprint("user:chat:U", random.IntN(peopleOfWorld))
	case 3:
		return fmt.Sprint("channel:chat:C", random.IntN(channelsOfWorld))
	case 4:
		return fmt.Sprint("team:chat:T", random.IntN(2))
	case 5:
		return "public"
	}
	return fmt.Sprint("group:g", random.IntN(groupsOfWorld))
}

// audiences are those that documents have: few, as in a real index.
func randomAudience(random *rand.Rand) []string {
	seeded := rand.New(rand.NewPCG(uint64(random.IntN(200)), 18))
	var audience []string
	for range 1 + seeded.IntN(3) {
		audience = append(audience, randomPrincipal(seeded))
	}
	return audience
}

// Place implements chat.PlaceDescriber.
func (w *world) Place(_ context.Context, thread chat.ThreadID) (chat.Place, error) {
	if w.broken {
		return chat.Place{}, errors.New("the platform is away")
	}
	for _, c := range w.channels {
		if chat.NewThreadID("chat", c.id) != thread {
			continue
		}
		place := chat.Place{Channel: c.id, Team: c.team(), Complete: c.listed}
		if c.listed {
			for _, p := range c.members {
				place.Members = append(place.Members, chat.UserID(p.id))
			}
		}
		return place, nil
	}
	return chat.Place{}, nil
}

// Identify implements chat.Identifier.
func (w *world) Identify(_ context.Context, _ chat.ThreadID, people []chat.UserID) ([]chat.Identity, error) {
	if w.broken {
		return nil, errors.New("the platform is away")
	}
	identities := make([]chat.Identity, len(people))
	for i, id := range people {
		for _, p := range w.people {
			if p.id != string(id) {
				continue
			}
			identities[i] = chat.Identity{Email: p.email, Team: p.team, Guest: p.guest}
			for _, c := range w.channels {
				if c.has(p) {
					identities[i].Channels = append(identities[i].Channels, c.id)
				}
			}
		}
	}
	return identities, nil
}

// table gives the groups as they are stored.
func (w *world) table() access.Table {
	table := make(access.Table)
	for name, members := range w.groups {
		for _, member := range members {
			group := knowledge.Principal("group:" + name)
			table[group] = append(table[group], knowledge.Principal(member))
		}
	}
	return table
}
