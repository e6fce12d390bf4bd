package chat

import "context"

// Bounds of what adapters tell of places and people.
const (
	// MaxMembers is how many members of a place are looked at one by one. A place with more
	// is not Complete.
	MaxMembers = 200
	// MaxMemberships is how many groups, and how many channels, are known of a person.
	MaxMemberships = 10_000
)

// Place is where a thread is, and who sees what is posted in it. The names in it are the
// adapter's own ids ("C123"); package access makes principals of them.
type Place struct {
	// Channel is the channel that the thread is in, "" for a private conversation of one
	// person with the bot.
	Channel string
	// Team is the team (Slack workspace, Discord server) that everybody who sees the place
	// belongs to, "" where some may not: a channel that is shared with another company.
	Team string
	// Members are all people who see the place, bots left out, where Complete says so. Where
	// it does not, nobody knows who they are or they are too many: the place is then shown
	// what is public and what is for its Channel and Team. A channel that all of the team may
	// join or read is not complete by those who joined it.
	Members  []UserID
	Complete bool
	// Open tells that everybody of the team may read the place, guests left out; false where
	// that is not known.
	Open bool
}

// Identity is what a platform knows of somebody. The zero Identity holds nothing but what
// everybody holds.
type Identity struct {
	// Name is what people call the person, "" where it is not known. It lets nobody see anything.
	Name string `json:",omitempty"`
	// Email is an address that the platform or the identity provider has verified as the
	// person's, "" where none is known. An address that people may write themselves is none.
	Email string `json:",omitempty"`
	// Groups are the ids of the groups and roles that the person has, Channels those of
	// channels whose members the person is one of, as far as the adapter may know; each
	// bounded by MaxMemberships.
	Groups   []string `json:",omitempty"`
	Channels []string `json:",omitempty"`
	Team     string   `json:",omitempty"` // the person's own, "" where it is not known
	// Guest is somebody with a limited account of the team, External somebody of another
	// one. They hold no team, and their Team is not counted.
	Guest    bool `json:",omitempty"`
	External bool `json:",omitempty"`
	// Holds are principals as audiences name them ("group:legal"): groups of the provider that
	// the person signed in with, or what whoever asks on behalf of somebody else says on the
	// machine that the program runs on.
	Holds []string `json:",omitempty"`
	// Local is somebody who uses the program on the machine that it runs on, and can read
	// its index anyway. No adapter says it of somebody who came over a network.
	Local bool `json:",omitempty"`
}

// PlaceDescriber is an optional interface of an Adapter whose messages several people see.
// What is asked on an adapter that is none, and has no Asker in its messages, is answered
// from what is public.
type PlaceDescriber interface {
	// Place tells who sees what is posted in the thread. What it tells may be kept for at
	// most a minute; after a change that the platform reported, not at all. An error means
	// that the place is shown what is public.
	Place(ctx context.Context, thread ThreadID) (Place, error)
}

// Identifier is an optional interface of an Adapter that knows who people are.
type Identifier interface {
	// Identify tells who they are, in the order of the ids, at most MaxMembers at once, as
	// seen from the thread: a person may have other roles in another team. Somebody unknown
	// is the zero Identity. Caching and errors are as for Place.
	Identify(ctx context.Context, thread ThreadID, people []UserID) ([]Identity, error)
}

// PrivateOpener is an optional interface of a Poster on whose platform the bot can talk to
// one person alone.
type PrivateOpener interface {
	// OpenPrivate begins a private conversation with a person about what they asked in a
	// thread: it posts there what the question was, and gives the thread below that and the
	// id of what was posted. Errors are as for Post; ErrRefused where the person takes no
	// private messages.
	OpenPrivate(ctx context.Context, thread ThreadID, person UserID, question string) (ThreadID, MessageID, error)
}

// PrivateAnswers is what people do about an offer to answer in private. The bot implements
// it.
type PrivateAnswers interface {
	// AnswerPrivately answers a run's question once more, in a private conversation with the
	// person who asked it. It returns once that is durable. ErrForbidden for anybody else,
	// ErrUnknownRun, and ErrRefused where the platform or the person takes no private message.
	AnswerPrivately(ctx context.Context, run RunID, by UserID) error
}
