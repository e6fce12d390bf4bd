package discord

import (
	"context"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
)

// Ticket is the right to answer an interaction. Discord takes it back after 15 minutes.
type Ticket struct {
	Token string `json:"token"`
	// Original tells that the interaction's first answer is the bot's to write.
	Original bool   `json:"original,omitempty"`
	Private  bool   `json:"private,omitempty"` // only one person sees the answer
	On       string `json:"on,omitempty"`      // the message that was pressed on, which is edited as that answer
	// Posted is the key of the post that is the original answer, where that has no button to carry
	// its mark.
	Posted chat.PostKey `json:"posted,omitempty"`
	Until  time.Time    `json:"until"`
}

// Tickets keeps the right to answer interactions, for all processes: the one that has the
// answer is often not the one that was asked. Its methods may be called concurrently.
type Tickets interface {
	// Keep keeps a ticket under the id of its interaction until Ticket.Until, in the place
	// of one that is there.
	Keep(ctx context.Context, interaction string, ticket Ticket) error
	// Ticket gives what was kept; the zero Ticket where there is none, or it has run out.
	Ticket(ctx context.Context, interaction string) (Ticket, error)
}
