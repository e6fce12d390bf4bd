package config

import "github.com/cairn-bot/cairn/internal/knowledge"

// Access is who may be shown what, beside what adapters tell of people and places.
type Access struct {
	// Web is what the web page shows, and whether people sign in to it.
	Web WebAccess `key:"web" default:"public" oneof:"public everything sign-in"`
	// Groups are the members of groups.
	Groups map[knowledge.Principal][]knowledge.Principal `key:"groups" form:"groups"`
	// Operators look after all collections.
	Operators []knowledge.Principal `key:"operators" form:"principal"`
	// Retract says when answers that were posted are taken back.
	Retract Retract `key:"retract" default:"deleted" oneof:"off deleted closed"`
}

// WebAccess is what the web page shows.
type WebAccess string

// The page shows what is public, or whatever is indexed; or people sign in at the provider of
// the operations page, and it shows each of them what they may read.
const (
	WebPublic     WebAccess = "public"
	WebEverything WebAccess = "everything"
	WebSignIn     WebAccess = "sign-in"
)

// Retract says which loss of a document takes back the answers that cite it.
type Retract string

// Answers stay; go with a document that was deleted; or go, too, where somebody who sees
// them may not read the document any more.
const (
	RetractNothing Retract = "off"
	RetractDeleted Retract = "deleted"
	RetractClosed  Retract = "closed"
)

// AudienceOf gives whom the source's documents are for, where no .cairn.yaml says
// otherwise.
func (s Source) AudienceOf() (knowledge.Audience, error) {
	if len(s.Audience) == 0 {
		return knowledge.PublicAudience, nil
	}
	return knowledge.NewAudience(s.Audience...)
}
